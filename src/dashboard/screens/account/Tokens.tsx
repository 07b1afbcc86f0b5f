import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { accountTokensCreate, accountTokensRevoke } from "../../api/Endpoints.ts"
import { tokenScopesQuery, tokensQuery } from "../../api/AccountQueries.ts"
import type { TokenRecord } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Empty, Loadable } from "../../ui/Feedback.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { Status } from "../../ui/Status.tsx"
import { Time, useNow } from "../../ui/Time.tsx"
import { calendarDate } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useBilingual, useLanguage, useWords } from "../../words/Words.ts"
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

const NewToken = ({ workspaceId, onClose }: { readonly workspaceId?: string; readonly onClose: () => void }) => {
  const words = useWords(accountWords)
  const terms = useWords(vocabulary)
  const say = useBilingual()
  const { workspaces } = useBootstrap()
  const queryClient = useQueryClient()
  const catalog = useQuery(tokenScopesQuery)
  const [name, setName] = useState("")
  const [scopes, setScopes] = useState<ReadonlyArray<string>>(["read"])
  const [workspace, setWorkspace] = useState(workspaceId ?? "")
  const [expiresOn, setExpiresOn] = useState("")
  const needsWorkspace = (catalog.data ?? []).some(
    ({ scope, workspaceBinding }) => workspaceBinding === "required" && scopes.includes(scope)
  )
  const create = useDecision({
    send: (signal) =>
      call(accountTokensCreate, {
        signal,
        body: {
          name: name.trim(),
          scopes,
          ...(workspace === "" ? {} : { workspace_id: workspace }),
          ...(expiresOn === "" ? {} : { expires_at: `${expiresOn}T23:59:59.000Z` })
        }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: tokensQuery.queryKey })
  })
  if (create.data !== undefined) {
    return (
      <SecretOnce
        title={words.onceTitle}
        text={words.onceText}
        secret={create.data.token}
        done={words.done}
        onClose={onClose}
      />
    )
  }
  const missing = needsWorkspace && workspace === ""
  return (
    <FormDialog
      title={words.newToken}
      action={terms.create}
      incomplete={scopes.length === 0}
      change={create}
      onSubmit={() => {
        if (!missing && scopes.length > 0) create.mutate()
      }}
      onClose={onClose}
    >
      <TextField
        label={words.tokenName}
        helper={words.tokenNameHelp}
        required
        maxLength={80}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="feature">
        <legend>{words.scopes}</legend>
        <Loadable query={catalog}>
          {(found) =>
            found
              .filter(({ selfService }) => selfService)
              .map((scope) => (
                <CheckField
                  key={scope.scope}
                  label={say(scope.label)}
                  helper={say(scope.description)}
                  checked={scopes.includes(scope.scope)}
                  onChange={(event) =>
                    setScopes(
                      event.target.checked ? [...scopes, scope.scope] : scopes.filter((each) => each !== scope.scope)
                    )
                  }
                />
              ))
          }
        </Loadable>
      </fieldset>
      <SelectField
        label={words.workspace}
        error={missing ? words.workspaceNeeded : undefined}
        value={workspace}
        onChange={(event) => setWorkspace(event.target.value)}
      >
        <option value="">{words.anyWorkspace}</option>
        {workspaces.map((each) => (
          <option key={each.id} value={each.id}>
            {each.displayName}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.expires}
        optional
        type="date"
        value={expiresOn}
        onChange={(event) => setExpiresOn(event.target.value)}
      />
    </FormDialog>
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
