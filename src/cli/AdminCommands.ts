import { Effect, Option, Redacted } from "effect"
import { Command, Flag } from "effect/cli"
import { formatListenAddress } from "../http-kit/ListenAddress.ts"
import type { IssuedLink } from "../operator/AccountCommands.ts"
import { OperatorAccounts, OperatorKeys } from "../operator/Operator.ts"
import type { Settings } from "../settings/Settings.ts"
import { WorkspaceId } from "../../schema/records/Ids.ts"
import { jsonFlag, print, printSecret } from "./Output.ts"
import { orphanedStatesCommand } from "./OrphanedStatesCommand.ts"
import { newPassword, passwordFlag } from "./Password.ts"
import { noticesCommand } from "./NoticesCommand.ts"
import { operatorsCommand } from "./OperatorsCommand.ts"
import { agentCommand } from "./AgentAdminCommand.ts"
import { poolCommand } from "./PoolCommand.ts"
import { reloadCommand } from "./PolicyCommands.ts"
import { restoreReviewCommand } from "./RestoreReviewCommand.ts"
import { dataFlags, settingFlags, settingsOf } from "./SettingFlags.ts"
import { usersCommand } from "./UsersCommand.ts"

const emailFlag = Flag.String("email").pipe(
  Flag.withDescription("Email address of the account"),
  Flag.withMetavar("address")
)
/**
 * Builds a link to the server given by the flag. If the flag is absent, uses the server that issued the link or, if there is
 * none, the server in the settings.
 */
const linkOf = (
  settings: Settings,
  link: IssuedLink,
  isGiven: boolean,
  page: "setup" | "join" | "account/address" = "setup"
) => {
  // Without a public origin, use the listener's address, unless the listener is set to port 0, because the actual port is
  // then unknown.
  const known = settings.baseUrl ?? `http://${formatListenAddress(settings.listen)}`
  const origin = isGiven ? known : (link.origin ?? known)
  return `${origin}/${page}#${Redacted.value(link.secret)}`
}

const withAccounts = <A, E>(settings: Settings, use: (accounts: OperatorAccounts["Service"]) => Effect.Effect<A, E>) =>
  Effect.flatMap(OperatorAccounts, use).pipe(Effect.provide(OperatorAccounts.layer(settings)))

const createUser = Command.make(
  "create-user",
  { ...dataFlags, email: emailFlag, passwordStdin: passwordFlag, json: jsonFlag },
  Effect.fn("createUser")(function* ({ config, email, json, passwordStdin, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const password = yield* newPassword(passwordStdin)
    const user = yield* withAccounts(settings, (accounts) => accounts.createUser({ email, password }))
    yield* print(json, { subject: user.subject, email: user.email }, `Created ${user.email} (${user.subject}).`)
  })
).pipe(Command.withDescription("Create an account with a password"))

const createToken = Command.make(
  "create-token",
  {
    ...dataFlags,
    subject: Flag.String("subject").pipe(
      Flag.withDescription("Account for which the token acts: usr_..., or its email address"),
      Flag.withMetavar("account")
    ),
    name: Flag.String("name").pipe(Flag.withDescription("Purpose of the token"), Flag.withMetavar("text")),
    scopes: Flag.String("scopes").pipe(
      Flag.withDescription("Comma-separated scopes, e.g. read,write"),
      Flag.withMetavar("scopes")
    ),
    workspace: Flag.optional(
      Flag.String("workspace").pipe(
        Flag.withSchema(WorkspaceId),
        Flag.withDescription("Workspace to which the token is bound, ws_..."),
        Flag.withMetavar("id")
      )
    ),
    json: jsonFlag
  },
  Effect.fn("createToken")(function* ({ config, json, name, scopes, subject, workspace, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const request = {
      subject,
      name,
      scopes: scopes.split(",").map((scope) => scope.trim()),
      workspaceId: Option.getOrUndefined(workspace)
    }
    const created = yield* withAccounts(settings, (accounts) => accounts.createToken(request))
    const { subject: owner, token_id: tokenId } = created.token
    const withdraw = withAccounts(settings, (accounts) => accounts.withdrawToken({ subject: owner, tokenId }))
    const secret = Redacted.value(created.secret)
    const printed = print(
      json,
      { token: secret, token_record: created.token },
      `${secret}\nThis is the only time that the token is shown. It expires at ${created.token.expires_at ?? "no time"}.`
    )
    yield* printSecret(printed, `token ${tokenId}`, withdraw)
  })
).pipe(Command.withDescription("Create a personal access token and print its secret once"))

const printLink = (json: boolean, address: string, link: IssuedLink) =>
  print(
    json,
    { setupLink: address, expiresAt: link.expiresAt, ...(link.mailed === true ? { mailed: true } : {}) },
    `${address}\nUsable once, until ${link.expiresAt}.${link.mailed === true ? " Another link was mailed to the account; using either ends both." : ""}`
  )

const originFlags = { listen: settingFlags.listen, baseUrl: settingFlags.baseUrl }

const setupLink = Command.make(
  "setup-link",
  { ...dataFlags, ...originFlags, json: jsonFlag },
  Effect.fn("setupLink")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const link = yield* withAccounts(settings, (accounts) => accounts.setupLink)
    yield* printLink(json, linkOf(settings, link, Option.isSome(flags.baseUrl)), link)
  })
).pipe(Command.withDescription("Print a one-time link for the first account"))

const resetPassword = Command.make(
  "reset-password",
  {
    ...dataFlags,
    ...originFlags,
    email: emailFlag,
    passwordStdin: passwordFlag,
    mail: Flag.Boolean("mail").pipe(
      Flag.withDescription("Mail a second link to that address, which verifies the address; requires a mail server"),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("resetPassword")(function* ({ config, email, json, mail, passwordStdin, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const given = passwordStdin ? Option.some(yield* newPassword(true)) : Option.none()
    if (Option.isNone(given)) {
      const link = yield* withAccounts(settings, (accounts) => accounts.resetLink({ email, mail }))
      return yield* printLink(json, linkOf(settings, link, Option.isSome(flags.baseUrl)), link)
    }
    yield* withAccounts(settings, (accounts) => accounts.setPassword({ email, password: given.value }))
    yield* print(json, { email, reset: true }, `${email} has the new password; all its sessions have ended.`)
  })
).pipe(Command.withDescription("Print a one-time link for a new password, or set the password from standard input"))

const invite = Command.make(
  "invite",
  {
    ...dataFlags,
    ...originFlags,
    email: Flag.optional(
      Flag.String("email").pipe(
        Flag.withDescription(
          "Address of the account, which counts as verified by you; default: the person chooses one"
        ),
        Flag.withMetavar("address")
      )
    ),
    workspace: Flag.optional(
      Flag.String("workspace").pipe(
        Flag.withSchema(WorkspaceId),
        Flag.withDescription("Workspace to join, ws_...; without it, the link only creates an account"),
        Flag.withMetavar("id")
      )
    ),
    role: Flag.optional(
      Flag.Literals("role", ["owner", "admin", "member", "viewer"]).pipe(
        Flag.withDescription(
          "Role in that Workspace, member by default; without an address, an owner has to confirm a higher role"
        )
      )
    ),
    json: jsonFlag
  },
  Effect.fn("invite")(function* ({ config, email, json, role, workspace, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const request = {
      email: Option.getOrUndefined(email),
      workspaceId: Option.getOrUndefined(workspace),
      role: Option.getOrUndefined(role)
    }
    const link = yield* withAccounts(settings, (accounts) => accounts.invite(request))
    const address = linkOf(settings, link, Option.isSome(flags.baseUrl), "join")
    yield* print(
      json,
      { invitationLink: address, expiresAt: link.expiresAt, ...(link.mailed === true ? { mailed: true } : {}) },
      `${address}\nUsable once, until ${link.expiresAt}.${link.mailed === true ? " It is mailed as well." : ""}`
    )
  })
).pipe(Command.withDescription("Print a one-time link for creating an account or joining a Workspace"))

const addressLink = Command.make(
  "address-link",
  {
    ...dataFlags,
    ...originFlags,
    email: emailFlag,
    to: Flag.String("to").pipe(
      Flag.withDescription("New address of the account; counts as verified by you"),
      Flag.withMetavar("address")
    ),
    json: jsonFlag
  },
  Effect.fn("addressLink")(function* ({ config, email, json, to, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const link = yield* withAccounts(settings, (accounts) => accounts.addressLink({ email, to }))
    const address = linkOf(settings, link, Option.isSome(flags.baseUrl), "account/address")
    yield* print(
      json,
      { addressLink: address, expiresAt: link.expiresAt },
      `${address}\nUsable once, by the person who is signed in to the account, until ${link.expiresAt}.`
    )
  })
).pipe(Command.withDescription("Print a one-time link for changing the address of an account"))

const rotateKeys = Command.make(
  "rotate-keys",
  {
    ...dataFlags,
    forgetRetired: Flag.Boolean("forget-retired").pipe(
      Flag.withDescription("Also remove keys that no stored value needs; old backups still need them"),
      Flag.withDefault(false)
    ),
    compromised: Flag.Boolean("compromised").pipe(
      Flag.withDescription(
        "The signing keys were disclosed: remove them immediately instead of after their tokens expire"
      ),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("rotateKeys")(function* ({ compromised, config, forgetRetired, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const rotation = yield* Effect.flatMap(OperatorKeys, (keys) => keys.rotate({ compromised, forgetRetired })).pipe(
      Effect.provide(OperatorKeys.layer(settings))
    )
    yield* print(json, rotation, `The vault has a new master key. ${JSON.stringify(rotation)}`)
  })
).pipe(
  Command.withDescription(
    "Give the vault a new master key and the issuer new signing keys; sealed values are not rewritten"
  )
)

/**
 * The operator's commands for an installation. The commands call the running server, or open the data folder directly if no
 * server is running.
 */
export const adminCommand = Command.make("admin").pipe(
  Command.withDescription(
    "Accounts, operators, keys, the policy, left-over states and restored records, without a browser; also works while the server runs"
  ),
  Command.withSubcommands([
    createUser,
    createToken,
    usersCommand,
    setupLink,
    resetPassword,
    addressLink,
    invite,
    poolCommand,
    agentCommand,
    noticesCommand,
    operatorsCommand,
    rotateKeys,
    restoreReviewCommand,
    orphanedStatesCommand,
    reloadCommand
  ])
)
