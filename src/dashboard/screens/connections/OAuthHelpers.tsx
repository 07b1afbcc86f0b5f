import { useQuery } from "@tanstack/react-query"
import { call } from "../../api/Call.ts"
import { connectionsStartOAuth } from "../../api/Endpoints.ts"
import { helpersQuery } from "../../api/Queries.ts"
import type { Connection, OAuthHelper } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { providerName } from "../../words/Format.ts"
import { useWords } from "../../words/Words.ts"
import { connectionWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

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
export const OAuthHelpers = () => {
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
export const Reconnect = ({ connection, helperId }: { readonly connection: Connection; readonly helperId: string }) => {
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
