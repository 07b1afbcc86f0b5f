import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { membersCreateToken, membersRevokeToken } from "../../api/Endpoints.ts"
import { automationTokensQuery, projectsQuery } from "../../api/MemberQueries.ts"
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
import { useDecision } from "../../ui/Decision.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"

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

const days = [30, 90, 365] as const
const dayMillis = 86_400_000

/** Creates a limited automation token, and shows it once. */
const NewAutomationToken = ({ subject, onClose }: { readonly subject: string; readonly onClose: () => void }) => {
  const words = useWords(automationWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const projects = useQuery(projectsQuery(workspace.id))
  const [name, setName] = useState("")
  const [writes, setWrites] = useState(true)
  const [project, setProject] = useState("")
  const [environments, setEnvironments] = useState("")
  const [period, setPeriod] = useState<number>(90)
  const named = environments
    .split(/[\s,、]+/)
    .filter((environment) => environment !== "")
    .map((environment) => `environment:${environment}`)
  const create = useDecision({
    send: (signal) =>
      call(membersCreateToken, {
        signal,
        params: { workspaceId: workspace.id, subject },
        body: {
          name: name.trim(),
          scopes: ["read", ...(writes ? ["write"] : []), ...(project === "" ? [] : [`project:${project}`]), ...named],
          expiresAt: new Date(Date.now() + period * dayMillis).toISOString()
        }
      }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: automationTokensQuery(workspace.id, subject).queryKey })
  })
  if (create.data !== undefined) {
    return (
      <SecretOnce
        title={words.onceTitle}
        text={words.onceText}
        secret={create.data.token}
        done={terms.close}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title={words.newToken}
      action={words.make}
      change={create}
      onSubmit={() => create.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.tokenName}
        required
        maxLength={80}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <CheckField label={words.mayWrite} checked={writes} onChange={(event) => setWrites(event.target.checked)} />
      <SelectField label={words.project} value={project} onChange={(event) => setProject(event.target.value)}>
        <option value="">{words.everyProject}</option>
        {(projects.data ?? []).map((each) => (
          <option key={each.id} value={each.id}>
            {each.name}
          </option>
        ))}
      </SelectField>
      <TextField
        label={words.environments}
        helper={words.environmentsHelp}
        optional
        mono
        autoComplete="off"
        value={environments}
        onChange={(event) => setEnvironments(event.target.value)}
      />
      <SelectField
        label={words.goodFor}
        value={String(period)}
        onChange={(event) => setPeriod(Number(event.target.value))}
      >
        {days.map((count) => (
          <option key={count} value={count}>
            {words.days(count)}
          </option>
        ))}
      </SelectField>
    </FormDialog>
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
