import { intFlag } from "../ValueFlags.ts"
import { Effect, FileSystem, Option, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { exportAll, exportChain } from "../../../actors/base/audit/AuditExport.ts"
import { RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { AskedTime } from "../../../schema/records/Primitives.ts"
import { CommandFailed, jsonFlag, misuse, print, printLine } from "../Output.ts"
import { dataFlags, settingsOf } from "../SettingFlags.ts"
import { withAuditDatabase } from "./AuditDatabase.ts"

const asked = (name: string, description: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description)))

export const exportCommand = Command.make(
  "export",
  {
    ...dataFlags,
    workspace: Flag.optional(
      Flag.String("workspace").pipe(
        Flag.withSchema(WorkspaceId),
        Flag.withDescription(
          "Only the events of this Workspace; default: the events of the installation and of every Workspace"
        )
      )
    ),
    after: Flag.optional(
      intFlag("after", 0).pipe(
        Flag.withDescription("With --workspace: continue after this position, which the last line contains")
      )
    ),
    action: asked("action", "Only this action, e.g. run.approve"),
    actor: asked("actor", "Only actions of this subject"),
    run: Flag.optional(
      Flag.String("run").pipe(Flag.withSchema(RunId), Flag.withDescription("Only events about this Run"))
    ),
    since: Flag.optional(
      Flag.String("since").pipe(
        Flag.withSchema(AskedTime),
        Flag.withDescription("Only events from this time on, UTC, e.g. 2026-01-31T00:00:00Z")
      )
    ),
    until: Flag.optional(
      Flag.String("until").pipe(Flag.withSchema(AskedTime), Flag.withDescription("Before this time"))
    ),
    output: Flag.optional(
      Flag.Path("output").pipe(
        Flag.withDescription("New file for the lines; default: standard output"),
        Flag.withMetavar("path")
      )
    ),
    json: jsonFlag
  },
  Effect.fn("audit.export")(function* ({
    action,
    actor,
    after,
    config,
    json,
    output,
    run,
    since,
    until,
    workspace,
    ...flags
  }) {
    const settings = yield* settingsOf(flags, config)
    const fileSystem = yield* FileSystem.FileSystem
    if (Option.isSome(after) && Option.isNone(workspace)) {
      return yield* new CommandFailed({
        ...misuse,
        message: "Every Workspace counts its own positions: --after needs --workspace."
      })
    }
    const filter = {
      action: Option.getOrUndefined(action),
      actor: Option.getOrUndefined(actor),
      runId: Option.getOrUndefined(run),
      since: Option.getOrUndefined(since),
      until: Option.getOrUndefined(until)
    }
    let events = 0
    const lines = (
      Option.isSome(workspace)
        ? exportChain(
            workspace.value,
            filter,
            Option.getOrElse(after, () => 0)
          )
        : exportAll(filter)
    ).pipe(Stream.tap(() => Effect.sync(() => void events++)))
    if (Option.isNone(output)) {
      const printed = Stream.runForEachArray(lines, (page) => printLine(page.join("").trimEnd()))
      return yield* withAuditDatabase(settings, printed)
    }
    const file = output.value
    const written = Stream.run(Stream.encodeText(lines), fileSystem.sink(file, { flag: "wx", mode: 0o600 })).pipe(
      Effect.catchReason(
        "PlatformError",
        "AlreadyExists",
        () =>
          new CommandFailed({ ...misuse, message: `${file} exists already. Name a new file: nothing is overwritten.` })
      )
    )
    yield* withAuditDatabase(settings, written)
    yield* print(json, { file, events }, `Wrote ${events} audit events to ${file}.`)
  })
).pipe(
  Command.withDescription(
    "Write audit events as JSON lines, oldest first per Workspace; also works while the server runs"
  )
)
