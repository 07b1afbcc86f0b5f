import process from "node:process"
import { Console, Effect, Runtime, Schema } from "effect"
import { Flag } from "effect/cli"
import { embeddedOnly } from "../settings/EmbeddedOnly.ts"
import { exitCodes } from "./ExitCodes.ts"
import { visibleJson, visibleText } from "../../schema/records/VisibleText.ts"
import { formatted, OutputFormat } from "./OutputFormat.ts"

/** The `--json` flag of every command. */
export const jsonFlag = Flag.Boolean("json").pipe(
  Flag.withDescription("Print one JSON value per line instead of text"),
  Flag.withDefault(false)
)

/** Error if a command failed or was refused. `reported` is true if the failure has already been printed as the result. */
export class CommandFailed extends Schema.TaggedError<CommandFailed>()("CommandFailed", {
  message: Schema.String,
  reported: Schema.optionalKey(Schema.Boolean),
  /** Machine-readable code. Defaults to `failed`. */
  code: Schema.optionalKey(Schema.String),
  exitCode: Schema.optionalKey(Schema.Literals(Object.values(exitCodes)))
}) {
  override get [Runtime.errorExitCode](): number {
    return this.exitCode ?? exitCodes.failed
  }
}

/** Error if the command line, or a file that it refers to, is invalid. */
export const misuse = { code: "usage", exitCode: exitCodes.usage } as const

/** Raised if a command succeeded and printed a plan that needs a decision. */
export class PlanWaits extends Schema.TaggedError<PlanWaits>()("PlanWaits", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = exitCodes.changes
}

/** Formats a value as one line of JSON, with invisible characters escaped. */
export const jsonLine = (value: unknown): string => visibleJson(JSON.stringify(value))

/** The error if standard output did not accept the entire result. Its reader has received at most a part of the result. */
export class OutputFailed extends Schema.TaggedError<OutputFailed>()("OutputFailed", {
  message: Schema.String,
  /** The system's error code, such as `ENOSPC`. */
  errno: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = exitCodes.failed
}

/** Prints a line to standard output. Fails unless the entire line was written. */
export const printLine = (text: string): Effect.Effect<void, OutputFailed> =>
  Effect.catchDefect(Console.log(text), (defect) =>
    defect instanceof OutputFailed ? Effect.fail(defect) : Effect.die(defect)
  )

/** Prints the result of a command with invisible characters escaped: the value if `--json` is set, otherwise the text. */
export const print = (json: boolean, value: unknown, text: string): Effect.Effect<void, OutputFailed> =>
  json ? Effect.flatMap(OutputFormat, (format) => printLine(formatted(format, value))) : printLine(visibleText(text))

/** Prints a line about the progress of a long command. Prints nothing unless standard error is a terminal. */
export const progress = (line: string): Effect.Effect<void> =>
  Effect.sync(() => void (process.stderr.isTTY && process.stderr.write(`${line} ...\n`)))

/** Prints the result as JSON if the selected format might omit a secret, because the secret is printed only once. */
const wholly = <E>(printed: Effect.Effect<void, E>) =>
  Effect.flatMap(OutputFormat, (format) =>
    Effect.provideService(printed, OutputFormat, format === "name" ? "json" : format)
  )

/**
 * Prints a secret that is shown only once. If the secret cannot be written, runs `withdraw` to invalidate the secret, and
 * fails.
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

/** If the database is in PostgreSQL, refuses a command that works only on the file of the embedded database. */
export const requireEmbedded = ({ databaseUrl }: { readonly databaseUrl?: unknown }) =>
  databaseUrl === undefined ? Effect.void : Effect.fail(new CommandFailed({ ...misuse, message: embeddedOnly }))

/** Creates the error for a command that was refused and has already printed the refusal as its result. */
export const refused = (message: string) => new CommandFailed({ message, reported: true })
