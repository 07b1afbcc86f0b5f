import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { accountTokensRevoke } from "../../api/Endpoints.ts"
import { tokensQuery } from "../../api/AccountQueries.ts"
import type { TokenRecord } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { Time, useNow } from "../../ui/Time.tsx"
import { calendarDate } from "../../words/Format.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { NewToken } from "./NewToken.tsx"
import { accountWords } from "./Words.ts"

const Row = ({ token }: { readonly token: TokenRecord }) => {
  const words = useWords(accountWords)
  const language = useLanguage()
  const { workspaces } = useBootstrap()
  const [revoking, setRevoking] = useState(false)
  const now = useNow(60_000)
  const expired = token.expires_at !== null && Date.parse(token.expires_at) < now
  const live = token.revoked_at === null && !expired
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{token.name}</strong> <code>{token.prefix}…</code>
        </span>
        <span className="muted">
          {token.scopes.join(", ")}
          {token.workspace_id === null
            ? ""
            : ` · ${workspaces.find(({ id }) => id === token.workspace_id)?.displayName ?? token.workspace_id}`}
          {" · "}
          {token.last_used_at === null ? (
            words.neverUsed
          ) : (
            <>
              {words.lastUsed} <Time at={token.last_used_at} />
            </>
          )}
          {` · ${token.expires_at === null ? words.never : `${words.expires} ${calendarDate(language, token.expires_at)}`}`}
        </span>
      </span>
      <Status tone={live ? "good" : "muted"}>
        {token.revoked_at !== null ? words.revoked : expired ? words.expired : words.active}
      </Status>
      <span className="row-end">
        {token.revoked_at === null ? (
          <Button small of={token.name} onClick={() => setRevoking(true)}>
            {words.revoke}
          </Button>
        ) : null}
      </span>
      {revoking ? (
        <RemovalDialog
          title={words.revokeTitle(token.name)}
          action={words.revoke}
          remove={(signal) => call(accountTokensRevoke, { signal, params: { tokenId: token.token_id } })}
          list={tokensQuery.queryKey}
          onClose={() => setRevoking(false)}
        >
          {words.revokeText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Lists the person's tokens. If a Workspace is given, lists only the tokens that are bound to that Workspace. */
export const Tokens = ({ workspaceId }: { readonly workspaceId?: string }) => {
  const words = useWords(accountWords)
  const query = useQuery(tokensQuery)
  const [creating, setCreating] = useState(false)
  return (
    <Panel
      flush
      title={words.tokens}
      about={words.tokensAbout}
      actions={
        <Button small icon="plus" onClick={() => setCreating(true)}>
          {words.newToken}
        </Button>
      }
    >
      <Loadable query={query}>
        {(tokens) => {
          const own = workspaceId === undefined ? tokens : tokens.filter((token) => token.workspace_id === workspaceId)
          const live = own.filter((token) => token.revoked_at === null)
          const revoked = own.filter((token) => token.revoked_at !== null)
          return (
            <>
              {live.length === 0 ? (
                <Empty icon="lock" title={words.tokensNone}>
                  <p>{words.tokensNoneText}</p>
                </Empty>
              ) : (
                <ul className="rows">
                  {live.map((token) => (
                    <Row key={token.token_id} token={token} />
                  ))}
                </ul>
              )}
              {revoked.length === 0 ? null : (
                <details className="fold fold-inset">
                  <summary>{words.showRevoked(revoked.length)}</summary>
                  <ul className="rows">
                    {revoked.map((token) => (
                      <Row key={token.token_id} token={token} />
                    ))}
                  </ul>
                </details>
              )}
            </>
          )
        }}
      </Loadable>
      {creating ? (
        <NewToken {...(workspaceId === undefined ? {} : { workspaceId })} onClose={() => setCreating(false)} />
      ) : null}
    </Panel>
  )
}
