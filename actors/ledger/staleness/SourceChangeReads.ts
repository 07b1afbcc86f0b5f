import { Context, Effect, Layer } from "effect"
import { isPartOf } from "../../../runner/scan/ModuleChange.ts"
import { moduleFootprint } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { RunId } from "../../../schema/records/Ids.ts"
import { mostChangedFiles, type SourceChanges } from "../../../schema/records/SourceChanges.ts"
import { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { RunRow } from "../run/RunRow.ts"
import { CommitDescriptionJson, SnapshotRow } from "../source/SourceRow.ts"
import { StateVersionRow } from "../state/StateVersionRow.ts"

/** Compares the files of a Run's commit, by digest, with those of the last apply before the Run. */
export class SourceChangeReads extends Context.Service<
  SourceChangeReads,
  { readonly read: (id: RunId) => Effect.Effect<SourceChanges, ApiError> }
>()("svc/actors/ledger/staleness/SourceChangeReads") {
  static readonly layer = Layer.effect(
    SourceChangeReads,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const snapshots = yield* SnapshotStore
      const scanner = yield* ModuleScanner

      const snapshotOf = Effect.fnUntraced(function* (id: string | null | undefined) {
        if (id === null || id === undefined) return undefined
        const [row] = yield* SnapshotRow.rows(sql)`SELECT * FROM source_snapshots WHERE id = ${id}`
        return row
      }, Effect.orDie)

      const contentOf = Effect.fnUntraced(
        function* (modulePath: string, { archive_digest }: SnapshotRow) {
          const files = yield* snapshots.digests(archive_digest)
          const footprint = yield* moduleFootprint(yield* snapshots.open(archive_digest), modulePath)
          return { files, footprint }
        },
        Effect.provideService(ModuleScanner, scanner)
      )

      const compare = Effect.fnUntraced(function* (modulePath: string, before: SnapshotRow, after: SnapshotRow) {
        const applied = yield* contentOf(modulePath, before)
        const planned = yield* contentOf(modulePath, after)
        const files = [...new Set([...applied.files.keys(), ...planned.files.keys()])]
          .filter((path) => applied.files.get(path) !== planned.files.get(path))
          .filter((path) => isPartOf(applied.footprint, path) || isPartOf(planned.footprint, path))
          .toSorted()
          .map((path) => ({
            path,
            change: !applied.files.has(path)
              ? ("added" as const)
              : planned.files.has(path)
                ? ("changed" as const)
                : ("removed" as const)
          }))
        const isKnown = applied.footprint.kind === "known" && planned.footprint.kind === "known"
        return {
          scope: isKnown ? ("module" as const) : ("source" as const),
          files: files.slice(0, mostChangedFiles),
          fileCount: files.length
        }
      })

      const read = Effect.fn("SourceChangeReads.read")(function* (runId: RunId) {
        const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${runId}`)
        if (run === undefined) return yield* notFound("Run")
        const none = { runId, files: [], fileCount: 0 }
        if (run.source_snapshot_id === null || run.capsule_id === null) return { ...none, status: "no_source" as const }
        const [base] = yield* Effect.orDie(
          StateVersionRow.some(sql, "source_snapshot_id")`SELECT source_snapshot_id FROM state_versions
            WHERE id = ${run.base_state_version_id}`
        )
        if (base === undefined || base.source_snapshot_id === null) return { ...none, status: "first" as const }
        const before = yield* snapshotOf(base.source_snapshot_id)
        const after = yield* snapshotOf(run.source_snapshot_id)
        if (before === undefined || after === undefined) return { ...none, status: "not_stored" as const }
        const since = {
          sourceSnapshotId: before.id,
          resolvedCommit: before.resolved_commit,
          ...(before.commit_description === null
            ? {}
            : { commitDescription: CommitDescriptionJson.read(before.commit_description) })
        }
        const [capsule] = yield* Effect.orDie(
          CapsuleRow.some(sql, "module_path")`SELECT module_path FROM capsules WHERE id = ${run.capsule_id}`
        )
        return yield* compare(capsule?.module_path ?? ".", before, after).pipe(
          Effect.map((compared) => ({ runId, status: "compared" as const, since, ...compared })),
          // The snapshot has been removed by retention, is damaged, or is too large to scan. The review continues without
          // the comparison.
          Effect.catch((error) =>
            Effect.as(Effect.logDebug(`The commits of the Run ${runId} could not be compared. ${error.message}`), {
              ...none,
              status: "not_stored" as const,
              since
            })
          )
        )
      })

      return SourceChangeReads.of({ read })
    })
  )
}
