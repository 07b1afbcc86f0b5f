import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { teamsCreate, teamsUpdate } from "../../api/Endpoints.ts"
import { teamsQuery } from "../../api/ApprovalQueries.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Project, Team } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { type GrantForm, GrantFields } from "./GrantFields.tsx"
import { useProjects } from "./PlaceFields.tsx"
import { useDecision } from "../../ui/Decision.ts"

const asGrant = (
  { environment, projectId, role }: GrantForm,
  projects: ReadonlyArray<Project>
): Team["grants"][number] => {
  const project = projects.find(({ id }) => id === projectId)
  return {
    role: role === "admin" || role === "viewer" ? role : "member",
    ...(project === undefined ? {} : { projectId: project.id }),
    ...(environment.trim() === "" ? {} : { environment: environment.trim() })
  }
}

/** Creates a team, or changes one. */
export const TeamDialog = ({ team, onClose }: { readonly team?: Team | undefined; readonly onClose: () => void }) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  const nameOf = useActorName()
  const people = (useQuery(membersQuery(workspace.id)).data ?? []).filter(({ status }) => status === "active")
  const [name, setName] = useState(team?.name ?? "")
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(team?.members))
  const projects = useProjects()
  const [grants, setGrants] = useState<ReadonlyArray<GrantForm>>(() =>
    (team?.grants ?? []).map(({ environment = "", projectId = "", role }, key) => ({
      key,
      environment,
      projectId,
      role
    }))
  )
  const save = useDecision({
    send: (signal) => {
      const body = {
        name: name.trim(),
        members: people.flatMap(({ subject }) => (chosen.has(subject) ? [subject] : [])),
        grants: grants.map((grant) => asGrant(grant, projects))
      }
      return team === undefined
        ? call(teamsCreate, { signal, params: { workspaceId: workspace.id }, body })
        : call(teamsUpdate, { signal, params: { workspaceId: workspace.id, teamId: team.id }, body })
    },
    onSuccess: onClose,
    onSettled: () => queryClient.invalidateQueries({ queryKey: teamsQuery(workspace.id).queryKey })
  })
  const toggle = (subject: string, on: boolean) =>
    setChosen((before) => new Set(on ? [...before, subject] : [...before].filter((each) => each !== subject)))
  return (
    <FormDialog
      title={team === undefined ? words.newTeamTitle : words.editTeamTitle(team.name)}
      action={team === undefined ? words.newTeam : terms.save}
      change={save}
      onSubmit={() => save.mutate()}
      onClose={onClose}
    >
      <TextField
        label={words.teamName}
        helper={words.teamNameHelp}
        required
        maxLength={39}
        pattern="[a-z0-9][a-z0-9\-]*"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <fieldset className="field">
        <legend>{words.teamMembers}</legend>
        {people.map(({ subject }) => (
          <CheckField
            key={subject}
            label={nameOf(subject)}
            checked={chosen.has(subject)}
            onChange={(event) => toggle(subject, event.target.checked)}
          />
        ))}
      </fieldset>
      <GrantFields grants={grants} onChange={setGrants} />
    </FormDialog>
  )
}
