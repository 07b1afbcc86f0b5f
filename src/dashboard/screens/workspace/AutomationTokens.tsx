import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { membersRevokeToken } from "../../api/Endpoints.ts"
import { automationTokensQuery } from "../../api/MemberQueries.ts"
import type { Member, TokenRecord } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { Time } from "../../ui/Time.tsx"
import { calendarDate } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { automationWords } from "./AutomationWords.ts"
import { NewAutomationToken } from "./NewAutomationToken.tsx"
import { useDecision } from "../../ui/Decision.ts"

const Row = ({ token }: { readonly token: TokenRecord }) => {
  const words = useWords(automationWords)
  const language = useLanguage()
  const workspace = useWorkspace()
  const may = useMay()
  const queryClient = useQueryClient()
  const { subject, token_id: tokenId } = token
  const revoke = useDecision({
    send: (signal) => call(membersRevokeToken, { signal, params: { workspaceId: workspace.id, subject, tokenId } }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: automationTokensQuery(workspace.id, subject).queryKey })
  })
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{token.name}</strong> <code>{token.prefix}…</code>
        </span>
        <span className="muted">
          {token.scopes.join(", ")}
          {" · "}
          {token.last_used_at === null ? (
            words.neverUsed
          ) : (
            <>
              {words.used} <Time at={token.last_used_at} />
            </>
          )}
          {token.expires_at === null ? "" : ` · ${words.until} ${calendarDate(language, token.expires_at)}`}
        </span>
        {revoke.error === null ? null : <FaultNotice error={revoke.error} />}
      </span>
      <span className="row-end">
        {token.revoked_at !== null ? (
          <span className="tag">{words.revoked}</span>
        ) : may("admin") ? (
          <Button small of={token.name} busy={revoke.isPending} onClick={() => revoke.mutate()}>
            {words.revoke}
          </Button>
        ) : null}
      </span>
    </li>
  )
}

/** An automation's tokens, and a button for a new one. */
export const AutomationTokens = ({
  member,
  name,
  onClose
}: {
  readonly member: Member
  readonly name: string
  readonly onClose: () => void
}) => {
  const words = useWords(automationWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const query = useQuery(automationTokensQuery(workspace.id, member.subject))
  const [creating, setCreating] = useState(false)
  if (creating) return <NewAutomationToken subject={member.subject} onClose={onClose} />
  return (
    <Dialog title={words.tokensOf(name)} wide onClose={onClose}>
      <div className="form">
        <Loadable query={query}>
          {(tokens) =>
            tokens.length === 0 ? (
              <p>{words.none}</p>
            ) : (
              <ul className="rows">
                {tokens.map((token) => (
                  <Row key={token.token_id} token={token} />
                ))}
              </ul>
            )
          }
        </Loadable>
        <div className="form-actions">
          {may("admin") && member.status === "active" ? (
            <Button tone="primary" onClick={() => setCreating(true)}>
              {words.newToken}
            </Button>
          ) : null}
          <Button onClick={onClose}>{terms.close}</Button>
        </div>
      </div>
    </Dialog>
  )
}
