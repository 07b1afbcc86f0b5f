import { Console, Effect, Runtime, Schema } from "effect"
import { Flag } from "effect/cli"
import { exitCodes } from "./ExitCodes.ts"
import { visibleJson, visibleText } from "../../schema/records/VisibleText.ts"
import { formatted, OutputFormat } from "./OutputFormat.ts"

/** The `--json` flag that every command has. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON value a line instead of text"),
  Flag.withDefault(false)
)

/** A command that was refused or failed. `reported` when its result has already been printed. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  reported: Schema.optionalKey(Schema.Boolean),
  /** For programs; `failed` if omitted. */
  code: Schema.optionalKey(Schema.String),
  exitCode: Schema.optionalKey(Schema.Literals(Object.values(exitCodes)))
}) {
  override get [Runtime.errorExitCode](): number {
    return this.exitCode ?? exitCodes.failed
  }
}

/** The command line, or a file that it names, is not valid. */
export const misuse = { code: "usage", exitCode: exitCodes.usage } as const

/** A command that did its work, printed the result and left something to decide about. */
export class PlanWaits extends Schema.TaggedError<PlanWaits>()("PlanWaits", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = exitCodes.changes
}

/** One line of JSON, in which a terminal shows invisible characters as escapes. */
export const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value))

/** Standard output did not take the result, so whoever reads it has part of it at most. */
export class OutputFailed extends Schema.TaggedError<OutputFailed>()("OutputFailed", {
  message: Schema.String,
  /** The system's name of the error, such as `ENOSPC`. */
  errno: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = exitCodes.failed
}

/** Prints to standard output, and fails unless everything was written. */
export const printLine = (text: string): Effect.Effect<void, OutputFailed> =>
  Effect.catchDefect(Console.log(text), (defect) =>
    defect instanceof OutputFailed ? Effect.fail(defect) : Effect.die(defect)
  )

/** Prints the result of a command, with invisible characters spelled out: for programs with `--json`, otherwise for people. */
export const print = (json: boolean, value: unknown, text: string): Effect.Effect<void, OutputFailed> =>
  json ? Effect.flatMap(OutputFormat, (format) => printLine(formatted(format, value))) : printLine(visibleText(text))

/** A secret is printed once, so a format that leaves it out counts as JSON. */
const wholly = <E>(printed: Effect.Effect<void, E>) =>
  Effect.flatMap(OutputFormat, (format) =>
    Effect.provideService(printed, OutputFormat, format === "name" ? "json" : format)
  )

/**
 * Prints a secret that is shown only once. If it cannot be written, nobody has read it: `withdraw` ends it, and the command fails.
 */
export const printSecret = <E, R>(
  printed: Effect.Effect<void, OutputFailed>,
  what: string,
  withdraw: Effect.Effect<unknown, E, R>
) =>
  wholly(printed).pipe(
    Effect.catchTag("OutputFailed", ({ message }) =>
      withdraw.pipe(
        Effect.match({
          onSuccess: () => `${message} Nobody has seen the ${what}, so it was withdrawn. Run the command again.`,
          onFailure: () => `${message} Nobody has seen the ${what}, which counts: end it, and run the command again.`
        }),
        Effect.flatMap((text) => new CommandFailed({ message: text }))
      )
    )
  )

/** Fails a command whose printed result is the refusal. */
export const refused = (message: string) => new CommandFailed({ message, reported: true })
