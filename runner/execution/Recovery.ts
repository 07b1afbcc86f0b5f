import { join } from "node:path"
import { Effect, Option } from "effect"
import { possiblyCreated, readJournal } from "./ApplyJournal.ts"
import { readApplyRecord } from "./ApplyRecord.ts"
import { endProcessesOfRun } from "./OrphanedProcesses.ts"
import { readLeftState } from "./LeftState.ts"
import { type HeldFolder, holdFolder, isInPlace, readOptional, type RunFileFailed } from "./RunFiles.ts"
import { moduleFolder, removeSecrets, runFolderPaths } from "./RunFolder.ts"
import type { UnfinishedApply } from "./RunOutcome.ts"

const emptyFolder: HeldFolder = {
  read: () => Effect.succeedNone,
  version: () => Effect.undefined
}

/** Finds the state of an apply during which svc stopped. See `ModuleRunner.recover`. */
export const recoverApply = Effect.fnUntraced(function* (
  runFolder: string
): Effect.fn.Return<Option.Option<UnfinishedApply>, RunFileFailed> {
  const paths = runFolderPaths(runFolder)
  yield* endProcessesOfRun(runFolder)
  yield* removeSecrets(paths)
  const found = yield* readApplyRecord(paths.applyRecord)
  if (Option.isNone(found)) return Option.none()
  const record = found.value === "unreadable" ? undefined : found.value

  const left = yield* Effect.scoped(
    Effect.gen(function* () {
      const relative = moduleFolder(record?.modulePath ?? ".")
      const folder = !(yield* isInPlace(paths.sandbox, relative))
        ? emptyFolder
        : yield* holdFolder(join(paths.sandbox, relative)).pipe(Effect.orElseSucceed(() => emptyFolder))
      return yield* readLeftState({ folder, base: record?.base, checkpointPath: paths.checkpoint, printed: [] })
    })
  )
  const journal = yield* readJournal(paths.journal)
  const state = Option.getOrUndefined(left.found)
  const problem = left.problem ?? (record === undefined ? "unreadable" : undefined)
  const isNewer = state !== undefined && (record?.base === undefined || state.state.serial !== record.base.serial)
  return Option.some({
    ...(state === undefined
      ? {}
      : {
          state: state.bytes,
          lineage: state.state.lineage,
          serial: state.state.serial,
          resourceCount: state.state.resourceCount
        }),
    ...(problem === undefined ? {} : { stateProblem: problem }),
    ...(left.rejected === undefined ? {} : { rejectedState: left.rejected }),
    started: journal.started,
    completed: journal.completed,
    possiblyCreated: possiblyCreated(journal, state?.state),
    changedAnything: journal.started.length > 0 || isNewer || problem !== undefined
  })
})

/**
 * Returns true if the disk proves that an apply's tool never started. The journal is opened and the record is written before the
 * tool starts, and everything that the tool does is in the journal. A folder without a journal proves nothing.
 */
export const provesUnstarted = Effect.fnUntraced(function* (
  runFolder: string
): Effect.fn.Return<boolean, RunFileFailed> {
  const paths = runFolderPaths(runFolder)
  const record = yield* readOptional(paths.applyRecord, "read the apply record")
  const checkpoint = yield* readOptional(paths.checkpoint, "read the last state")
  const journal = yield* readOptional(paths.journal, "read the apply journal")
  return Option.isNone(record) && Option.isNone(checkpoint) && Option.exists(journal, ({ length }) => length === 0)
})
