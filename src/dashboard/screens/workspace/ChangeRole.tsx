import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesUpdateMember } from "../../api/Endpoints.ts"
import type { Member, Role } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { SelectField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { memberWords } from "./MemberWords.ts"
import { useMembersChange } from "./MembersChange.ts"
import { workspaceWords } from "./Words.ts"

const roles: ReadonlyArray<Role> = ["viewer", "member", "admin", "owner"]

/** Changes the role of a member after a confirmation. An automation can never be an owner. */
export const ChangeRole = ({
  member,
  name,
  onClose
}: {
  readonly member: Member
  readonly name: string
  readonly onClose: () => void
}) => {
  const words = useWords(workspaceWords)
  const people = useWords(memberWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const [role, setRole] = useState<Role>(member.role)
  const change = useMembersChange((signal) =>
    call(workspacesUpdateMember, {
      signal,
      params: { workspaceId: workspace.id, subject: member.subject },
      body: { role }
    }).then(onClose)
  )
  return (
    <FormDialog
      title={words.changeRole(name)}
      action={people.changeRole}
      change={change}
      incomplete={role === member.role}
      onSubmit={() => change.mutate(undefined)}
      onClose={onClose}
    >
      <SelectField
        label={words.role}
        helper={words.roles[role]}
        value={role}
        onChange={(event) => setRole(roles.find((each) => each === event.target.value) ?? role)}
      >
        {roles
          .filter((each) => member.kind !== "automation" || each !== "owner")
          .map((each) => (
            <option key={each} value={each}>
              {terms.role[each]}
            </option>
          ))}
      </SelectField>
    </FormDialog>
  )
}
