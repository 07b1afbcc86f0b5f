import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option, Schema, type Scope } from "effect"
import { JobKind, RunClaim } from "../../schema/agent/AgentJob.ts"
import {
  promptFileOperation,
  readOptional,
  removeTree,
  replaceDurably,
  type RunFileFailed
} from "../execution/RunFiles.ts"
import { runFolderPaths } from "../execution/RunFolder.ts"
import { takeFileLock } from "./FileLock.ts"
import { SealedFile } from "./SealedFile.ts"

/** The sealed files of a finished Run. */
export const SealedResult = Schema.Struct({
  outcome: SealedFile,
  planFile: Schema.optionalKey(SealedFile),
  state: Schema.optionalKey(SealedFile),
  build: Schema.optionalKey(SealedFile)
})
export type SealedResult = typeof SealedResult.Type

/**
 * The progress of a Run.
 *
 * - `accepted`: nothing is sealed yet
 * - `started`: only in folders from earlier releases; the run folder records the possible start of an apply's tool
 * - `ended`: the result is sealed and ready to send; this record survives a power failure
 */
export const RunStage = Schema.Union([
  Schema.Struct({ stage: Schema.Literals(["accepted", "started"]) }),
  Schema.Struct({ stage: Schema.Literal("ended"), result: SealedResult })
])
export type RunStage = typeof RunStage.Type

const RunRecord = Schema.Struct({ version: Schema.Literal(1), ...RunClaim.fields, kind: JobKind, at: RunStage })
type RunRecord = typeof RunRecord.Type
const RecordText = Schema.fromJsonString(RunRecord)
const encode = Schema.encodeSync(RecordText)
const decode = Schema.decodeOption(RecordText)

/** The agent's files for one execution, in a folder that only this process uses. */
export interface AgentRunFolder {
  readonly claim: RunClaim
  readonly kind: JobKind
  /** The run folder of the runner. */
  readonly runFolder: string
  readonly spool: string
  readonly sealed: (name: string) => string
  readonly found: RunStage
  /**
   * Records that the Run is about to be accepted. A power failure may lose this record. In that case no agent reports the
   * Run, and the server gives up the Run.
   */
  readonly accept: Effect.Effect<void, RunFileFailed>
  /** Like `accept`, but survives a power failure. Called for an apply before its tool may start. */
  readonly keep: Effect.Effect<void, RunFileFailed>
  readonly end: (result: SealedResult) => Effect.Effect<void, RunFileFailed>
  readonly remove: Effect.Effect<void, RunFileFailed>
}

const roomOf = (folder: string, { at, fence, kind, runId }: RunRecord): AgentRunFolder => {
  const claim = { runId, fence }
  const record = join(folder, "record.json")
  const doing = "note how far a Run is"
  const text = (stage: RunStage) => encode({ version: 1, ...claim, kind, at: stage })
  return {
    claim,
    kind,
    runFolder: join(folder, "run"),
    spool: join(folder, "spool"),
    sealed: (name) => join(folder, "sealed", name),
    found: at,
    accept: promptFileOperation(doing, () => writeFileSync(record, text({ stage: "accepted" }), { mode: 0o600 })),
    keep: replaceDurably(record, text({ stage: "accepted" }), doing),
    end: (result) => replaceDurably(record, text({ stage: "ended", result }), doing),
    remove: removeTree(folder, "remove the folder of a Run")
  }
}

export const roomName = ({ fence, runId }: RunClaim): string => `${runId}-${fence}`

const decodeClaim = Schema.decodeUnknownOption(RunClaim)

const claimNamed = (name: string): Option.Option<RunClaim> => {
  const dash = name.lastIndexOf("-")
  return decodeClaim({ runId: name.slice(0, dash), fence: Number(name.slice(dash + 1)) }).pipe(
    Option.filter((claim) => roomName(claim) === name)
  )
}

const lockIn = (folder: string) => takeFileLock(join(folder, "lock"))

/**
 * Creates the folder for an offered Run. The Run has no owner before `accept`. Returns `undefined` if this agent already has
 * a folder for the Run.
 */
export const makeRoom = Effect.fnUntraced(function* (
  runs: string,
  claim: RunClaim,
  kind: JobKind
): Effect.fn.Return<AgentRunFolder | undefined, RunFileFailed, Scope.Scope> {
  const folder = join(runs, roomName(claim))
  yield* promptFileOperation("make the folder of a Run", () => mkdirSync(folder, { recursive: true, mode: 0o700 }))
  if (!(yield* lockIn(folder))) return undefined
  return roomOf(folder, { version: 1, ...claim, kind, at: { stage: "accepted" } })
})

/**
 * Returns true if the run folder proves that an apply's tool may have started. Only an apply has these two files, and its
 * tool does not start before both exist.
 */
const holdsApply = Effect.fnUntraced(function* (folder: string) {
  const { applyRecord, journal } = runFolderPaths(join(folder, "run"))
  const found = yield* Effect.forEach([applyRecord, journal], (path) => readOptional(path, "read what an apply noted"))
  return found.some(Option.isSome)
})

/**
 * Takes over a folder from another process. Returns `none` while another process uses the folder, and `unreadable` if its
 * contents cannot be read. An unreadable folder is kept for a person to inspect.
 */
export const adoptRoom = Effect.fnUntraced(function* (
  runs: string,
  name: string
): Effect.fn.Return<Option.Option<AgentRunFolder | "unreadable">, RunFileFailed, Scope.Scope> {
  const folder = join(runs, name)
  if (!(yield* lockIn(folder))) return Option.none()
  const bytes = yield* readOptional(join(folder, "record.json"), "read how far a Run is")
  if (Option.isNone(bytes) || bytes.value.length === 0) {
    if (yield* holdsApply(folder)) {
      // Keep the files that an apply's tool wrote, regardless of the record's contents, because they exist nowhere else. The
      // server decides which files it needs.
      const left = (claim: RunClaim) =>
        roomOf(folder, { version: 1, ...claim, kind: "apply", at: { stage: "accepted" } })
      return Option.some(Option.match(claimNamed(name), { onNone: () => "unreadable" as const, onSome: left }))
    }
    // No tool was started: the Run was never accepted, or a power failure lost the record of its acceptance.
    yield* removeTree(folder, "remove the folder of a Run")
    return Option.none()
  }
  const record = decode(new TextDecoder().decode(bytes.value))
  return Option.some(Option.isNone(record) ? ("unreadable" as const) : roomOf(folder, record.value))
})
