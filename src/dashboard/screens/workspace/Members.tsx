import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import {
  workspacesAddMember,
  workspacesHandOver,
  workspacesRemoveMember,
  workspacesUpdateMember
} from "../../api/Endpoints.ts"
import { departureQuery } from "../../api/MemberQueries.ts"
import { bootstrapQuery, membersQuery } from "../../api/Queries.ts"
import type { Member, Role } from "../../api/Types.ts"
import { RemovalDialog } from "../../app/RemovalDialog.tsx"
import { useBootstrap, useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { FaultNotice, Loadable } from "../../ui/Feedback.tsx"
import { SelectField, TextField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Status } from "../../ui/Status.tsx"
import { Time } from "../../ui/Time.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { AutomationTokens } from "./AutomationTokens.tsx"
import { automationWords } from "./AutomationWords.ts"
import { Invitations } from "./Invitations.tsx"
import { InviteDialog } from "./InviteDialog.tsx"
import { memberWords } from "./MemberWords.ts"
import { useMembersChange } from "./MembersChange.ts"
import { workspaceWords } from "./Words.ts"

type Asked = "confirm" | "role" | "remove" | "leave" | "hand-over" | "tokens" | "rename"

const roles: ReadonlyArray<Role> = ["viewer", "member", "admin", "owner"]

/** Changes the role of a member after a confirmation. An automation can never be an owner. */
const ChangeRole = ({
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

const StoppedItems = ({ title, items }: { readonly title: string; readonly items: ReadonlyArray<string> }) =>
  items.length === 0 ? null : (
    <div>
      <p>{title}</p>
      <ul>
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
    </div>
  )

/** Before the person confirms, lists the automations and access that stop working when the member leaves. */
const DepartureNotice = ({ subject }: { readonly subject: string }) => {
  const words = useWords(automationWords)
  const workspace = useWorkspace()
  const query = useQuery(departureQuery(workspace.id, subject))
  return (
    <Loadable query={query}>
      {({ connections, keptTokens, tokens }) =>
        connections.length + keptTokens.length + tokens.length === 0 ? (
          <p>{words.stopsNothing}</p>
        ) : (
          <div className="stack">
            <StoppedItems title={words.stopTokens} items={tokens.map(({ id, name }) => `${name} (${id})`)} />
            <StoppedItems
              title={words.stopConnections}
              items={connections.map(({ displayName, name, use }) => `${displayName}: ${name}, ${words.use[use]}`)}
            />
            <StoppedItems
              title={words.keptTokens}
              items={keptTokens.map(({ automation, id, name }) => `${automation}: ${name} (${id})`)}
            />
          </div>
        )
      }
    </Loadable>
  )
}

/** Renames an automation. People choose their own names. */
const RenameAutomation = ({
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

const Row = ({ member }: { readonly member: Member }) => {
  const words = useWords(workspaceWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const may = useMay()
  const { subject } = useBootstrap()
  const people = useWords(memberWords)
  const automations = useWords(automationWords)
  const [asked, setAsked] = useState<Asked>()
  const close = () => setAsked(undefined)
  const isMe = member.subject === subject.id
  const isAutomation = member.kind === "automation"
  const queryClient = useQueryClient()
  const params = { workspaceId: workspace.id, subject: member.subject }
  const update = useMembersChange((signal, body: { readonly role?: Member["role"]; readonly status?: "active" }) =>
    call(workspacesUpdateMember, { signal, params, body })
  )
  const name = member.displayName ?? member.email ?? member.subject
  return (
    <li className="row row-static">
      <span className="row-name row-stack">
        <span>
          <strong>{name}</strong> {isMe ? <span className="tag">{words.you}</span> : null}
          {isAutomation ? <span className="tag">{automations.tag}</span> : null}
        </span>
        <span className="muted">
          {member.email === undefined || member.email === name ? "" : `${member.email} · `}
          {words.joined} <Time at={member.createdAt} />
        </span>
        {member.offeredRole === undefined ? null : (
          <span>
            <Status tone="attention">{people.offered(terms.role[member.offeredRole])}</Status>{" "}
            {may("owner") ? (
              <>
                <Button small of={name} onClick={() => setAsked("confirm")}>
                  {people.confirmRole(terms.role[member.offeredRole])}
                </Button>{" "}
                <Button
                  small
                  of={name}
                  tone="quiet"
                  busy={update.isPending}
                  onClick={() => update.mutate({ role: member.role })}
                >
                  {people.dismiss}
                </Button>
              </>
            ) : null}
          </span>
        )}
        {update.error === null || asked === "confirm" ? null : <FaultNotice error={update.error} />}
      </span>
      <Status tone={member.status === "active" ? "good" : "muted"}>{words.status[member.status]}</Status>
      <span className="row-end">
        <span className="row-role">
          {may("owner") && member.status !== "suspended" ? (
            <Button
              small
              tone="quiet"
              aria-label={`${words.changeRole(name)}: ${terms.role[member.role]}`}
              onClick={() => setAsked("role")}
            >
              {terms.role[member.role]}
              <Icon name="updown" />
            </Button>
          ) : (
            <span className="tag">{terms.role[member.role]}</span>
          )}
        </span>
        {isAutomation ? (
          <Button small of={name} tone="quiet" onClick={() => setAsked("tokens")}>
            {automations.tokens}
          </Button>
        ) : null}
        {isAutomation && may("admin") && member.status === "active" ? (
          <Button small of={name} tone="quiet" onClick={() => setAsked("rename")}>
            {automations.rename}
          </Button>
        ) : null}
        {may("owner") && !isMe && !isAutomation && member.status === "active" ? (
          <Button small of={name} tone="quiet" onClick={() => setAsked("hand-over")}>
            {people.handOver}
          </Button>
        ) : null}
        {isMe ? (
          <Button small tone="quiet" onClick={() => setAsked("leave")}>
            {people.leave}
          </Button>
        ) : !may("admin") ? null : member.status === "suspended" ? (
          <Button small of={name} busy={update.isPending} onClick={() => update.mutate({ status: "active" })}>
            {words.restore}
          </Button>
        ) : (
          <Button small of={name} tone="quiet" onClick={() => setAsked("remove")}>
            {terms.remove}
          </Button>
        )}
      </span>
      {asked === "confirm" && member.offeredRole !== undefined ? (
        <ConfirmDialog
          title={people.confirmTitle(name, terms.role[member.offeredRole])}
          action={people.confirmRole(terms.role[member.offeredRole])}
          change={update}
          onConfirm={() => update.mutate({ role: member.offeredRole ?? member.role }, { onSuccess: close })}
          onClose={close}
        >
          {people.confirmText(member.email ?? name)}
        </ConfirmDialog>
      ) : null}
      {asked === "remove" ? (
        <RemovalDialog
          title={words.removeTitle(name)}
          action={terms.remove}
          details={<DepartureNotice subject={member.subject} />}
          remove={(signal) => call(workspacesRemoveMember, { signal, params })}
          list={membersQuery(workspace.id).queryKey}
          onClose={close}
        >
          {isAutomation ? automations.removeText : words.removeText}
        </RemovalDialog>
      ) : null}
      {asked === "leave" ? (
        <RemovalDialog
          title={people.leaveTitle(workspace.displayName)}
          action={people.leave}
          // Leaves the page, because the page is about the Workspace that the person has left.
          remove={(signal) => call(workspacesRemoveMember, { signal, params }).then(() => window.location.assign("/"))}
          details={<DepartureNotice subject={member.subject} />}
          list={membersQuery(workspace.id).queryKey}
          onClose={close}
        >
          {people.leaveText}
        </RemovalDialog>
      ) : null}
      {asked === "role" ? <ChangeRole member={member} name={name} onClose={close} /> : null}
      {asked === "rename" ? <RenameAutomation member={member} name={name} onClose={close} /> : null}
      {asked === "tokens" ? <AutomationTokens member={member} name={name} onClose={close} /> : null}
      {asked === "hand-over" ? (
        <RemovalDialog
          title={people.handOverTitle(name)}
          action={people.handOver}
          remove={(signal) =>
            call(workspacesHandOver, {
              signal,
              params: { workspaceId: workspace.id },
              body: { subject: member.subject }
            }).then(() => queryClient.invalidateQueries({ queryKey: bootstrapQuery.queryKey }))
          }
          list={membersQuery(workspace.id).queryKey}
          onClose={close}
        >
          {people.handOverText}
        </RemovalDialog>
      ) : null}
    </li>
  )
}

/** Invited people are listed with the invitations, not with the members. */
const isMember = ({ status }: Member): boolean => status !== "invited"

/** An automation can never own a Workspace. */
const automationRoles: ReadonlyArray<Role> = ["viewer", "member", "admin"]

/** Creates a member that cannot sign in. */
const AutomationDialog = ({ onClose }: { readonly onClose: () => void }) => {
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

export const Members = () => {
  const words = useWords(workspaceWords)
  const people = useWords(memberWords)
  const workspace = useWorkspace()
  const may = useMay()
  const query = useQuery(membersQuery(workspace.id))
  const [adding, setAdding] = useState<"person" | "automation">()
  const close = () => setAdding(undefined)
  const automations = useWords(automationWords)
  return (
    <div className="stack">
      <Panel
        flush
        title={words.tabs.members}
        actions={
          may("admin") ? (
            <>
              <Button small icon="plus" onClick={() => setAdding("automation")}>
                {automations.add}
              </Button>
              <Button small icon="plus" onClick={() => setAdding("person")}>
                {people.invite}
              </Button>
            </>
          ) : null
        }
      >
        <Loadable query={query}>
          {(members) => (
            <ul className="rows">
              {members.filter(isMember).map((member) => (
                <Row key={member.subject} member={member} />
              ))}
            </ul>
          )}
        </Loadable>
      </Panel>
      <Invitations />
      {adding === "person" ? <InviteDialog onClose={close} /> : null}
      {adding === "automation" ? <AutomationDialog onClose={close} /> : null}
    </div>
  )
}
