import { Effect } from "effect"
import { SvcClient } from "../../client/SvcClient.ts"
import { CommandFailed } from "../Output.ts"
import { password, passwordFlag } from "../Password.ts"
import { Remote } from "../remote/Remote.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { signIn, signOut } from "./SignIn.ts"

/** Flags of a command that requires a person at the terminal. */
export const sessionFlags = { passwordStdin: passwordFlag }

/** Returns the email address of the token's owner. Automations have neither an address nor a password. */
const emailOf = Effect.gen(function* () {
  const { dashboard } = yield* SvcClient
  const { subject } = yield* dashboard.bootstrap({ query: {} })
  if (subject.email !== undefined) return subject.email
  return yield* new CommandFailed({ message: "Only a person may do this, and the token belongs to an automation." })
})

/**
 * Runs a command as the person at the terminal, for actions that the server does not allow with a token. The person's
 * password opens a session, which closes when the command ends. People without a password use the dashboard.
 */
export const asPerson =
  ({ passwordStdin }: { readonly passwordStdin: boolean }) =>
  <A, E, R>(command: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Remote, ({ origin }) =>
      Effect.acquireUseRelease(
        Effect.gen(function* () {
          const email = yield* emailOf
          const given = yield* password(passwordStdin, `Password of ${terminalText(email)} at ${origin}`)
          return yield* signIn(origin, email, given)
        }),
        (session) => Effect.provide(command, SvcClient.layer({ baseUrl: origin, session })),
        (session) => signOut(origin, session)
      )
    )
