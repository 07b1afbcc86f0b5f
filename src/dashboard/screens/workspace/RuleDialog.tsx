import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { approvalsCreateRule, approvalsUpdateRule } from "../../api/Endpoints.ts"
import { approvalRulesQuery, teamsQuery } from "../../api/ApprovalQueries.ts"
import type { ApprovalRule } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { type Place, PlaceFields, useProjects } from "./PlaceFields.tsx"
import { useDecision } from "../../ui/Decision.ts"

const mostApprovers = 10
const carryOvers = ["off", "approval", "approval_and_apply"] as const

/** Adds a rule, or changes one. */
export const RuleDialog = ({
  rule,
  onClose
}: {
  readonly rule?: ApprovalRule | undefined
  readonly onClose: () => void
}) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const teams = useQuery(teamsQuery(workspace.id)).data ?? []
  const projects = useProjects()
  const [place, setPlace] = useState<Place>({ environment: rule?.environment ?? "", projectId: rule?.projectId ?? "" })
  const [approvers, setApprovers] = useState(String(rule?.approvers ?? 1))
  const [role, setRole] = useState<ApprovalRule["role"]>(rule?.role ?? "admin")
  const [team, setTeam] = useState<string>(rule?.teamId ?? "")
  const [planAuthorCounts, setPlanAuthor] = useState(rule?.planAuthorCounts ?? false)
  const [commitAuthorCounts, setCommitAuthor] = useState(rule?.commitAuthorCounts ?? true)
  const [automationCounts, setAutomation] = useState(rule?.automationCounts ?? false)
  const [carryOver, setCarryOver] = useState<ApprovalRule["carryOver"]>(rule?.carryOver ?? "off")
  const save = useDecision({
    send: (signal) => {
      const body = {
        environment: place.environment.trim() === "" ? null : place.environment.trim(),
        projectId: projects.find(({ id }) => id === place.projectId)?.id ?? null,
        approvers: Number(approvers),
        role,
        teamId: teams.find(({ id }) => id === team)?.id ?? null,
        planAuthorCounts,
        commitAuthorCounts,
        automationCounts,
        carryOver
      }
      return rule === undefined
        ? call(approvalsCreateRule, { signal, params: { workspaceId: workspace.id }, body })
        : call(approvalsUpdateRule, { signal, params: { workspaceId: workspace.id, ruleId: rule.id }, body })
    },
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: approvalRulesQuery(workspace.id).queryKey })
  })
  return (
    <FormDialog
      title={rule === undefined ? words.newRuleTitle : words.editRuleTitle}
      action={rule === undefined ? words.newRule : terms.save}
      change={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <PlaceFields environmentLabel={words.environment} place={place} onChange={setPlace} />
      <TextField
        label={words.approvers}
        type="number"
        required
        min={1}
        max={mostApprovers}
        value={approvers}
        onChange={(event) => setApprovers(event.target.value)}
      />
      <SelectField
        label={words.approverRole}
        value={role}
        onChange={(event) => setRole(event.target.value === "owner" ? "owner" : "admin")}
      >
        <option value="admin">{words.roles.admin}</option>
        <option value="owner">{words.roles.owner}</option>
      </SelectField>
      <SelectField label={words.team} value={team} onChange={(event) => setTeam(event.target.value)}>
        <option value="">{words.anyTeam}</option>
        {teams.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
      <CheckField
        label={words.planAuthor}
        helper={words.planAuthorHelp}
        checked={planAuthorCounts}
        onChange={(event) => setPlanAuthor(event.target.checked)}
      />
      <CheckField
        label={words.commitAuthor}
        checked={commitAuthorCounts}
        onChange={(event) => setCommitAuthor(event.target.checked)}
      />
      <CheckField
        label={words.automation}
        helper={words.automationHelp}
        checked={automationCounts}
        onChange={(event) => setAutomation(event.target.checked)}
      />
      <SelectField
        label={words.carryOver}
        helper={words.carryOverHelp}
        value={carryOver}
        onChange={(event) => setCarryOver(carryOvers.find((each) => each === event.target.value) ?? "off")}
      >
        {carryOvers.map((each) => (
          <option key={each} value={each}>
            {words.carryOvers[each]}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
