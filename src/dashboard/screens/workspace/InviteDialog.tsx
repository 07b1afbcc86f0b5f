import { useState } from "react"
import { call } from "../../api/Call.ts"
import { invitationsCreate } from "../../api/Endpoints.ts"
import type { Role } from "../../api/Types.ts"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { SecretOnce } from "../../ui/SecretOnce.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { memberWords } from "./MemberWords.ts"
import { useMembersChange } from "./MembersChange.ts"
import { workspaceWords } from "./Words.ts"

/** Roles that a link grants at once to anybody who uses it. */
const open: ReadonlyArray<Role> = ["viewer", "member"]
const all: ReadonlyArray<Role> = [...open, "admin", "owner"]
const days = [1, 7, 30] as const

const dayMillis = 86_400_000
/** Margin for a server clock that is slightly behind, because the server limits the period by its own clock. */
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
  const { capabilities, sendsMail } = useBootstrap()
  // An invitation can be limited to an address only if svc can mail the link to the address or a sign-in provider can verify
  // the address.
  const takesAddress = sendsMail || capabilities.auth.oidc
  const isOpen = email.trim() === ""
  const roles = (isOpen && !may("owner") ? open : all).filter((role) => role !== "owner" || may("owner"))
  const isOffered = isOpen && !open.includes(wanted)
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
            ? isOffered
              ? words.linkOffers(terms.role[wanted])
              : words.linkForAnybody
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
      {takesAddress ? (
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
      ) : (
        <p className="muted">{words.noAddress}</p>
      )}
      <SelectField
        label={roleWords.role}
        helper={
          <>
            <span>{roleWords.roles[role]}</span>
            {isOffered ? <span>{words.offerHelp(terms.role[role])}</span> : null}
          </>
        }
        value={role}
        onChange={(event) => setWanted(all.find((each) => each === event.target.value) ?? "viewer")}
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
