import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { approvalsRemoveRule, teamsRemove } from "../../api/Endpoints.ts"
import { approvalRulesQuery, teamsQuery } from "../../api/ApprovalQueries.ts"
import type { ApprovalRule, Team } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Empty, FaultNotice } from "../../ui/Feedback.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { useProjects } from "./PlaceFields.tsx"
import { RuleDialog } from "./RuleDialog.tsx"
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
