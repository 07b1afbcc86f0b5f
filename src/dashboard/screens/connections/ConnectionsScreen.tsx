import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { call } from "../../api/Call.ts"
import { connectionsRemove, connectionsRevoke, connectionsTest } from "../../api/Endpoints.ts"
import { connectionsQuery } from "../../api/Queries.ts"
import type { Connection } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { ConnectionStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { calendarDate, providerName } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { usedFrom } from "./UsedFrom.ts"
import { ConfirmOrigins } from "./ConfirmOrigins.tsx"
import { EditConnection } from "./EditConnection.tsx"
import { NewConnection } from "./NewConnection.tsx"
import { OAuthHelpers, Reconnect } from "./OAuthHelpers.tsx"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const Row = ({ connection }: { readonly connection: Connection }) => {
  const words = useWords(connectionWords)
  const language = useLanguage()
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const [revoking, setRevoking] = useState(false)
  const [editing, setEditing] = useState(false)
  const [removing, setRemoving] = useState(false)
  const [confirming, setConfirming] = useState(false)
  const unconfirmed = connection.proposedOrigins !== undefined && connection.status !== "revoked"
  const list = connectionsQuery(workspace.id).queryKey
  const test = useDecision({
    send: (signal) => call(connectionsTest, { signal, params: { connectionId: connection.id } }),
    onSuccess: (answer) => {
      if (answer.connection.status === "verified") toast(words.testedAs[answer.tested])
    },
    onSettled: () => queryClient.invalidateQueries({ queryKey: list })
  })
  const of = connection.displayName
  const names = [...connection.envNames, ...connection.fileNames]
  return (
    <li className="row row-static row-connection">
      <span className="row-name row-stack">
        <span>
          <strong>{connection.displayName}</strong> <span className="tag">{providerName(connection.provider)}</span>
        </span>
        <span className="muted">
          {connection.scope === "operator" ? `${words.operator} · ` : ""}
          {connection.lastUsedAt === undefined ? (
            words.neverUsed
          ) : (
            <>
              {words.lastUsed} <Time at={connection.lastUsedAt} />
            </>
          )}
          {connection.expiresAt === undefined
            ? ""
            : ` · ${words.expires} ${calendarDate(language, connection.expiresAt)}`}
        </span>
        {names.length === 0 ? null : (
          <span className="names">
            {names.map((name) => (
              <code key={name}>{name}</code>
            ))}
          </span>
        )}
        {connection.providedBy === undefined ? null : (
          <span className="names">
            {words.providedBy(connection.providedBy.pool)}: <code>{connection.providedBy.name}</code>
          </span>
        )}
        {connection.origins === undefined || connection.origins.length === 0 ? null : (
          <span className="names">
            {words.origins}:{" "}
            {connection.origins.map((origin) => (
              <code key={origin}>{origin}</code>
            ))}
          </span>
        )}
        <span className="muted">
          {words.usedBy[usedFrom(connection.use)]}
          {connection.use.refs === undefined ? "" : ` · ${connection.use.refs.join(", ")}`}
          {connection.use.modules === undefined && connection.use.projectIds === undefined
            ? ""
            : ` · ${words.confined}`}
        </span>
        {connection.oauth === undefined ? null : (
          <span className="muted">
            {[words.madeBy(connection.oauth.helperId), ...connection.oauth.scopes].join(" · ")}
          </span>
        )}
        {connection.oauth?.fault === undefined ? null : <strong lang="en">{connection.oauth.fault.message}</strong>}
        {unconfirmed ? <strong>{words.unconfirmedText}</strong> : null}
        {test.error === null ? null : <FaultNotice error={test.error} />}
      </span>
      <ConnectionStatus status={connection.status} />
      <span className="row-end">
        {connection.scope === "workspace" && connection.status !== "revoked" && may("admin") ? (
          <>
            {unconfirmed ? (
              <Button small of={of} tone="primary" onClick={() => setConfirming(true)}>
                {words.confirm}
              </Button>
            ) : null}
            {connection.oauth === undefined ? null : (
              <Reconnect connection={connection} helperId={connection.oauth.helperId} />
            )}
            <Button small of={of} onClick={() => setEditing(true)}>
              {words.edit}
            </Button>
            <Button small of={of} busy={test.isPending} onClick={() => test.mutate()}>
              {words.test}
            </Button>
            <Button small of={of} tone="quiet" onClick={() => setRevoking(true)}>
              {words.revoke}
            </Button>
          </>
        ) : null}
        {connection.scope === "workspace" && may("admin") ? (
          <Button small of={of} tone="quiet" onClick={() => setRemoving(true)}>
            {words.remove}
          </Button>
        ) : null}
      </span>
      {editing ? <EditConnection connection={connection} onClose={() => setEditing(false)} /> : null}
      {removing ? (
        <RemovalDialog
          title={words.removeTitle(connection.displayName)}
          action={words.remove}
          remove={(signal) => call(connectionsRemove, { signal, params: { connectionId: connection.id } })}
          list={list}
          onClose={() => setRemoving(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
      {confirming ? <ConfirmOrigins connection={connection} onClose={() => setConfirming(false)} /> : null}
      {revoking ? (
        <RemovalDialog
          title={words.revokeTitle(connection.displayName)}
          action={words.revoke}
          remove={(signal) => call(connectionsRevoke, { signal, params: { connectionId: connection.id } })}
          list={list}
          onClose={() => setRevoking(false)}
        >
          {words.revokeText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Shows the result of an authorization once, and removes the result from the URL. */
const useArrival = (connections: ReadonlyArray<Connection> | undefined) => {
  const words = useWords(connectionWords)
  const { connected } = useSearch({ from: "/w/$workspace/connections" })
  const navigate = useNavigate()
  const arrived = connected === undefined ? undefined : connections?.find(({ id }) => id === connected)
  useEffect(() => {
    if (arrived === undefined) return
    toast(words.connected(arrived.displayName))
    void navigate({ to: ".", search: {}, replace: true })
  }, [arrived, navigate, words])
}

export const ConnectionsScreen = () => {
  const words = useWords(connectionWords)
  const workspace = useWorkspace()
  const may = useMay()
  const [creating, setCreating] = useState(false)
  const query = useQuery(connectionsQuery(workspace.id))
  useArrival(query.data)
  const create = (
    <Button tone="primary" icon="plus" onClick={() => setCreating(true)}>
      {words.create}
    </Button>
  )
  return (
    <Page title={words.title} about={words.about} actions={may("admin") ? create : null}>
      {may("admin") ? <OAuthHelpers /> : null}
      <Panel flush>
        <Loadable query={query}>
          {(connections) =>
            connections.length === 0 ? (
              <Empty icon="connection" title={words.emptyTitle} action={may("admin") ? create : undefined}>
                <p>{words.emptyText}</p>
                {may("admin") ? null : <p>{words.needsAdmin}</p>}
              </Empty>
            ) : (
              <ul className="rows">
                {connections.map((connection) => (
                  <Row key={connection.id} connection={connection} />
                ))}
              </ul>
            )
          }
        </Loadable>
      </Panel>
      {creating ? <NewConnection onClose={() => setCreating(false)} /> : null}
    </Page>
  )
}
