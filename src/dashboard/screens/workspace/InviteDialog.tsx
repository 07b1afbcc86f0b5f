import { useState } from "react"
import { call } from "../../api/Call.ts"
import { invitationsCreate } from "../../api/Endpoints.ts"
import type { Role } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { memberWords } from "./MemberWords.ts"
import { useMembersChange } from "./MembersChange.ts"
import { workspaceWords } from "./Words.ts"

/** The roles that a link for anybody can grant. */
const open: ReadonlyArray<Role> = ["viewer", "member"]
const addressed: ReadonlyArray<Role> = [...open, "admin", "owner"]
const days = [1, 7, 30] as const

const dayMillis = 86_400_000
/** The server's clock, which may be slightly behind, limits the maximum period. */
const slackMillis = 60_000

const daysFromNow = (count: number): string => new Date(Date.now() + count * dayMillis - slackMillis).toISOString()

/** Creates an invitation, and shows its link once. */
export const InviteDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(memberWords)
  const roleWords = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const [email, setEmail] = useState("")
  const [wanted, setWanted] = useState<Role>("member")
  const [period, setPeriod] = useState<number>(7)
  const roles = (email.trim() === "" ? open : addressed).filter((role) => role !== "owner" || may("owner"))
  const role = roles.find((each) => each === wanted) ?? "member"
  const invite = useMembersChange((signal) =>
    call(invitationsCreate, {
      signal,
      params: { workspaceId: workspace.id },
      body: {
        role,
        expiresAt: daysFromNow(period),
        ...(email.trim() === "" ? {} : { email: email.trim() })
      }
    })
  )
  if (invite.data !== undefined) {
    return (
      <SecretOnce
        title={words.linkReady}
        text={
          email.trim() === ""
            ? words.linkForAnybody
            : invite.data.mailed === true
              ? words.mailedTo(email.trim())
              : words.linkFor(email.trim())
        }
        secret={invite.data.link}
        done={terms.close}
        onClose={onClose}
      />
    )
  }
  return (
    <FormDialog
      title={words.inviteTo(workspace.displayName)}
      action={words.makeLink}
      change={invite}
      onSubmit={() => invite.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label={words.email}
        helper={words.emailHelp}
        optional
        type="email"
        maxLength={254}
        autoComplete="off"
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <SelectField
        label={roleWords.role}
        helper={roleWords.roles[role]}
        value={role}
        onChange={(event) => setWanted(addressed.find((each) => each === event.target.value) ?? "viewer")}
      >
        {roles.map((each) => (
          <option key={each} value={each}>
            {terms.role[each]}
          </option>
        ))}
      </SelectField>
      <SelectField
        label={words.goodFor}
        value={String(period)}
        onChange={(event) => setPeriod(Number(event.target.value))}
      >
        {days.map((count) => (
          <option key={count} value={count}>
            {words.days(count)}
          </option>
        ))}
      </SelectField>
    </FormDialog>
  )
}
