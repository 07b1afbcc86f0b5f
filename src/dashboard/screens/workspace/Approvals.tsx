import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { approvalsCreateRule, approvalsRemoveRule, approvalsUpdateRule, teamsRemove } from "../../api/Endpoints.ts"
import { approvalRulesQuery, teamsQuery } from "../../api/ApprovalQueries.ts"
import type { ApprovalRule, Team } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { useDecision } from "../../ui/Decision.ts"
import { Empty, FaultNotice } from "../../ui/Feedback.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { type Place, PlaceFields, useProjects } from "./PlaceFields.tsx"
import { TeamDialog } from "./TeamDialog.tsx"

type Asking = "edit" | "remove" | undefined

/** An owner's actions on an entry. */
const Actions = ({ ask, of }: { readonly ask: (asking: Asking) => void; readonly of: string }) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const may = useMay()
  return may("owner") ? (
    <span className="row-end">
      <Button small of={of} tone="quiet" onClick={() => ask("edit")}>
        {words.edit}
      </Button>
      <Button small of={of} tone="quiet" onClick={() => ask("remove")}>
        {terms.remove}
      </Button>
    </span>
  ) : null
}

const mostApprovers = 10
const carryOvers = ["off", "approval", "approval_and_apply"] as const

/** Adds a rule, or changes one. */
const RuleDialog = ({ rule, onClose }: { readonly rule?: ApprovalRule | undefined; readonly onClose: () => void }) => {
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

const Rule = ({ rule, teams }: { readonly rule: ApprovalRule; readonly teams: ReadonlyArray<Team> }) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const [asking, ask] = useState<Asking>(undefined)
  const team = teams.find(({ id }) => id === rule.teamId)
  const place = rule.environment ?? words.everywhere
  const project = useProjects().find(({ id }) => id === rule.projectId)
  const parts = [
    ...(project === undefined ? [] : [words.ofProject(project.name)]),
    words.needs(rule.approvers, words.roles[rule.role]),
    ...(team === undefined ? [] : [words.ofTeam(team.name)]),
    ...(rule.planAuthorCounts ? [] : [words.notPlanAuthor]),
    ...(rule.commitAuthorCounts ? [] : [words.notCommitAuthor]),
    ...(rule.automationCounts ? [words.withAutomation] : []),
    ...(rule.carryOver === "off" ? [] : [words.carriesOver[rule.carryOver]])
  ]
  const close = () => ask(undefined)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{place}</strong>
        <span className="muted">{parts.join(" · ")}</span>
      </span>
      <Actions ask={ask} of={project === undefined ? place : `${place} · ${project.name}`} />
      {asking === "edit" ? <RuleDialog rule={rule} onClose={close} /> : null}
      {asking === "remove" ? (
        <RemovalDialog
          title={words.removeRule}
          action={terms.remove}
          remove={(signal) =>
            call(approvalsRemoveRule, { signal, params: { workspaceId: workspace.id, ruleId: rule.id } })
          }
          list={approvalRulesQuery(workspace.id).queryKey}
          onClose={close}
        >
          {words.removeRuleText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

const TeamRow = ({ team }: { readonly team: Team }) => {
  const projects = useProjects()
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const [asking, ask] = useState<Asking>(undefined)
  const parts = [
    words.membersOf(team.members.length),
    ...team.grants.map(({ environment, projectId, role }) =>
      words.grantIn(terms.role[role], environment, projects.find(({ id }) => id === projectId)?.name)
    )
  ]
  const close = () => ask(undefined)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{team.name}</strong>
        <span className="muted">{parts.join(" · ")}</span>
      </span>
      <Actions ask={ask} of={team.name} />
      {asking === "edit" ? <TeamDialog team={team} onClose={close} /> : null}
      {asking === "remove" ? (
        <RemovalDialog
          title={words.removeTeam(team.name)}
          action={terms.remove}
          remove={(signal) => call(teamsRemove, { signal, params: { workspaceId: workspace.id, teamId: team.id } })}
          list={teamsQuery(workspace.id).queryKey}
          onClose={close}
        >
          {words.removeTeamText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Approval rules and teams of the Workspace. */
export const Approvals = () => {
  const words = useWords(approvalWords)
  const workspace = useWorkspace()
  const may = useMay()
  const rules = useQuery(approvalRulesQuery(workspace.id))
  const teams = useQuery(teamsQuery(workspace.id))
  const [adding, add] = useState<"rule" | "team" | undefined>(undefined)
  const close = () => add(undefined)
  return (
    <div className="stack">
      {rules.error === null ? null : <FaultNotice error={rules.error} />}
      {teams.error === null ? null : <FaultNotice error={teams.error} />}
      <Panel
        flush
        title={words.rules}
        about={words.rulesAbout}
        actions={may("owner") ? <Button onClick={() => add("rule")}>{words.newRule}</Button> : null}
      >
        {rules.data?.length === 0 ? (
          <Empty icon="check" title={words.noRules}>
            {words.noRulesText}
          </Empty>
        ) : null}
        <ul className="rows">
          {(rules.data ?? []).map((rule) => (
            <Rule key={rule.id} rule={rule} teams={teams.data ?? []} />
          ))}
        </ul>
      </Panel>
      <Panel
        flush
        title={words.teams}
        about={words.teamsAbout}
        actions={may("owner") ? <Button onClick={() => add("team")}>{words.newTeam}</Button> : null}
      >
        {teams.data?.length === 0 ? (
          <Empty icon="people" title={words.noTeams}>
            {words.noTeamsText}
          </Empty>
        ) : null}
        <ul className="rows">
          {(teams.data ?? []).map((team) => (
            <TeamRow key={team.id} team={team} />
          ))}
        </ul>
      </Panel>
      {adding === "rule" ? <RuleDialog onClose={close} /> : null}
      {adding === "team" ? <TeamDialog onClose={close} /> : null}
    </div>
  )
}
