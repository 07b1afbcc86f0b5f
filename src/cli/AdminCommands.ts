import { Effect, Layer, Option, Redacted, Stdio, Stream } from "effect"
import { Command, Flag, Prompt } from "effect/cli"
import { AccessTokens } from "../../actors/account/AccessTokens.ts"
import { Passwords } from "../../actors/account/Passwords.ts"
import { type SetupLink, SetupLinks } from "../../actors/account/SetupLinks.ts"
import { Users } from "../../actors/account/Users.ts"
import { serviceContext } from "../../actors/Command.ts"
import { SigningKeys } from "../../actors/identity/SigningKeys.ts"
import { Vault } from "../../actors/vault/Vault.ts"
import { storage } from "../composition/Storage.ts"
import { formatListenAddress } from "../http/ListenAddress.ts"
import type { Settings } from "../settings/Settings.ts"
import { CommandFailed, jsonFlag, print } from "./Output.ts"
import { dataFlags, settingFlags, settingsOf } from "./SettingFlags.ts"

const maxPasswordBytes = 1024

const emailFlag = Flag.String("email").pipe(Flag.withDescription("E-mail address of the account"))
const passwordFlag = Flag.Boolean("password-stdin").pipe(
  Flag.withDescription("Read the password from standard input instead of asking for it"),
  Flag.withDefault(false)
)

const readPassword = Effect.fn("readPassword")(function* (fromStdin: boolean) {
  if (!fromStdin) return yield* Prompt.run(Prompt.Password({ message: "Password" }))
  const stdio = yield* Stdio.Stdio
  const text = yield* Stream.mkString(Stream.decodeText(stdio.stdin))
  const password = text.replace(/\r?\n$/, "")
  if (password === "" || password.length > maxPasswordBytes) {
    return yield* new CommandFailed({ message: "Standard input held no password of reasonable length." })
  }
  return Redacted.make(password)
})

const linkOf = (settings: Settings, link: SetupLink) => {
  // Without a public origin the listener's address has to do; port 0 has none to show.
  const origin = settings.baseUrl ?? `http://${formatListenAddress(settings.listen)}`
  return `${origin}/setup#${Redacted.value(link.secret)}`
}

const findUser = Effect.fn("findUser")(function* (email: string) {
  const users = yield* Users
  return yield* Effect.flatMap(users.findByEmail(email), (found) =>
    Effect.mapError(
      Effect.fromOption(found),
      () => new CommandFailed({ message: `No account has the address ${email}.` })
    )
  )
})

const createUser = Command.make(
  "create-user",
  { ...dataFlags, email: emailFlag, passwordStdin: passwordFlag, json: jsonFlag },
  Effect.fn("createUser")(function* ({ config, email, json, passwordStdin, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const password = yield* readPassword(passwordStdin)
    const user = yield* Effect.gen(function* () {
      const users = yield* Users
      const passwords = yield* Passwords
      const first = !(yield* users.exist)
      return yield* users.create(serviceContext, {
        email,
        passwordHash: yield* passwords.hash(password),
        isOperator: first
      })
    }).pipe(Effect.provide(storage(settings)))
    yield* print(json, { subject: user.subject, email: user.email }, `Created ${user.email} (${user.subject}).`)
  })
).pipe(Command.withDescription("Create an account with a password"))

const createToken = Command.make(
  "create-token",
  {
    ...dataFlags,
    subject: Flag.String("subject").pipe(Flag.withDescription("Account that the token acts for, usr_...")),
    name: Flag.String("name").pipe(Flag.withDescription("What the token is for")),
    scopes: Flag.String("scopes").pipe(Flag.withDescription("Comma-separated scopes, e.g. read,write")),
    workspace: Flag.optional(
      Flag.String("workspace").pipe(Flag.withDescription("Workspace that the token is bound to, ws_..."))
    ),
    json: jsonFlag
  },
  Effect.fn("createToken")(function* ({ config, json, name, scopes, subject, workspace, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const created = yield* Effect.flatMap(AccessTokens, (tokens) =>
      tokens.create(serviceContext, subject, {
        name,
        scopes: scopes.split(",").map((scope) => scope.trim()),
        workspaceId: Option.getOrUndefined(workspace)
      })
    ).pipe(Effect.provide(storage(settings)))
    const secret = Redacted.value(created.secret)
    yield* print(
      json,
      { token: secret, token_record: created.token },
      `${secret}\nThis is the only time that the token is shown. It expires at ${created.token.expires_at ?? "no time"}.`
    )
  })
).pipe(Command.withDescription("Create a personal access token and print its secret once"))

const printLink = (json: boolean, settings: Settings, link: SetupLink) =>
  print(
    json,
    { setupLink: linkOf(settings, link), expiresAt: link.expiresAt },
    `${linkOf(settings, link)}\nUsable once, until ${link.expiresAt}.`
  )

const originFlags = { listen: settingFlags.listen, baseUrl: settingFlags.baseUrl }

const setupLink = Command.make(
  "setup-link",
  { ...dataFlags, ...originFlags, json: jsonFlag },
  Effect.fn("setupLink")(function* ({ config, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const link = yield* Effect.flatMap(SetupLinks, (links) => links.issueFirst).pipe(Effect.provide(storage(settings)))
    if (Option.isNone(link)) {
      return yield* new CommandFailed({
        message: "An account exists already. Use `svc admin reset-password --email E` for a link to a new password."
      })
    }
    yield* printLink(json, settings, link.value)
  })
).pipe(Command.withDescription("Print a one-time link for the first account"))

const resetPassword = Command.make(
  "reset-password",
  { ...dataFlags, ...originFlags, email: emailFlag, passwordStdin: passwordFlag, json: jsonFlag },
  Effect.fn("resetPassword")(function* ({ config, email, json, passwordStdin, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    if (!passwordStdin) {
      const link = yield* Effect.flatMap(findUser(email), ({ subject }) =>
        Effect.flatMap(SetupLinks, (links) => links.issueReset(subject))
      ).pipe(Effect.provide(storage(settings)))
      return yield* printLink(json, settings, link)
    }
    const password = yield* readPassword(true)
    yield* Effect.gen(function* () {
      const { subject } = yield* findUser(email)
      const users = yield* Users
      const passwords = yield* Passwords
      yield* users.setPassword(serviceContext, subject, yield* passwords.hash(password))
    }).pipe(Effect.provide(storage(settings)))
    yield* print(json, { email, reset: true }, `${email} has the new password; all its sessions have ended.`)
  })
).pipe(Command.withDescription("Print a one-time link to a new password, or set it from standard input"))

const rotateKeys = Command.make(
  "rotate-keys",
  {
    ...dataFlags,
    forgetRetired: Flag.Boolean("forget-retired").pipe(
      Flag.withDescription("Also remove keys that nothing stored needs any more; old backups need them"),
      Flag.withDefault(false)
    ),
    compromised: Flag.Boolean("compromised").pipe(
      Flag.withDescription(
        "The signing keys are known to somebody else: drop them at once instead of after their tokens"
      ),
      Flag.withDefault(false)
    ),
    json: jsonFlag
  },
  Effect.fn("rotateKeys")(function* ({ compromised, config, forgetRetired, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const rotation = yield* Effect.gen(function* () {
      const vault = yield* Vault
      const signing = yield* SigningKeys
      const masterKey = yield* vault.rotateMasterKey({ forgetRetired })
      // Keys that were published moments ago are not put to use yet; the vault's rotation does not depend on that.
      const signingKeys = yield* signing.rotate(serviceContext, { compromised }).pipe(
        Effect.map(({ activeKeyIds }) => ({ rotated: true, activeKeyIds })),
        Effect.catch((error) => Effect.succeed({ rotated: false, reason: error.message }))
      )
      return { ...masterKey, signingKeys }
    }).pipe(Effect.provide(SigningKeys.layer.pipe(Layer.provideMerge(storage(settings)))))
    yield* print(json, rotation, `The vault has a new master key. ${JSON.stringify(rotation)}`)
  })
).pipe(
  Command.withDescription(
    "Give the vault a new master key and the issuer new signing keys; sealed values are not rewritten"
  )
)

/** What an operator does beside the running server. The data folder must not be in use. */
export const adminCommand = Command.make("admin").pipe(
  Command.withDescription("Accounts and keys, without a browser; the server must be stopped"),
  Command.withSubcommands([createUser, createToken, setupLink, resetPassword, rotateKeys])
)
