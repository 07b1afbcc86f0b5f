import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { workspacesAddMember, workspacesRemoveMember, workspacesUpdateMember } from "../../api/Endpoints.ts"
import { membersQuery } from "../../api/Queries.ts"
import type { Member, Role } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { workspaceWords } from "./Words.ts"

const roles: ReadonlyArray<Role> = ["viewer", "member", "admin", "owner"]
const asRole = (value: string): Role => roles.find((role) => role === value) ?? "viewer"

const useMembersChange = <A,>(change: (input: A) => Promise<unknown>, onSuccess?: () => void) => {
  const workspace = useWorkspace()
  const queryClient = useQueryClient()
  return useMutation({
    mutationFn: change,
    onSuccess: () => onSuccess?.(),
    onSettled: () => queryClient.invalidateQueries({ queryKey: membersQuery(workspace.id).queryKey })
  })
}

const Add = ({ onClose }: { readonly onClose: () => void }) => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const [email, setEmail] = useState("")
  const [role, setRole] = useState<Role>("member")
  const add = useMembersChange(
    () => call(workspacesAddMember, { params: { workspaceId: workspace.id }, body: { email: email.trim(), role } }),
    onClose
  )
  return (
    <FormDialog
      title={words.add}
      action={words.add}
      change={add}
      onSubmit={() => add.mutate(undefined)}
      onClose={onClose}
    >
      <TextField
        label={words.email}
        helper={words.emailHelp}
        type="email"
        required
        maxLength={254}
        value={email}
        onChange={(event) => setEmail(event.target.value)}
      />
      <SelectField
        label={words.role}
        helper={words.roles[role]}
        value={role}
        onChange={(event) => setRole(asRole(event.target.value))}
      >
        {roles
          .filter((each) => each !== "owner" || may("owner"))
          .map((each) => (
            <option key={each} value={each}>
              {terms.role[each]}
            </option>
          ))}
      </SelectField>
    </FormDialog>
  )
}

const Row = ({ member }: { readonly member: Member }) => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const { subject } = useBootstrap()
  const [removing, setRemoving] = useState(false)
  const params = { workspaceId: workspace.id, subject: member.subject }
  const update = useMembersChange((body: { readonly role?: Role; readonly status?: "active" }) =>
    call(workspacesUpdateMember, { params, body })
  )
  const name = member.displayName ?? member.email ?? member.subject
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{name}</strong> {member.subject === subject.id ? <span className="tag">{words.you}</span> : null}
        </span>
        <span className="muted">
          {member.email === undefined || member.email === name ? "" : `${member.email} · `}
          {words.joined} <Time at={member.createdAt} />
        </span>
        {update.error === null ? null : <FaultNotice error={update.error} />}
      </span>
      <Status tone={member.status === "active" ? "good" : member.status === "invited" ? "neutral" : "muted"}>
        {words.status[member.status]}
      </Status>
      <span className="row-end">
        {may("owner") && member.status !== "suspended" ? (
          <select
            className="input input-select input-small"
            aria-label={words.changeRole(name)}
            value={member.role}
            onChange={(event) => update.mutate({ role: asRole(event.target.value) })}
          >
            {roles.map((role) => (
              <option key={role} value={role}>
                {terms.role[role]}
              </option>
            ))}
          </select>
        ) : (
          <span className="tag">{terms.role[member.role]}</span>
        )}
        {may("admin") && member.subject !== subject.id ? (
          member.status === "suspended" ? (
            <Button small busy={update.isPending} onClick={() => update.mutate({ status: "active" })}>
              {words.restore}
            </Button>
          ) : (
            <Button small tone="quiet" onClick={() => setRemoving(true)}>
              {terms.remove}
            </Button>
          )
        ) : null}
      </span>
      {removing ? (
        <RemovalDialog
          title={words.removeTitle(name)}
          action={terms.remove}
          remove={() => call(workspacesRemoveMember, { params })}
          list={membersQuery(workspace.id).queryKey}
          onClose={() => setRemoving(false)}
        >
          {words.removeText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

export const Members = () => {
  const words = useWords(workspaceWords)
  const workspace = useWorkspace()
  const may = useMay()
  const query = useQuery(membersQuery(workspace.id))
  const [adding, setAdding] = useState(false)
  return (
    <Panel
      flush
      title={words.tabs.members}
      actions={
        may("admin") ? (
          <Button small icon="plus" onClick={() => setAdding(true)}>
            {words.add}
          </Button>
        ) : null
      }
    >
      <Loadable query={query}>
        {(members) => (
          <ul className="rows">
            {members.map((member) => (
              <Row key={member.subject} member={member} />
            ))}
          </ul>
        )}
      </Loadable>
      {adding ? <Add onClose={() => setAdding(false)} /> : null}
    </Panel>
  )
}
