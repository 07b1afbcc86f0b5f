import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { type SourceId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { contentOf, PathFilters } from "../../ledger/staleness/PathFilters.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { derivedId, now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { cancelRun, failRun } from "./RunEnding.ts"
import type { RunExecution } from "./RunExecution.ts"
import { RunHandover } from "./RunHandover.ts"
import { type HoldLost, holdOf, type StopRequested } from "../../ledger/run/RunHold.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { RunResults } from "../../ledger/run/RunResults.ts"
import { type FetchedLane, makeLaneFetch, SyncSpec } from "../../inputs/git/LaneFetch.ts"
import type { LaneUnavailable } from "../../inputs/git/LaneUnavailable.ts"
import { followObstacle } from "../../ledger/source/FollowedSource.ts"
import { judgedAgain, manifestVerdict } from "../../ledger/source/ManifestVerdict.ts"
import { type Lane, SourceLanes } from "../../ledger/source/SourceLanes.ts"
import { SourceStore } from "../../ledger/source/SourceStore.ts"
import { type StagedSnapshot, StagedSnapshotJson } from "../../ledger/source/StagedFindings.ts"

const decodeSpec = Schema.decodeUnknownEffect(Schema.fromJsonString(SyncSpec))
const encodeSnapshot = Schema.encodeEffect(StagedSnapshotJson)

/** Returns true if no person requested the sync. An automatic sync is listed only if it finds something. */
const isLook = (run: RunRow) => run.trigger_kind === "webhook" || run.trigger_kind === "schedule"

/** Fetches a commit and records it as an immutable snapshot, or passes it to the Run's coordinator. */
export const makeSyncExecution = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const store = yield* SourceStore
  const lanes = yield* SourceLanes
  const staleReasons = yield* StaleReasons
  const capsules = yield* CapsuleLedger
  const filters = yield* PathFilters
  const ledger = yield* RunLedger
  const lifecycle = yield* RunLifecycle
  const killPoint = yield* KillPoint
  const results = yield* RunResults
  const handover = yield* RunHandover
  const audit = yield* Audit
  const fetchLane = yield* makeLaneFetch

  const staged = Effect.fnUntraced(function* (
    run: RunRow,
    spec: SyncSpec,
    id: SourceSnapshotId,
    { synced }: Extract<FetchedLane, { readonly kind: "fetched" }>
  ) {
    const manifest = manifestVerdict(synced.repositoryManifest)
    return {
      id,
      url: spec.url,
      ref: spec.ref,
      path: spec.path,
      resolvedCommit: synced.resolvedCommit,
      authors: synced.authors,
      commitDescription: synced.commitDescription,
      archiveDigest: synced.archiveDigest,
      archiveSizeBytes: synced.archiveSizeBytes,
      fileCount: synced.fileCount,
      omitted: synced.omitted,
      warnings: synced.warnings,
      repositoryManifest: manifest.status,
      ...(manifest.document === undefined ? {} : { manifestDocument: manifest.document }),
      createdByRunId: run.id,
      createdAt: yield* now
    } satisfies StagedSnapshot
  })

  /**
   * Returns an existing snapshot with this release's verdict on the snapshot's manifest, and reports whether the verdict has
   * changed.
   */
  const judged = Effect.fnUntraced(function* ({ snapshot }: Extract<FetchedLane, { readonly kind: "known" }>) {
    const verdict = judgedAgain(snapshot)
    if (verdict === undefined) return false
    yield* store.judgeManifest(snapshot.id, verdict.status)
    return verdict.differs
  })

  /** Compares the commit for Capsules with a path filter. The comparison reads files, so it runs before the lane moves. */
  const compared = Effect.fnUntraced(function* (sourceId: SourceId, { path, ref }: SyncSpec, fetched: FetchedLane) {
    const content =
      fetched.kind === "known"
        ? contentOf(fetched.snapshot)
        : {
            archiveDigest: fetched.synced.archiveDigest,
            repositoryManifest: manifestVerdict(fetched.synced.repositoryManifest).status
          }
    yield* filters.prepare(yield* capsules.ofLane({ sourceId, ref, path }), content)
  })

  /** If another check has recorded the same commit in the meantime, uses the snapshot of that check for the lane. */
  const unrepeated = Effect.fnUntraced(function* (sourceId: SourceId, spec: SyncSpec, fetched: FetchedLane) {
    if (fetched.kind === "known") return fetched
    const snapshot = yield* store.snapshotOf(sourceId, spec, fetched.synced.resolvedCommit)
    return snapshot === undefined ? fetched : { kind: "known" as const, snapshot }
  })

  /**
   * Moves a lane to the fetched snapshot and handles the consequences. If a person requested the sync, also records the lane
   * that the person selected.
   */
  const settleLane = Effect.fnUntraced(function* (
    run: RunRow,
    sourceId: SourceId,
    spec: SyncSpec,
    snapshotId: SourceSnapshotId,
    lookedAt: string,
    taken: FetchedLane,
    ownRecord: boolean
  ) {
    const fetched = ownRecord ? taken : yield* unrepeated(sourceId, spec, taken)
    const before = yield* lanes.find(sourceId, spec)
    const rejudged = fetched.kind === "known" && (yield* judged(fetched))
    const found =
      fetched.kind === "known"
        ? {
            id: fetched.snapshot.id,
            resolvedCommit: fetched.snapshot.resolved_commit,
            fileCount: fetched.snapshot.file_count
          }
        : yield* staged(run, spec, snapshotId, fetched).pipe(
            Effect.tap((snapshot) => store.insertSnapshot(run.workspace_id, sourceId, snapshot))
          )
    const isNewest = yield* lanes.seen(sourceId, spec, {
      snapshotId: found.id,
      commit: found.resolvedCommit,
      lookedAt
    })
    yield* store.synced(sourceId)
    yield* lanes.settleStatus(sourceId)
    if (isNewest) {
      yield* staleReasons.laneMoved({
        sourceId,
        ref: spec.ref,
        path: spec.path,
        sourceSnapshotId: found.id
      })
      yield* handover.snapshotTaken({
        sourceId,
        snapshotId: found.id,
        autoUpdate: spec.intent === "observe",
        look: run.trigger_kind
      })
    }
    const reused = fetched.kind === "known"
    // A snapshot refers to the Run that fetched it, so that Run must be listed even if a later sync finished first.
    const isNews =
      rejudged ||
      !reused ||
      (isNewest && (before?.resolved_commit !== found.resolvedCommit || before.error_code !== null))
    return { ...found, isNews, reused }
  })

  /** An automatic sync that found something is listed in the same way as a sync that a person requested. */
  const shown = Effect.fnUntraced(function* (run: RunRow, lane: Lane) {
    yield* ledger.record(holdOf(run), { quiet: 0 })
    yield* audit.append({
      workspaceId: run.workspace_id,
      actor: run.trigger_kind === "webhook" ? { kind: "webhook" } : serviceContext.actor,
      action: "source.sync",
      target: { kind: "source", id: run.source_id ?? "" },
      runId: run.id,
      data: { intent: "observe", trigger: run.trigger_kind, ref: lane.ref, path: lane.path }
    })
  })

  /**
   * Returns the reason why a sync must not take effect. While the sync was queued or fetching, its Source may have been
   * disabled or may have stopped following the ref. Reads in the caller's transaction.
   */
  const unwanted = Effect.fnUntraced(function* (run: RunRow) {
    return run.source_id === null ? undefined : followObstacle(yield* store.find(run.source_id), run.trigger_kind)
  })

  const stopped = Effect.fnUntraced(function* (run: RunRow, reason: string) {
    const message = `Nothing was recorded. ${reason}`
    yield* lifecycle.cancel(holdOf(run), undefined, { code: "source_stopped", message })
    yield* handover.finished(run)
  })

  /** Settles a sync in one transaction. If the sync must no longer take effect, ends it without changes. */
  const settled = Effect.fnUntraced(function* (run: RunRow, settle: Effect.Effect<void, HoldLost | StopRequested>) {
    const reason = yield* unwanted(run)
    yield* reason === undefined ? settle : stopped(run, reason)
  }, transaction(sql))

  const succeed = Effect.fnUntraced(function* (run: RunRow, spec: SyncSpec, lookedAt: string, fetched: FetchedLane) {
    const id = derivedId(SourceSnapshotId, "snap", run.id, "snapshot")
    const recorded = Effect.gen(function* () {
      // An install plan has no Source yet, so the snapshot is kept for the plan's initial commit.
      if (run.coordinator_kind === "install_plan" && fetched.kind === "fetched") {
        const snapshot = yield* staged(run, spec, id, fetched)
        yield* results.save(run.id, yield* Effect.orDie(encodeSnapshot(snapshot)))
        return { ...snapshot, isNews: true, reused: false }
      }
      if (run.source_id === null) return yield* Effect.die(new Error(`The sync ${run.id} has no Source`))
      return yield* settleLane(run, run.source_id, spec, id, lookedAt, fetched, !isLook(run))
    })
    const { fileCount, id: snapshotId, isNews, resolvedCommit, reused } = yield* recorded
    yield* ledger.record(holdOf(run), { source_snapshot_id: snapshotId, resolved_commit: resolvedCommit })
    if (isLook(run) && isNews) yield* shown(run, spec)
    yield* lifecycle.succeed(holdOf(run), { sourceSnapshotId: snapshotId, resolvedCommit, fileCount, reused })
    yield* handover.finished(run)
  })

  /** Maps a fetch failure to the lane's error. Failures at a revision plan's ref do not affect the Source. */
  const laneFailed = Effect.fnUntraced(function* (run: RunRow, lane: Lane, error: LaneUnavailable, lookedAt: string) {
    if (run.source_id === null || run.coordinator_id !== null || error.ofRequest) return false
    const isNews = yield* lanes.failed(run.source_id, lane, error, lookedAt)
    yield* lanes.settleStatus(run.source_id)
    return isNews
  })

  const fail = Effect.fnUntraced(function* (run: RunRow, spec: SyncSpec, error: LaneUnavailable, lookedAt: string) {
    if ((yield* laneFailed(run, spec, error, lookedAt)) && isLook(run)) yield* shown(run, spec)
    yield* failRun({ lifecycle, handover }, run, { code: error.code, message: error.message })
  })

  /**
   * Records another lane, unless somebody asked the sync to stop or the sync must no longer take effect. Checks both
   * conditions in the same transaction.
   */
  const whileWanted = <A>(run: RunRow, settle: Effect.Effect<A>) =>
    Effect.gen(function* () {
      yield* lifecycle.proceed(holdOf(run))
      if ((yield* unwanted(run)) === undefined) yield* settle
    }).pipe(transaction(sql))

  /**
   * Syncs the other lanes in use if a person requested a sync of the whole Source. A failure is recorded as the error of that
   * lane.
   */
  const lookAtOthers = Effect.fnUntraced(function* (
    run: RunRow,
    spec: SyncSpec,
    log: (line: string) => Effect.Effect<void>
  ) {
    const source = run.source_id === null ? undefined : yield* store.find(run.source_id)
    if (spec.everyLane !== true || source === undefined) return
    for (const { path, ref } of yield* lanes.inUse(source)) {
      if (ref === spec.ref && path === spec.path) continue
      const { expectedCommit: _, ...rest } = spec
      const other = { ...rest, ref, path }
      const lookedAt = yield* now
      yield* log(`Looking at ${ref} (${path}), which Capsules follow.`)
      yield* fetchLane(run, other, true, log).pipe(
        Effect.flatMap((fetched) => {
          const commit = fetched.kind === "known" ? fetched.snapshot.resolved_commit : fetched.synced.resolvedCommit
          const id = derivedId(SourceSnapshotId, "snap", run.id, JSON.stringify([ref, path, commit]))
          return Effect.andThen(
            compared(source.id, other, fetched),
            whileWanted(run, settleLane(run, source.id, other, id, lookedAt, fetched, false))
          )
        }),
        Effect.catchTag("LaneUnavailable", (error) =>
          Effect.andThen(log(`${ref}: ${error.message}`), whileWanted(run, laneFailed(run, other, error, lookedAt)))
        )
      )
    }
  })

  const execution: RunExecution = Effect.fn("Run.sync")(function* (run, control) {
    const spec = yield* Effect.orDie(decodeSpec(run.spec))
    // Fetches nothing if the Source stopped following its repository while the sync was queued.
    const early = yield* unwanted(run)
    if (early !== undefined) return yield* transaction(sql)(stopped(run, early))
    yield* control.sink.event("run.phase", { phase: "fetch" })
    yield* killPoint(`${run.type}.prepared`)
    const log = (line: string) => control.sink.log("fetch", "system", line)
    const lookedAt = yield* now
    const outcome = yield* Effect.gen(function* () {
      const fetched = yield* Effect.result(fetchLane(run, spec, isLook(run), log))
      if (fetched._tag === "Success" && run.source_id !== null) yield* compared(run.source_id, spec, fetched.success)
      yield* lookAtOthers(run, spec, log)
      return { kind: "looked" as const, fetched }
    }).pipe(Effect.raceFirst(Effect.as(control.cancelRequested, { kind: "cancelled" as const })))
    yield* killPoint(`${run.type}.executed`)
    if (outcome.kind === "cancelled") return yield* transaction(sql)(cancelRun({ lifecycle, handover }, run))
    const { fetched } = outcome
    if (fetched._tag === "Success") return yield* settled(run, succeed(run, spec, lookedAt, fetched.success))
    yield* log(fetched.failure.message)
    yield* settled(run, fail(run, spec, fetched.failure, lookedAt))
  })
  return execution
})
