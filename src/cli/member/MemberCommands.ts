import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type Member, Role } from "../../../schema/records/Workspace.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText, timeText } from "../remote/Rows.ts"
import { onlyNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"

const memberArgument = Argument.String("member").pipe(
  Argument.withDescription("Email address, or the subject from `svc member list`")
)

const membersOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const { workspaces } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(workspaces.members({ params: { workspaceId }, query }), ({ members: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

const nameOf = ({ displayName, email, subject }: Member) => email ?? displayName ?? subject

/** Returns the display name of each member, keyed by subject. */
export const memberNames = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  return new Map<string, string>((yield* membersOf(workspaceId)).map((member) => [member.subject, nameOf(member)]))
})

/**
 * Finds a member by address, name or subject. If a member and an open invitation have the same address, returns the member.
 */
export const memberNamed = Effect.fnUntraced(function* (workspaceId: WorkspaceId, typed: string) {
  const named = withStoredSpelling(typed)
  const all = (yield* membersOf(workspaceId)).map((member) => ({ ...member, id: member.subject }))
  const bySubject = all.find(({ subject }) => subject === named)
  const words = { what: "member", several: "members", list: "svc member list" }
  const joined = all.filter(({ status }) => status !== "invited")
  const known = joined.some((member) => nameOf(member) === named) ? joined : all
  return bySubject ?? (yield* onlyNamed(known, nameOf, named, words))
})

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("member list")((given) =>
    Effect.gen(function* () {
      const workspace = yield* workspaceNamed(given.workspace)
      const members = yield* membersOf(workspace.id)
      yield* print(
        given.json,
        { members },
        rowsText(
          ["who", "role", "status", "since", "subject"],
          members.map((member) => [
            terminalText(nameOf(member)),
            member.role,
            member.kind === "automation" ? `${member.status}, automation` : member.status,
            timeText(member.createdAt) ?? "",
            member.subject
          ])
        )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the members of a Workspace, including invited people"), Command.withAlias("ls"))

const roleCommand = Command.make(
  "role",
  {
    ...workspaceFlags,
    member: memberArgument,
    role: Argument.Literals("role", Role.literals).pipe(Argument.withDescription("The new role"))
  },
  Effect.fn("member role")((given) =>
    Effect.gen(function* () {
      const { workspaces } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const { subject } = yield* memberNamed(workspaceId, given.member)
      const params = { workspaceId, subject }
      const { member } = yield* workspaces.updateMember({ params, payload: { role: given.role } })
      yield* print(given.json, { member }, `${terminalText(nameOf(member))} is ${member.role} now.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Change the role of a member; owners only"),
  Command.withExamples([{ command: "svc member role bob@example.com admin", description: "Let Bob approve and apply" }])
)

const removeCommand = Command.make(
  "remove",
  {
    ...workspaceFlags,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Remove the member; without it, list what would stop"),
      Flag.withDefault(false)
    ),
    member: memberArgument
  },
  Effect.fn("member remove")((given) =>
    Effect.gen(function* () {
      const { members, workspaces } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const member = yield* memberNamed(workspaceId, given.member)
      const params = { workspaceId, subject: member.subject }
      const name = terminalText(nameOf(member))
      if (!given.yes) {
        const { departure } = yield* members.departure({ params })
        const counts = [
          `${departure.tokens.length} tokens would stop reaching the Workspace`,
          `${departure.connections.length} Connections would no longer be used on this member's authority`
        ]
        return yield* print(
          given.json,
          { departure },
          `${name} is still a member. With a removal ${counts.join(", and ")}. Repeat the command with --yes.`
        )
      }
      yield* workspaces.removeMember({ params })
      yield* print(given.json, { removed: member.subject }, `${name} is no member any more.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Remove a member, or leave; without --yes, list what would stop"),
  Command.withAlias("rm"),
  Command.withExamples([{ command: "svc member remove bob@example.com --yes", description: "Bob loses access" }])
)

export const memberCommand = Command.make("member").pipe(
  Command.withDescription("Members of a Workspace and their roles"),
  Command.withSubcommands([listCommand, roleCommand, removeCommand])
)
