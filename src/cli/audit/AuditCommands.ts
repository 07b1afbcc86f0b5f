import { Effect, FileSystem, Option, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { exportAll, exportChain } from "../../../actors/base/audit/AuditExport.ts"
import { headOf } from "../../../actors/base/audit/AuditHeads.ts"
import { type AuditVerdict, verifyAudit } from "../../../actors/base/audit/AuditVerification.ts"
import { AuditHead } from "../../../schema/records/AuditHead.ts"
import { RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { AskedTime } from "../../../schema/records/Primitives.ts"
import { CommandFailed, jsonFlag, misuse, print, printLine, refused } from "../Output.ts"
import { dataFlags, settingsOf } from "../SettingFlags.ts"
import { intFlag } from "../ValueFlags.ts"
import { auditKeyOf, installationIdOf, withAuditDatabase } from "./AuditDatabase.ts"

const HeadJson = Schema.fromJsonString(AuditHead)

const named = (workspaceId: WorkspaceId | null) => workspaceId ?? "installation"

const headCommand = Command.make(
  "head",
  {
    ...dataFlags,
    workspace: Flag.optional(
      Flag.String("workspace").pipe(
        Flag.withSchema(WorkspaceId),
        Flag.withDescription("Only the chain of this Workspace")
      )
    ),
    json: jsonFlag
  },
  Effect.fn("audit.head")(function* ({ config, json, workspace, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const head = yield* withAuditDatabase(
      settings,
      Effect.gen(function* () {
        const key = yield* auditKeyOf(settings)
        return yield* headOf(key, yield* installationIdOf, Option.getOrUndefined(workspace))
      })
    )
    yield* print(json, head, yield* Effect.orDie(Schema.encodeEffect(HeadJson)(head)))
  })
).pipe(
  Command.withDescription(
    "Print the heads of the audit chains as a small JSON document; store it where this machine's users cannot change it"
  )
)

const formatted = ({ chains, faults }: AuditVerdict): string =>
  [
    ...chains.map(({ position, prunedPosition, workspaceId }) => {
      const from = prunedPosition === 0 ? "" : `, after retention removed those up to ${prunedPosition}`
      return `${named(workspaceId)}  ${position - prunedPosition} events up to position ${position}${from}`
    }),
    ...faults.map(({ eventId, message, position, workspaceId }) => {
      const place = [
        ...(position === undefined ? [] : [`position ${position}`]),
        ...(eventId === undefined ? [] : [eventId])
      ]
      return `BROKEN  ${named(workspaceId)}${place.length === 0 ? "" : ` (${place.join(", ")})`}: ${message}`
    }),
    faults.length === 0 ? "No audit event has been changed." : "See docs/operations/audit.md."
  ].join("\n")

/** Reads the chain head from a file written by `svc audit head` or the API. */
const readHead = Effect.fn("readHead")(function* (file: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const unreadable = () =>
    new CommandFailed({
      ...misuse,
      message: `${file} contains no head of audit events, as \`svc audit head\` prints it.`
    })
  const text = yield* Effect.mapError(fileSystem.readFileString(file), unreadable)
  return yield* Effect.mapError(Schema.decodeEffect(HeadJson)(text), unreadable)
})

const verifyCommand = Command.make(
  "verify",
  {
    ...dataFlags,
    head: Flag.optional(
      Flag.Path("head").pipe(Flag.withDescription("File with a previously exported head"), Flag.withMetavar("path"))
    ),
    json: jsonFlag
  },
  Effect.fn("audit.verify")(function* ({ config, head, json, ...flags }) {
    const settings = yield* settingsOf(flags, config)
    const kept = Option.isSome(head) ? yield* readHead(head.value) : undefined
    const verdict = yield* withAuditDatabase(
      settings,
      Effect.gen(function* () {
        const key = yield* auditKeyOf(settings)
        const installationId = yield* installationIdOf
        return yield* verifyAudit(key, kept === undefined ? undefined : { head: kept, installationId })
      })
    )
    const isWhole = verdict.faults.length === 0
    yield* print(json, { verified: isWhole, ...verdict }, formatted(verdict))
    if (!isWhole) return yield* refused("The history is not what the server wrote.")
  })
).pipe(
  Command.withDescription(
    "Check that no audit event was changed, removed or inserted, also while the server runs; otherwise prints the first broken position and exits with 1"
  )
)

const filterFlag = (name: string, description: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description)))

const exportCommand = Command.make(
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
    action: filterFlag("action", "Only this action, e.g. run.approve"),
    actor: filterFlag("actor", "Only actions of this subject"),
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

/** Commands that export and verify the audit history. */
export const auditCommand = Command.make("audit").pipe(
  Command.withDescription("Export and verify the operation history"),
  Command.withSubcommands([exportCommand, headCommand, verifyCommand])
)
