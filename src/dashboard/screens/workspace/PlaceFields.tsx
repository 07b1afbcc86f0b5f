import { useQuery } from "@tanstack/react-query"
import { projectsQuery } from "../../api/MemberQueries.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { useWords } from "../../words/Words.ts"
import { approvalWords } from "./ApprovalWords.ts"

/** The Capsules to which a rule or grant applies. An empty value means all Capsules. */
export interface Place {
  readonly projectId: string
  readonly environment: string
}

/** The names of the Workspace's Projects, by id. */
export const useProjects = () => {
  const workspace = useWorkspace()
  return useQuery(projectsQuery(workspace.id)).data ?? []
}

/** Fields for a Project and the name of an environment. */
export const PlaceFields = ({
  environmentLabel,
  onChange,
  place
}: {
  readonly environmentLabel: string
  readonly onChange: (place: Place) => void
  readonly place: Place
}) => {
  const words = useWords(approvalWords)
  const projects = useProjects()
  return (
    <>
      <TextField
        label={environmentLabel}
        helper={words.environmentHelp}
        optional
        maxLength={40}
        autoCapitalize="off"
        spellCheck={false}
        value={place.environment}
        onChange={(event) => onChange({ ...place, environment: event.target.value })}
      />
      <SelectField
        label={words.project}
        value={place.projectId}
        onChange={(event) => onChange({ ...place, projectId: event.target.value })}
      >
        <option value="">{words.everyProject}</option>
        {projects.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
      </SelectField>
    </>
  )
}
