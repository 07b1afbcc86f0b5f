import { Effect, Option } from "effect"
import { Flag, Prompt, TerminalCapabilities } from "effect/cli"
import { CommandFailed, misuse } from "../Output.ts"
import { isTypedName, terminalText } from "./TerminalText.ts"

/** Flag that confirms an irreversible command. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withDescription("Skip the confirmation prompt; required without a terminal"),
  Flag.withDefault(false)
)

interface Asking {
  readonly yes: boolean
  readonly json: boolean
}

/** Asks for confirmation of an irreversible action. `consequence` must be a full sentence. */
export const agreed = Effect.fn("agreed")(function* ({ json, yes }: Asking, consequence: string) {
  if (yes) return
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  if (json || !canPrompt) {
    return yield* new CommandFailed({
      ...misuse,
      message: `${consequence} Without a terminal nobody can be asked: repeat the command with --yes.`
    })
  }
  if (yield* Prompt.run(Prompt.Confirm({ message: `${consequence} Go on?`, initial: false }))) return
  return yield* new CommandFailed({ message: "Nothing was changed." })
})

export const confirmFlag = Flag.optional(
  Flag.String("confirm").pipe(
    Flag.withDescription("Name of the Capsule, typed as a confirmation; default: prompt"),
    Flag.withMetavar("name")
  )
)

/** Asks the person to type the name of a Capsule, and returns the name. `consequence` must be a full sentence. */
export const typedName = Effect.fn("typedName")(function* (
  name: string,
  given: Option.Option<string>,
  consequence: string
) {
  const { canPrompt } = yield* TerminalCapabilities.TerminalCapabilities
  const typed = Option.isSome(given)
    ? given.value
    : canPrompt
      ? yield* Prompt.run(Prompt.String({ message: `${consequence} Type ${terminalText(name)} to continue` }))
      : ""
  if (isTypedName(typed, name)) return name
  return yield* new CommandFailed({
    ...misuse,
    message: `Nothing was changed. ${consequence} Confirm that with --confirm ${terminalText(name)}.`
  })
})
