import { Effect, Redacted, Stdio, Stream } from "effect"
import { Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { CommandFailed, misuse } from "./Output.ts"

const maxPasswordBytes = 1024

/** A password is never passed as an argument, because other users of the machine can read arguments. */
export const passwordFlag = Flag.Boolean("password-stdin").pipe(
  Flag.withDescription("Read the password from standard input instead of prompting for it"),
  Flag.withDefault(false)
)

const ask = Effect.fnUntraced(function* (message: string) {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (canPrompt) return yield* Prompt.run(Prompt.Password({ message }))
  return yield* new CommandFailed({
    ...misuse,
    message: "There is no terminal to ask for the password at. Give it on standard input, with --password-stdin."
  })
})

const fromStandardInput = Effect.gen(function* () {
  const stdio = yield* Stdio.Stdio
  const text = yield* Stream.mkString(Stream.decodeText(stdio.stdin))
  const password = text.replace(/\r?\n$/, "")
  if (password === "" || password.length > maxPasswordBytes) {
    return yield* new CommandFailed({ ...misuse, message: "Standard input held no password of reasonable length." })
  }
  return Redacted.make(password)
})

/** Reads the password of an existing account. */
export const password = Effect.fn("password")(function* (fromStdin: boolean, message: string) {
  return yield* fromStdin ? fromStandardInput : ask(message)
})

/** Reads a new password. At a prompt, the person enters the password twice. */
export const newPassword = Effect.fn("newPassword")(function* (fromStdin: boolean) {
  if (fromStdin) return yield* fromStandardInput
  const given = yield* ask("Password")
  const again = yield* ask("The same password again")
  if (Redacted.value(given) === Redacted.value(again)) return given
  return yield* new CommandFailed({ message: "The two passwords differ. Nothing was changed; repeat the command." })
})
