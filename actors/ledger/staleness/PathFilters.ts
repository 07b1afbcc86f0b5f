import { Cache, Context, Effect, Layer, Option } from "effect"
import { type ModuleAt, type ModuleChange, moduleChange } from "../../../runner/scan/ModuleChange.ts"
import { moduleFootprint } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import type { RepositoryManifestStatus } from "../../../schema/records/Source.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { stagedOf } from "../source/StagedRows.ts"
import type { CapsuleRow } from "../capsule/CapsuleRow.ts"
import { InstallConfigStore } from "../configuration/InstallConfigStore.ts"
import type { SnapshotRow } from "../source/SourceRow.ts"
import type { InstallConfigId } from "../../../schema/records/Ids.ts"

type Filtered = Pick<CapsuleRow, "path_filter" | "module_path" | "adopted_snapshot_id"> & {
  readonly install_config_id: InstallConfigId
}

/** The content of a snapshot, in the form that both kinds of snapshot records share. */
export interface SnapshotContent {
  readonly archiveDigest: string
  readonly repositoryManifest: RepositoryManifestStatus
}

export const contentOf = (row: SnapshotRow): SnapshotContent => stagedOf(row)

/** Returns the digest of the manifest for comparison, or null if the content of the manifest was never read. */
const manifestOf = ({ repositoryManifest: { digest, status } }: SnapshotContent) =>
  status === "absent" ? "absent" : (digest ?? null)

interface Comparison {
  readonly modulePath: string
  readonly applied: SnapshotContent
  readonly newer: SnapshotContent
}

const keyOf = ({ applied, modulePath, newer }: Comparison) =>
  JSON.stringify([modulePath, ...[applied, newer].flatMap((side) => [side.archiveDigest, manifestOf(side)])])

const rememberedComparisons = 4096

const builtFromSource: ModuleChange = { kind: "touched", because: "The Capsule is built from its source" }
const uncompared: ModuleChange = { kind: "touched", because: "The commits could not be compared" }
const unfiltered: ModuleChange = { kind: "touched", because: "The Capsule follows every commit" }

/**
 * Decides whether a commit changes files of a Capsule's module. Because a comparison reads two archives, `prepare` runs
 * before the transaction, and the transaction only looks up the result. A commit that was not compared is treated as a
 * change.
 */
export class PathFilters extends Context.Service<
  PathFilters,
  {
    /** Compares the applied snapshot with a newer one, for each Capsule with a path filter. Call it outside a transaction. */
    readonly prepare: (capsules: ReadonlyArray<Filtered>, newer: SnapshotContent) => Effect.Effect<void>
    /**
     * Compares two snapshots for a Capsule, regardless of its path filter. Call it outside a transaction. An unreadable
     * archive is treated as a change.
     */
    readonly between: (
      capsule: Pick<Filtered, "module_path" | "install_config_id">,
      before: SnapshotContent,
      after: SnapshotContent
    ) => Effect.Effect<ModuleChange>
    /** Looks up the result that `prepare` computed. */
    readonly change: (capsule: Filtered, newer: SnapshotContent) => Effect.Effect<ModuleChange>
  }
>()("svc/actors/ledger/staleness/PathFilters") {
  static readonly layer = Layer.effect(
    PathFilters,
    Effect.gen(function* () {
      const sources = yield* SourceStore
      const configs = yield* InstallConfigStore
      const snapshots = yield* SnapshotStore
      const scanner = yield* ModuleScanner
      const known = yield* Cache.make<string, ModuleChange>({
        capacity: rememberedComparisons,
        lookup: () => Effect.die("comparisons are only put in from outside")
      })

      const comparisonOf = Effect.fnUntraced(function* (capsule: Filtered, newer: SnapshotContent) {
        if (capsule.path_filter !== 1 || capsule.adopted_snapshot_id === null) return unfiltered
        const config = yield* configs.load(capsule.install_config_id)
        const applied = yield* sources.findSnapshot(capsule.adopted_snapshot_id)
        if (config === undefined || applied === undefined) return unfiltered
        if (config.config.sourceBuild !== undefined) {
          return builtFromSource
        }
        return { modulePath: capsule.module_path, applied: contentOf(applied), newer } satisfies Comparison
      })

      const moduleAt = Effect.fnUntraced(
        function* (modulePath: string, content: SnapshotContent) {
          const files = yield* snapshots.digests(content.archiveDigest)
          const footprint = yield* moduleFootprint(yield* snapshots.open(content.archiveDigest), modulePath)
          return { files, footprint, manifest: manifestOf(content) } satisfies ModuleAt
        },
        Effect.provideService(ModuleScanner, scanner)
      )

      const prepare = Effect.fn("PathFilters.prepare")(function* (
        capsules: ReadonlyArray<Filtered>,
        newer: SnapshotContent
      ) {
        for (const capsule of capsules) {
          const comparison = yield* comparisonOf(capsule, newer)
          if ("kind" in comparison || Option.isSome(yield* Cache.getOption(known, keyOf(comparison)))) continue
          const { applied, modulePath } = comparison
          yield* Effect.gen(function* () {
            const change = moduleChange(yield* moduleAt(modulePath, applied), yield* moduleAt(modulePath, newer))
            yield* Cache.set(known, keyOf(comparison), change)
          }).pipe(
            // An archive is missing or a scan timed out. The next sync tries again.
            Effect.catch((error) => Effect.logWarning(`Two commits could not be compared. ${error.message}`))
          )
        }
      })

      const change = Effect.fn("PathFilters.change")(function* (capsule: Filtered, newer: SnapshotContent) {
        const comparison = yield* comparisonOf(capsule, newer)
        if ("kind" in comparison) return comparison
        return Option.getOrElse(yield* Cache.getOption(known, keyOf(comparison)), () => uncompared)
      })

      const between = Effect.fn("PathFilters.between")(
        function* (
          capsule: Pick<Filtered, "module_path" | "install_config_id">,
          before: SnapshotContent,
          after: SnapshotContent
        ) {
          const config = yield* configs.load(capsule.install_config_id)
          if (before.archiveDigest === after.archiveDigest) return { kind: "untouched" } satisfies ModuleChange
          if (config === undefined || config.config.sourceBuild !== undefined) return builtFromSource
          const comparison = { modulePath: capsule.module_path, applied: before, newer: after }
          const found = yield* Cache.getOption(known, keyOf(comparison))
          if (Option.isSome(found)) return found.value
          const change = moduleChange(
            yield* moduleAt(capsule.module_path, before),
            yield* moduleAt(capsule.module_path, after)
          )
          yield* Cache.set(known, keyOf(comparison), change)
          return change
        },
        Effect.catch((error) =>
          Effect.as(Effect.logWarning(`Two commits could not be compared. ${error.message}`), uncompared)
        )
      )

      return PathFilters.of({ prepare, change, between })
    })
  )
}
