import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { withStoredSpelling } from "../../../schema/records/EmailAddress.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Role } from "../../../schema/records/Workspace.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print, printSecret } from "../Output.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText, timeText } from "../remote/Rows.ts"
import { onlyNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { acceptCommand } from "./AcceptCommand.ts"

const invitationsOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const client = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(client.invitations.list({ params: { workspaceId }, query }), ({ invitations: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    role: Flag.Literals("role", Role.literals).pipe(
      Flag.withDescription("Role of the invited person; default: member"),
      Flag.withDefault("member")
    ),
    email: Argument.optional(
      Argument.String("email").pipe(
        Argument.withDescription("Only an account with this address may accept; default: anybody with the link")
      )
    )
  },
  Effect.fn("invite create")((given) =>
    Effect.gen(function* () {
      const { invitations } = yield* SvcClient
      const { handle, id: workspaceId } = yield* workspaceNamed(given.workspace)
      const email = Option.match(given.email, { onNone: () => ({}), onSome: (address) => ({ email: address }) })
      const made = yield* invitations.create({ params: { workspaceId }, payload: { role: given.role, ...email } })
      const printed = print(
        given.json,
        made,
        [
          made.link,
          `The link works once, until ${timeText(made.invitation.expiresAt)}, and is not shown again. It leads to ${handle} as ${given.role}.`,
          ...(made.mailed === true ? ["An email with a separate link is on its way."] : [])
        ].join("\n")
      )
      const revoke = invitations.revoke({ params: { workspaceId, invitationId: made.invitation.id } })
      yield* printSecret(printed, "link", revoke)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Invite somebody to a Workspace, and print the link"),
  Command.withExamples([
    { command: "svc invite create bob@example.com --role admin", description: "Only this address may accept" }
  ])
)

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("invite list")((given) =>
    Effect.gen(function* () {
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const invitations = yield* invitationsOf(id)
      yield* print(
        given.json,
        { invitations },
        invitations.length === 0
          ? `${handle} has no invitation. Invite somebody with \`svc invite create\`.`
          : rowsText(
              ["for", "role", "status", "expires", "id"],
              invitations.map((one) => [
                terminalText(one.email ?? one.subject ?? "anybody with the link"),
                one.role ?? "",
                one.status,
                timeText(one.expiresAt) ?? "",
                one.id
              ])
            )
      )
    }).pipe(onServer(given))
  )
).pipe(Command.withDescription("List the invitations of a Workspace, newest first"), Command.withAlias("ls"))

const withdrawCommand = Command.make(
  "withdraw",
  {
    ...workspaceFlags,
    invitation: Argument.String("invitation").pipe(
      Argument.withDescription("Invited address, or the id of the invitation")
    )
  },
  Effect.fn("invite withdraw")((given) =>
    Effect.gen(function* () {
      const client = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const open = (yield* invitationsOf(workspaceId)).filter(({ status }) => status === "pending")
      const words = { what: "open invitation for", several: "invitations", list: "svc invite list" }
      const { id } =
        open.find((one) => one.id === given.invitation) ??
        (yield* onlyNamed(open, ({ email, id: own }) => email ?? own, withStoredSpelling(given.invitation), words))
      const { invitation } = yield* client.invitations.revoke({ params: { workspaceId, invitationId: id } })
      yield* print(given.json, { invitation }, "The invitation is withdrawn. Its link works no more.")
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Withdraw an invitation"),
  Command.withExamples([{ command: "svc invite withdraw eve@example.com", description: "The link becomes invalid" }])
)

export const inviteCommand = Command.make("invite").pipe(
  Command.withDescription("Invitations to a Workspace"),
  Command.withSubcommands([createCommand, listCommand, withdrawCommand, acceptCommand])
)
