import { Cause, Console, Effect, Exit, Layer, Option, PlatformError, Ref, type Runtime, Terminal } from "effect"
import { CliError, CliOutput, Command, type HelpDoc } from "effect/cli"
import { isStorageFull, storageFull, storageFullAtStart } from "../../schema/errors/StorageFull.ts"
import { logging } from "../observability/Logging.ts"
import { version } from "../Version.ts"
import { SettingsRefused } from "../settings/SettingsRefused.ts"
import { CommandTree } from "./completion/CommandTree.ts"
import { exitCodeOf, exitCodes, inToolTerms, type StopSignal, stoppedExitCodes } from "./ExitCodes.ts"
import { CommandFailed, jsonLine, OutputFailed, PlanWaits } from "./Output.ts"
import { OutputFormat, withFormat } from "./OutputFormat.ts"
import { presentation } from "./Presentation.ts"
import { terminalText } from "./remote/TerminalText.ts"

/** Describes a failed operation on a file or folder. */
const fileText = ({ message, reason }: PlatformError.PlatformError): string => {
  const place = "pathOrDescriptor" in reason ? reason.pathOrDescriptor : undefined
  if (place === undefined) return message
  return reason._tag === "NotFound"
    ? `There is no file or folder ${place}. Check the path.`
    : `${place} cannot be used (${reason._tag}). Check its path and permissions.`
}

const messageOf = (error: unknown): string => {
  if (isStorageFull(error)) return storageFullAtStart
  if (error instanceof PlatformError.PlatformError) return fileText(error)
  return error instanceof Error ? error.message : String(error)
}

const codeOf = (error: unknown): string => {
  if (isStorageFull(error)) return storageFull.code
  if (error instanceof SettingsRefused) return "invalid_settings"
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : "failed"
}

/**
 * Returns the failure that ended a command. The type of the failure is unknown, because printing can fail even in a command
 * that declares no failures.
 */
const failureOf = (cause: Cause.Cause<unknown>): unknown => {
  const unwritten = cause.reasons.find((reason) => Cause.isDieReason(reason) && reason.defect instanceof OutputFailed)
  return (
    cause.reasons.find(Cause.isFailReason)?.error ??
    (unwritten !== undefined && Cause.isDieReason(unwritten) ? unwritten.defect : undefined)
  )
}

/**
 * Reports, on standard error, why a command failed. Does nothing if the command has already printed the failure as its
 * result.
 */
const report = (cause: Cause.Cause<unknown>, json: boolean): Effect.Effect<void> => {
  if (Cause.hasInterruptsOnly(cause)) return Effect.void
  // Report a full disk explicitly. A full disk can end any step with a defect, and the defect's stack trace and SQL would
  // not help the user.
  const full = cause.reasons.find((reason) => Cause.isDieReason(reason) && isStorageFull(reason.defect))
  const failure = failureOf(cause) ?? (full !== undefined && Cause.isDieReason(full) ? full.defect : undefined)
  const isReported =
    failure instanceof PlanWaits ||
    Terminal.isQuitError(failure) ||
    (failure instanceof CommandFailed && failure.reported === true) ||
    // The program that reads from the pipe has closed it, so no more output is needed.
    (failure instanceof OutputFailed && failure.errno === "EPIPE")
  if (CliError.isCliError(failure) || isReported) return Effect.void
  if (failure === undefined) return Console.error(Cause.pretty(cause))
  return Console.error(
    json
      ? jsonLine({ error: { code: codeOf(failure), message: messageOf(failure) } })
      : `svc: ${messageOf(failure).split("\n").map(terminalText).join("\n")}`
  )
}

/** Creates a program that runs command lines with the commands below `root`. The arguments do not include the program's name. */
export const commandLine = <const Name extends string, Input, E, R, Context>(
  root: Command.Command<Name, Input, Context, E, R>
) => {
  const runRoot = Command.runWith(root, { version })
  const tree = Effect.map(Effect.context<R | Command.Environment>(), (services) => ({
    help: Effect.fnUntraced(function* (path: ReadonlyArray<string>) {
      const shown = yield* Ref.make<HelpDoc.HelpDoc | undefined>(undefined)
      const presenter = CliOutput.layerPresenter({
        present: (event) => ("helpDoc" in event ? Ref.set(shown, event.helpDoc) : Effect.void)
      })
      yield* Effect.exit(runRoot([...path, "--help"]).pipe(Effect.provide(presenter), Effect.provideContext(services)))
      return yield* Ref.get(shown)
    })
  }))
  return (given: ReadonlyArray<string>) => {
    const { args, format } = withFormat(given)
    const json = args.includes("--json")
    return runRoot(args).pipe(
      Effect.provideService(
        OutputFormat,
        Option.getOrElse(format, () => "json" as const)
      ),
      Effect.provideServiceEffect(CommandTree, tree),
      Effect.tapCause((cause) => report(cause, json)),
      // Log to standard error, because standard output is reserved for results. A server uses its own log settings.
      Effect.provide(Layer.merge(logging({ level: "warn", format: "pretty" }), presentation(json)))
    )
  }
}

/** Returns true if the command runs until it is stopped. */
export const isServing = ([name, next]: ReadonlyArray<string>) =>
  name === "serve" || (name === "agent" && next !== "doctor")

/** Ends the process with the command's exit code. A server that was asked to stop exits successfully. */
export const teardown =
  (args: ReadonlyArray<string>, signal: () => StopSignal = () => "SIGINT"): Runtime.Teardown =>
  (exit, end) => {
    const onExit = (code: number) => end(inToolTerms(args, code))
    if (Exit.isSuccess(exit)) return onExit(exitCodes.done)
    if (Cause.hasInterruptsOnly(exit.cause)) {
      return onExit(isServing(args) ? exitCodes.done : stoppedExitCodes[signal()])
    }
    onExit(exitCodeOf(failureOf(exit.cause)))
  }
