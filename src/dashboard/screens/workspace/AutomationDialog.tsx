import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesAddMember } from "../../api/Endpoints.ts"
import type { Role } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { automationWords } from "./AutomationWords.ts"
import { useMembersChange } from "./MembersChange.ts"
import { workspaceWords } from "./Words.ts"

/** An automation can never own a Workspace. */
const automationRoles: ReadonlyArray<Role> = ["viewer", "member", "admin"]

/** Creates a member that cannot sign in. */
export const AutomationDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(automationWords)
  const roleWords = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const [name, setName] = useState("")
  const [role, setRole] = useState<Role>("member")
  const create = useMembersChange((signal) =>
    call(workspacesAddMember, {
      signal,
      params: { workspaceId: workspace.id },
      body: { automation: name.trim(), role }
    }).then(onClose)
  )
  return (
    <FormDialog
      title={words.add}
      action={terms.create}
      change={create}
      onSubmit={() => create.mutate(undefined)}
      onClose={onClose}
    >
      <p>{words.about}</p>
      <TextField
        label={words.name}
        required
        maxLength={80}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <SelectField
        label={roleWords.role}
        helper={roleWords.roles[role]}
        value={role}
        onChange={(event) => setRole(automationRoles.find((each) => each === event.target.value) ?? "viewer")}
      >
        {automationRoles.map((each) => (
          <option key={each} value={each}>
            {terms.role[each]}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
