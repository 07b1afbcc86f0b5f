import "../../app/Kit.ts"
import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate, useSearch } from "@tanstack/react-router"
import { useEffect, useState } from "react"
import { call } from "../../api/Call.ts"
import {
  connectionsConfirmOrigins,
  connectionsRemove,
  connectionsRevoke,
  connectionsStartOAuth,
  connectionsTest
} from "../../api/Endpoints.ts"
import { connectionsQuery, helpersQuery } from "../../api/Queries.ts"
import type { Connection, OAuthHelper } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { Page, Panel } from "../../ui/Layout.tsx"
import { ConnectionStatus } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { calendarDate, providerName } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { usedFrom } from "./UsedFrom.ts"
import { EditConnection } from "./EditConnection.tsx"
import { NewConnection } from "./NewConnection.tsx"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"
import { CheckField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"

/**
 * Asks for the permitted destinations of an older Git Connection. Nothing is preselected, because an attacker may have chosen the
 * current destinations. Each origin is shown with the person who chose the Connection for it.
 */
const ConfirmOrigins = ({ connection, onClose }: { readonly connection: Connection; readonly onClose: () => void }) => {
  const words = useWords(connectionWords)
  const actorName = useActorName()
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const proposed = connection.proposedOrigins ?? []
  const [chosen, setChosen] = useState<Readonly<Record<string, string | undefined>>>({})
  const origins = proposed.flatMap(({ origin }) => chosen[origin]?.trim() ?? [])
  const confirm = useDecision({
    send: (signal) =>
      call(connectionsConfirmOrigins, { signal, params: { connectionId: connection.id }, body: { origins } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: connectionsQuery(workspace.id).queryKey }),
    onSuccess: onClose
  })
  return (
    <FormDialog
      title={words.confirmTitle(connection.displayName)}
      action={words.confirm}
      incomplete={origins.length === 0}
      change={confirm}
      onSubmit={() => confirm.mutate()}
      onClose={onClose}
    >
      <p>{words.confirmText}</p>
      {proposed.length === 0 ? (
        <Notice tone="info">{words.confirmNone}</Notice>
      ) : (
        <Notice tone="warn">{words.confirmWarning}</Notice>
      )}
      {proposed.map(({ origin, sources }) => {
        const text = chosen[origin]
        return (
          <fieldset key={origin} className="feature">
            <legend>
              <code>{origin}</code>
            </legend>
            <ul>
              {sources.map((source) => (
                <li key={source.id}>
                  <strong>{source.name}</strong> <code>{source.url}</code>{" "}
                  {words.chosenBy(source.chosenBy === undefined ? words.somebody : actorName(source.chosenBy))}
                </li>
              ))}
            </ul>
            <CheckField
              label={words.allowOrigin}
              checked={text !== undefined}
              onChange={(event) => setChosen({ ...chosen, [origin]: event.target.checked ? origin : undefined })}
            />
            {text === undefined ? null : (
              <TextField
                label={words.origin}
                helper={words.originNarrow}
                mono
                required
                spellCheck={false}
                value={text}
                onChange={(event) => setChosen({ ...chosen, [origin]: event.target.value })}
              />
            )}
          </fieldset>
        )
      })}
    </FormDialog>
  )
}

/** Redirects to the authorization server. Its response goes to the API, which redirects back to this page. */
const useStart = (helperId: string, connectionId?: string) => {
  const workspace = useWorkspace()
  return useDecision({
    send: (signal) =>
      call(connectionsStartOAuth, {
        signal,
        params: { helperId },
        body: { workspaceId: workspace.id, ...(connectionId === undefined ? {} : { connectionId }) }
      }),
    onSuccess: ({ authorizationUrl }) => window.location.assign(authorizationUrl)
  })
}

const Helper = ({ helper }: { readonly helper: OAuthHelper }) => {
  const words = useWords(connectionWords)
  const start = useStart(helper.id)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{helper.displayName}</strong> <span className="tag">{providerName(helper.provider)}</span>
        </span>
        <span className="muted">{words.helperAsks(new URL(helper.issuer).host, helper.scopes.join(", "))}</span>
        {start.error === null ? null : <FaultNotice error={start.error} />}
      </span>
      <span className="row-end">
        <Button small tone="primary" busy={start.isPending} onClick={() => start.mutate()}>
          {words.connectWith(helper.displayName)}
        </Button>
      </span>
    </li>
  )
}

/** The operator's helpers that create a Connection without a typed credential, if there are any. */
const OAuthHelpers = () => {
  const words = useWords(connectionWords)
  const { data: helpers = [] } = useQuery(helpersQuery)
  if (helpers.length === 0) return null
  return (
    <Panel flush title={words.helpers} about={words.helpersAbout}>
      <ul className="rows">
        {helpers.map((helper) => (
          <Helper key={helper.id} helper={helper} />
        ))}
      </ul>
    </Panel>
  )
}

/**
 * Requests authorization for the same Connection again, because the current authorization is no longer valid or other
 * permissions are needed.
 */
const Reconnect = ({ connection, helperId }: { readonly connection: Connection; readonly helperId: string }) => {
  const words = useWords(connectionWords)
  const start = useStart(helperId, connection.id)
  return (
    <>
      <Button
        small
        of={connection.displayName}
        tone={connection.oauth?.fault === undefined ? "plain" : "primary"}
        busy={start.isPending}
        onClick={() => start.mutate()}
      >
        {words.reconnect}
      </Button>
      {start.error === null ? null : <FaultNotice error={start.error} />}
    </>
  )
}

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
