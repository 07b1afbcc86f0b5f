import { Config, Effect, Option, Redacted } from "effect"
import { Command, Flag, Prompt, TerminalCapabilities } from "effect/cli"
import type { InvitationPreview } from "../../../schema/records/Invitation.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { clientEnv } from "../../settings/ClientSettings.ts"
import { serverOrigin } from "../login/DeviceLogin.ts"
import { CommandFailed, jsonFlag, misuse, print } from "../Output.ts"
import { formatFlag } from "../OutputFormat.ts"
import { newPassword, password, passwordFlag } from "../Password.ts"
import { inputText } from "../remote/InputText.ts"
import { inWords } from "../remote/RemoteFailed.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { signIn, signOut, signUp } from "../session/SignIn.ts"

const text = (name: string, description: string, metavar: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar(metavar)))

const flags = {
  json: jsonFlag,
  format: formatFlag,
  passwordStdin: passwordFlag,
  linkFile: text("link-file", `File with the link; default: SVC_INVITATION, or a prompt`, "path"),
  email: text("email", "Address of your account; optional if the invitation contains it", "address"),
  newAccount: Flag.Boolean("new-account").pipe(
    Flag.withDescription("Create an account on the server; default: sign in to your account"),
    Flag.withDefault(false)
  ),
  name: text("name", "Display name of a new account", "name")
}

/** Reads the link from a file or a prompt. The link is a secret, because anyone who has the link can use it. */
const linkOf = Effect.fnUntraced(function* (file: Option.Option<string>) {
  if (Option.isSome(file)) return Redacted.make((yield* inputText(file.value)).trim())
  const fromEnvironment = yield* Config.option(Config.Redacted(clientEnv.invitation))
  if (Option.isSome(fromEnvironment)) return fromEnvironment.value
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (canPrompt) return yield* Prompt.run(Prompt.Password({ message: "Link of the invitation" }))
  return yield* new CommandFailed({
    ...misuse,
    message: `There is no terminal to ask for the link at. Name a file with --link-file, or give it in ${clientEnv.invitation}.`
  })
})

/** Splits a link into the server's address and the secret. */
const partsOf = Effect.fnUntraced(function* (link: Redacted.Redacted) {
  const given = Redacted.value(link)
  const url = URL.canParse(given) ? new URL(given) : undefined
  const secret = url?.hash.slice(1)
  if (url === undefined || url.pathname !== "/join" || secret === undefined || secret === "") {
    return yield* new CommandFailed({
      ...misuse,
      message:
        "This is no link of an invitation. Expected https://SERVER/join# with the secret behind it, as it was sent."
    })
  }
  return { origin: yield* serverOrigin(url.origin), secret: Redacted.make(secret) }
})

const emailOf = Effect.fnUntraced(function* (given: Option.Option<string>, preview: InvitationPreview) {
  const known = Option.orElse(given, () => Option.fromUndefinedOr(preview.email))
  if (Option.isSome(known)) return known.value
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (canPrompt) return yield* Prompt.run(Prompt.String({ message: "Email address of your account" }))
  return yield* new CommandFailed({
    ...misuse,
    message: "The invitation names nobody. Name the address of your account with --email."
  })
})

export const acceptCommand = Command.make(
  "accept",
  flags,
  Effect.fn("invite accept")(function* (given) {
    const { origin, secret } = yield* Effect.flatMap(linkOf(given.linkFile), partsOf)
    const body = { payload: { secret: Redacted.value(secret) } }
    const join = Effect.gen(function* () {
      const { invitations } = yield* SvcClient
      const { invitation: preview } = yield* invitations.inspect(body)
      const email = yield* emailOf(given.email, preview)
      const asked = `Password of ${terminalText(email)} at ${origin}`
      if (given.newAccount) {
        const displayName = Option.getOrUndefined(given.name)
        const session = yield* signUp(origin, {
          secret,
          password: yield* newPassword(given.passwordStdin),
          email,
          displayName
        })
        yield* signOut(origin, session)
      } else {
        yield* Effect.acquireUseRelease(
          Effect.flatMap(password(given.passwordStdin, asked), (typed) => signIn(origin, email, typed)),
          (session) =>
            Effect.gen(function* () {
              const mine = yield* SvcClient
              yield* mine.invitations.accept(body)
            }).pipe(Effect.provide(SvcClient.layer({ baseUrl: origin, session }))),
          (session) => signOut(origin, session)
        )
      }
      const { role, workspace } = preview
      yield* print(
        given.json,
        { server: origin, email, workspace, role },
        [
          workspace === undefined
            ? `You have an account at ${origin} now.`
            : `You are in ${workspace.handle} now${role === undefined ? "" : `, as ${role}`}.`,
          `Log in with \`svc login ${origin}\`.`
        ].join(" ")
      )
    })
    yield* join.pipe(inWords(origin), Effect.provide(SvcClient.layer({ baseUrl: origin })))
  })
).pipe(
  Command.withDescription("Accept an invitation, with your account or a new account"),
  Command.withExamples([
    {
      command:
        "svc invite accept --link-file link.txt --new-account --email bob@example.com --password-stdin < password.txt",
      description: "Without a terminal"
    }
  ])
)
