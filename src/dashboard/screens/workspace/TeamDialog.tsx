import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { mostGrants } from "../../../../schema/records/Team.ts"
import { call } from "../../api/Call.ts"
import { teamsCreate, teamsUpdate } from "../../api/Endpoints.ts"
import { teamsQuery } from "../../api/ApprovalQueries.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Project, Team } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"
import { type Place, PlaceFields, useProjects } from "./PlaceFields.tsx"
import { useDecision } from "../../ui/Decision.ts"

const grantable = ["viewer", "member", "admin"] as const

/** A role that a team grants, as stored in the form. */
interface GrantForm extends Place {
  /** Distinguishes the entries of the form. */
  readonly key: number
  readonly role: string
}

/** The roles that a team grants, each for a Project and an environment. */
const GrantFields = ({
  grants,
  onChange
}: {
  readonly grants: ReadonlyArray<GrantForm>
  readonly onChange: (grants: ReadonlyArray<GrantForm>) => void
}) => {
  const words = useWords(approvalWords)
  const terms = useWords(vocabulary)
  const change = (key: number, changed: Partial<GrantForm>) =>
    onChange(grants.map((grant) => (grant.key === key ? { ...grant, ...changed } : grant)))
  const add = () => {
    const key = Math.max(0, ...grants.map((grant) => grant.key)) + 1
    onChange([...grants, { key, role: "member", projectId: "", environment: "" }])
  }
  return (
    <>
      {grants.map((grant, at) => (
        <fieldset className="field" key={grant.key}>
          <legend>{words.grantNumber(at + 1)}</legend>
          <SelectField
            label={words.grant}
            value={grant.role}
            onChange={(event) => change(grant.key, { role: event.target.value })}
          >
            {grantable.map((role) => (
              <option key={role} value={role}>
                {terms.role[role]}
              </option>
            ))}
          </SelectField>
          <PlaceFields
            environmentLabel={words.grantEnvironment}
            place={grant}
            onChange={(place) => change(grant.key, place)}
          />
          <Button small onClick={() => onChange(grants.filter(({ key }) => key !== grant.key))}>
            {words.removeGrant(at + 1)}
          </Button>
        </fieldset>
      ))}
      {grants.length < mostGrants ? (
        <div>
          <Button small onClick={add}>
            {words.addGrant}
          </Button>
        </div>
      ) : null}
    </>
  )
}

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
