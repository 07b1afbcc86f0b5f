import { Effect, FileSystem, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { headOf } from "../../../actors/base/audit/AuditHeads.ts"
import { type AuditVerdict, verifyAudit } from "../../../actors/base/audit/AuditVerification.ts"
import { AuditHead } from "../../../schema/records/AuditHead.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { CommandFailed, jsonFlag, misuse, print, refused } from "../Output.ts"
import { dataFlags, settingsOf } from "../SettingFlags.ts"
import { auditKeyOf, installationIdOf, withAuditDatabase } from "./AuditDatabase.ts"
import { exportCommand } from "./ExportCommand.ts"

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

/** Commands that export and verify the audit history. */
export const auditCommand = Command.make("audit").pipe(
  Command.withDescription("Export and verify the operation history"),
  Command.withSubcommands([exportCommand, headCommand, verifyCommand])
)
