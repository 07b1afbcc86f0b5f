import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesUpdateMember } from "../../api/Endpoints.ts"
import type { Member } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { automationWords } from "./AutomationWords.ts"
import { useMembersChange } from "./MembersChange.ts"

/** Renames an automation. People choose their own names. */
export const RenameAutomation = ({
  member,
  name: present,
  onClose
}: {
  readonly member: Member
  readonly name: string
  readonly onClose: () => void
}) => {
  const words = useWords(automationWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const [name, setName] = useState(present)
  const rename = useMembersChange((signal) =>
    call(workspacesUpdateMember, {
      signal,
      params: { workspaceId: workspace.id, subject: member.subject },
      body: { displayName: name.trim() }
    }).then(onClose)
  )
  return (
    <FormDialog
      title={words.renameTitle(present)}
      action={terms.save}
      change={rename}
      onSubmit={() => rename.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label={words.name}
        required
        maxLength={80}
        autoComplete="off"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
    </FormDialog>
  )
}
