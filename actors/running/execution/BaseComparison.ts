import { Cache, Context, Effect, Layer, Option } from "effect"
import { fetchableAddress } from "../../../runner/git/FetchPolicy.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { storedRef } from "../../../runner/git/RefTarget.ts"
import { isPartOf } from "../../../runner/scan/ModuleChange.ts"
import { moduleFootprint } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { SnapshotSync } from "../../../runner/snapshot/SnapshotSync.ts"
import { mostUndoneFiles, type PlanBase } from "../../../schema/records/PlanBase.ts"
import { makeFetchCredentials } from "../../inputs/git/FetchCredentials.ts"
import { makeRemoteRevisions } from "../../inputs/git/RemoteRevisions.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { SnapshotRow, SourceRow } from "../../ledger/source/SourceRow.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"

/** Maximum number of cached comparisons. Comparisons are cached because several Capsules may plan the same commits. */
const rememberedPartings = 512

interface Parting {
  readonly mergeBase: string
  readonly behind?: number
}

interface Compared {
  readonly run: RunRow
  readonly capsule: CapsuleRow
  readonly source: SourceRow
  readonly head: SnapshotRow
  readonly base: SnapshotRow
  /** True if the module is built from source, so that any file may belong to it. */
  readonly isBuilt: boolean
}

/** Compares a plan's ref with the lane into which it would be merged. */
export class BaseComparison extends Context.Service<
  BaseComparison,
  {
    /**
     * Reads the repository, so call it outside a transaction. Returns `undefined` if the ref is the Capsule's lane, or the lane has
     * no snapshot.
     */
    readonly compare: (
      run: RunRow,
      capsule: CapsuleRow,
      source: SourceRow | undefined,
      head: SnapshotRow,
      isBuilt: boolean
    ) => Effect.Effect<PlanBase | undefined>
  }
>()("svc/actors/running/execution/BaseComparison") {
  static readonly layer = Layer.effect(
    BaseComparison,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sources = yield* SourceStore
  const snapshots = yield* SnapshotStore
  const scanner = yield* ModuleScanner
  const sync = yield* SnapshotSync
  const policy = yield* GitPolicy
  const revisions = yield* makeRemoteRevisions
  const credentialsOf = yield* makeFetchCredentials
  const partings = yield* Cache.make<string, Parting>({
    capacity: rememberedPartings,
    lookup: () => Effect.die("partings are only put in from outside")
  })
  const archives = yield* Cache.make<string, string>({
    capacity: rememberedPartings,
    lookup: () => Effect.die("archives are only put in from outside")
  })

  const partingOf = Effect.fnUntraced(function* ({ base, head, run, source }: Compared) {
    const key = `${source.id} ${head.resolved_commit} ${base.resolved_commit}`
    const known = yield* Cache.getOption(partings, key)
    if (Option.isSome(known)) return known.value
    const found = yield* revisions.parting(source, run, base.ref, {
      base: base.resolved_commit,
      head: head.resolved_commit
    })
    if (found !== undefined) yield* Cache.set(partings, key, found)
    return found
  })

  /** Returns the archive of a commit that svc may never have synced. */
  const archiveOf = Effect.fnUntraced(function* ({ base, run, source }: Compared, commit: string) {
    const row = yield* sources.snapshotOf(source.id, base, commit)
    if (row !== undefined) return row.archive_digest
    const key = `${source.id} ${commit} ${base.path}`
    const known = yield* Cache.getOption(archives, key)
    if (Option.isSome(known) && Option.isSome(yield* Effect.option(snapshots.open(known.value)))) return known.value
    const connection = source.auth_connection_id ?? undefined
    const credentials = yield* credentialsOf(run, {
      url: base.url,
      ref: base.ref,
      ...(connection === undefined ? {} : { authConnectionId: connection })
    })
    const { archiveDigest } = yield* sync.sync({
      url: yield* Effect.fromResult(fetchableAddress(base.url, policy)),
      ref: yield* Effect.fromResult(storedRef(commit)),
      path: base.path,
      credentials
    })
    yield* Cache.set(archives, key, archiveDigest)
    return archiveDigest
  })

  const moduleAt = Effect.fnUntraced(
    function* (archiveDigest: string, modulePath: string) {
      const files = yield* snapshots.digests(archiveDigest)
      return { files, footprint: yield* moduleFootprint(yield* snapshots.open(archiveDigest), modulePath) }
    },
    Effect.provideService(ModuleScanner, scanner)
  )

  /**
   * Lists the module's files that have changed in the base since the ref branched off from it, unless the ref contains the
   * changes.
   */
  const undone = Effect.fnUntraced(function* (compared: Compared, parted: string) {
    const { module_path } = compared.capsule
    const before = yield* moduleAt(yield* archiveOf(compared, parted), module_path)
    const head = yield* moduleAt(compared.head.archive_digest, module_path)
    const base = yield* moduleAt(compared.base.archive_digest, module_path)
    const isOfModule = (file: string) =>
      compared.isBuilt || [before, head, base].some(({ footprint }) => isPartOf(footprint, file))
    return [...new Set([...before.files.keys(), ...base.files.keys()])]
      .filter((file) => base.files.get(file) !== before.files.get(file))
      .filter((file) => base.files.get(file) !== head.files.get(file) && isOfModule(file))
      .toSorted()
  })

  const compare = Effect.fnUntraced(function* (compared: Compared) {
    const { ref, resolved_commit: resolvedCommit } = compared.base
    const base = { ref, resolvedCommit }
    if (compared.head.resolved_commit === resolvedCommit) return { ...base, standing: "current", behind: 0 } as const
    const parting = yield* partingOf(compared)
    if (parting === undefined) return { ...base, standing: "unknown" } as const
    if (parting.mergeBase === resolvedCommit) return { ...base, standing: "current", ...parting } as const
    const files = yield* undone(compared, parting.mergeBase)
    if (files.length === 0) return { ...base, standing: "behind", ...parting } as const
    return {
      ...base,
      standing: "stale",
      ...parting,
      undoneFiles: files.slice(0, mostUndoneFiles),
      undoneFileCount: files.length
    } as const
  })

  const compareBase = Effect.fn("BaseComparison.compare")(function* (
    run: RunRow,
    capsule: CapsuleRow,
    source: SourceRow | undefined,
    head: SnapshotRow,
    isBuilt: boolean
  ): Effect.fn.Return<PlanBase | undefined> {
    if (source === undefined || run.type !== "plan" || head.ref === capsule.tracked_ref) return undefined
    const base = yield* sources.currentSnapshot(source.id, capsule.tracked_ref, capsule.tracked_path)
    if (base === undefined) return undefined
    return yield* compare({ run, capsule, source, head, base, isBuilt }).pipe(
      // The repository cannot be read, or a snapshot is damaged or too large to scan. The plan continues without the comparison.
      Effect.catch((error) =>
        Effect.as(Effect.logDebug(`The base of the Run ${run.id} could not be compared. ${error.message}`), {
          ref: base.ref,
          resolvedCommit: base.resolved_commit,
          standing: "unknown" as const
        })
      )
    )
  })

  return BaseComparison.of({ compare: compareBase })
})
