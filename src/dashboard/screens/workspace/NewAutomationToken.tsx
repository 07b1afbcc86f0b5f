import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { membersCreateToken } from "../../api/Endpoints.ts"
import { automationTokensQuery, projectsQuery } from "../../api/MemberQueries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { automationWords } from "./AutomationWords.ts"
import { useDecision } from "../../ui/Decision.ts"

const days = [30, 90, 365] as const
const dayMillis = 86_400_000

/** Creates a limited automation token, and shows it once. */
export const NewAutomationToken = ({
  subject,
  onClose
}: {
  readonly subject: string
  readonly onClose: () => void
}) => {
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
