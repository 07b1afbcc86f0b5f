import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { teamsCreate, teamsUpdate } from "../../api/Endpoints.ts"
import { teamsQuery } from "../../api/ApprovalQueries.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Team } from "../../api/Types.ts"
import { useActorName } from "../../app/Actors.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { CheckField, SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"

const grantable = ["viewer", "member", "admin"] as const
type Grantable = (typeof grantable)[number]

/** Whether the form can show what a team grants: at most one role, in every Project. */
const isSimple = (team: Team | undefined): boolean =>
  team === undefined || (team.grants.length <= 1 && team.grants[0]?.projectId === undefined)

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
  const first = team?.grants[0]
  const [role, setRole] = useState<Grantable | "">(grantable.find((each) => each === first?.role) ?? "")
  const [environment, setEnvironment] = useState(first?.environment ?? "")
  const simple = isSimple(team)
  const save = useMutation({
    mutationFn: () => {
      const place = environment.trim() === "" ? {} : { environment: environment.trim() }
      const body = {
        name: name.trim(),
        members: people.flatMap(({ subject }) => (chosen.has(subject) ? [subject] : [])),
        ...(simple ? { grants: role === "" ? [] : [{ role, ...place }] } : {})
      }
      return team === undefined
        ? call(teamsCreate, { params: { workspaceId: workspace.id }, body })
        : call(teamsUpdate, { params: { workspaceId: workspace.id, teamId: team.id }, body })
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
      {simple ? (
        <>
          <SelectField
            label={words.grant}
            value={role}
            onChange={(event) => setRole(grantable.find((each) => each === event.target.value) ?? "")}
          >
            <option value="">{words.noGrant}</option>
            {grantable.map((each) => (
              <option key={each} value={each}>
                {terms.role[each]}
              </option>
            ))}
          </SelectField>
          {role === "" ? null : (
            <TextField
              label={words.grantEnvironment}
              helper={words.environmentHelp}
              optional
              maxLength={40}
              autoCapitalize="off"
              spellCheck={false}
              value={environment}
              onChange={(event) => setEnvironment(event.target.value)}
            />
          )}
        </>
      ) : (
        <p className="muted">{words.grantsKept}</p>
      )}
    </FormDialog>
  )
}
