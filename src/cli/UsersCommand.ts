import { Effect } from "effect"
import { Command, Flag } from "effect/cli"
import type { User } from "../../actors/access/account/Users.ts"
import { OperatorAccounts } from "../operator/Operator.ts"
import type { Settings } from "../settings/Settings.ts"
import { CommandFailed, jsonFlag, misuse, print } from "./Output.ts"
import { dataFlags, settingsOf } from "./SettingFlags.ts"

const emailFlag = Flag.String("email").pipe(
  Flag.withDescription("Email address of the account"),
  Flag.withMetavar("address")
)

const withAccounts = <A, E>(settings: Settings, use: (accounts: OperatorAccounts["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(OperatorAccounts, use).pipe(Effect.provide(OperatorAccounts.layer(settings)))

const line = ({ createdAt, displayName, email, isOperator, status, subject }: User): string =>
  [
    email,
    subject,
    status === "active" ? "active" : "locked",
    ...(isOperator ? ["operator"] : []),
    `since ${createdAt}`,
    ...(displayName === null ? [] : [displayName])
  ].join("  ")

const list = Command.make(
  "list",
  { ...dataFlags, json: jsonFlag },
  Effect.fn("listUsers")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const users = yield* withAccounts(settings, (accounts) => accounts.users)
    yield* print(json, { users }, users.length === 0 ? "There is no account yet." : users.map(line).join("\n"))
  })
).pipe(Command.withDescription("List the accounts, oldest first"))

const setStatus = (name: "lock" | "unlock", status: "active" | "disabled", said: string, about: string) =>
  Command.make(
    name,
    { ...dataFlags, email: emailFlag, json: jsonFlag },
    Effect.fn(`${name}User`)(function* ({ config, email, json, ...flags }) {
      const settings = yield* settingsOf(flags, config)
      yield* withAccounts(settings, (accounts) => accounts.setUserStatus({ email, status }))
      yield* print(json, { email, status }, `${email} ${said}`)
    })
  ).pipe(Command.withDescription(about))

const consequences = (email: string) =>
  `Deleting ${email} ends its sessions, tokens, memberships and ways to sign in for good. What it did stays in the operation history. The last owner of a Workspace cannot be deleted. Repeat the command with --yes.`

const remove = Command.make(
  "delete",
  {
    ...dataFlags,
    email: emailFlag,
    yes: Flag.Boolean("yes").pipe(
      Flag.withDescription("Delete without a confirmation prompt"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("deleteUser")(function* ({ config, email, json, yes, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    if (!yes) return yield* new CommandFailed({ ...misuse, message: consequences(email) })
    yield* withAccounts(settings, (accounts) => accounts.deleteUser(email))
    yield* print(json, { email, deleted: true }, `${email} has no account any more.`)
  })
).pipe(Command.withDescription("Delete an account; its Workspaces stay with their other owners"))

/** The operator's commands for the people who may sign in. */
export const usersCommand = Command.make("users").pipe(
  Command.withDescription("List, lock, unlock and delete accounts"),
  Command.withSubcommands([
    list,
    setStatus(
      "lock",
      "disabled",
      "is locked: its sessions have ended, and its tokens are refused.",
      "Lock an account immediately; its memberships stay"
    ),
    setStatus("unlock", "active", "may sign in again.", "Unlock a locked account"),
    remove
  ])
)
