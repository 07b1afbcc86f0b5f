import { Console, type Effect, Runtime, Schema } from "effect"
import { Flag } from "effect/cli"
import { visibleJson, visibleText } from "../../schema/records/VisibleText.ts"

/** The `--json` flag that every command has. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON value a line instead of text"),
  Flag.withDefault(false)
)

/** A command that was refused or failed: exit code 1. `reported` when its result has already been printed. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  reported: Schema.optionalKey(Schema.Boolean)
}) {
  override readonly [Runtime.errorExitCode] = 1
}

/** A command that did its work, printed the result and left a plan waiting for approval: exit code 3. */
export class PlanWaits extends Schema.TaggedError<PlanWaits>()("PlanWaits", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 3
}

/** One line of JSON, in which a terminal shows invisible characters as escapes. */
export const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value))

/** Prints the result of a command, with invisible characters spelled out: for programs with `--json`, otherwise for people. */
export const print = (json: boolean, value: unknown, text: string): Effect.Effect<void> =>
  Console.log(json ? jsonLine(value) : visibleText(text))

/** Fails a command whose printed result is the refusal. */
export const refused = (message: string) => new CommandFailed({ message, reported: true })
