import { useQuery } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { invitationsRevoke } from "../../api/Endpoints.ts"
import { invitationsQuery, membersQuery } from "../../api/Queries.ts"
import type { Invitation } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status, type StatusTone } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { memberWords } from "./MemberWords.ts"

const tones: Readonly<Record<Invitation["status"], StatusTone>> = {
  pending: "attention",
  accepted: "good",
  declined: "muted",
  revoked: "muted",
  expired: "muted"
}

const Row = ({ invitation }: { readonly invitation: Invitation }) => {
  const words = useWords(memberWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const [asking, setAsking] = useState(false)
  const { status } = invitation
  const name = invitation.email ?? (invitation.subject === undefined ? words.anybody : invitation.subject)
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <strong>{name}</strong>
        <span className="muted">
          {words.invitedAt} <Time at={invitation.createdAt} />
          {status === "pending" ? (
            <>
              {" · "}
              {words.until} <Time at={invitation.expiresAt} />
            </>
          ) : null}
        </span>
      </span>
      <Status tone={tones[status]}>{words.status[status]}</Status>
      <span className="row-end">
        {invitation.role === undefined ? null : <span className="row-role tag">{terms.role[invitation.role]}</span>}
        {status === "pending" && may("admin") ? (
          <Button small of={name} tone="quiet" onClick={() => setAsking(true)}>
            {words.withdraw}
          </Button>
        ) : null}
      </span>
      {asking ? (
        <RemovalDialog
          title={words.withdrawTitle(name)}
          action={words.withdraw}
          remove={(signal) =>
            call(invitationsRevoke, { signal, params: { workspaceId: workspace.id, invitationId: invitation.id } })
          }
          list={membersQuery(workspace.id).queryKey}
          onClose={() => setAsking(false)}
        >
          {words.withdrawText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Invitations and their results. Renders nothing if there have never been any. */
export const Invitations = () => {
  const words = useWords(memberWords)
  const workspace = useWorkspace()
  const invitations = useQuery(invitationsQuery(workspace.id)).data ?? []
  if (invitations.length === 0) return null
  return (
    <Panel flush title={words.invitations} about={words.invitationsAbout}>
      <ul className="rows">
        {invitations.map((invitation) => (
          <Row key={invitation.id} invitation={invitation} />
        ))}
      </ul>
    </Panel>
  )
}
