import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { inParts } from "../../base/database/RowParts.ts"
import type { StaleReason } from "../../../schema/records/Capsule.ts"
import type { CapsuleId, SourceSnapshotId } from "../../../schema/records/Ids.ts"
import { type RunId } from "../../../schema/records/Ids.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { livingCapsule } from "../../../schema/tables/CapsuleTables.ts"
import { type ConsumedOutput, movedInputsOf } from "../consumption/ConsumedOutputs.ts"
import { SourceStore } from "../source/SourceStore.ts"
import { SourceLanes } from "../source/SourceLanes.ts"
import { type Consumer, isOfferedStill, offeredOutputs } from "../consumption/OfferedOutputs.ts"
import { RunLedger } from "../run/RunLedger.ts"
import { CapsuleLedger, type Lane } from "../capsule/CapsuleLedger.ts"
import { StaleReasonsJson, type GuardedCapsuleRow, CapsuleRow } from "../capsule/CapsuleRow.ts"
import { contentOf, PathFilters } from "./PathFilters.ts"
import type { SnapshotRow } from "../source/SourceRow.ts"
import { ConsumedInputRow } from "./ConsumedInputRow.ts"
import { providedService } from "../../base/Provided.ts"

/** The inputs of a successful apply. */
export interface AppliedInputs {
  readonly consumed: ReadonlyArray<ConsumedOutput>
}

const reasonOf = (producerCapsuleId: CapsuleId, output: string | undefined): StaleReason => ({
  kind: "input",
  producerCapsuleId,
  ...(output === undefined || output === "" ? {} : { output })
})

const commitReason = (sourceSnapshotId: SourceSnapshotId, because: string | undefined): StaleReason => ({
  kind: "commit",
  sourceSnapshotId,
  ...(because === undefined ? {} : { because })
})

/**
 * Computes the reasons why Capsules are stale, and is the only writer of `consumed_inputs`. Code that changes a commit or an
 * Output calls it in the same transaction, so that no Capsule remains `active` while it uses an input that its producer no
 * longer offers.
 */
export class StaleReasons extends Context.Service<
  StaleReasons,
  {
    /**
     * Called when a lane moves to this snapshot. Marks Capsules that were applied from a different snapshot as stale, and
     * clears this reason for all other Capsules.
     */
    readonly laneMoved: (lane: Lane & { readonly sourceSnapshotId: SourceSnapshotId }) => Effect.Effect<void>
    /** Compares a Capsule's commit with its lane. Needed after an apply, because the lane may have moved since the plan. */
    readonly compareCommit: (capsuleId: CapsuleId) => Effect.Effect<void>
    /** Called after an apply with these inputs. */
    readonly applied: (capsuleId: CapsuleId, inputs: AppliedInputs) => Effect.Effect<void>
    /**
     * Called after a Run restores the Capsule from a backup. The Capsule is stale until a plan created after the restore is
     * applied.
     */
    readonly restored: (capsuleId: CapsuleId, runId: RunId) => Effect.Effect<void>
    /** Called after a destroy. A Capsule that has ended consumes no resources. */
    readonly destroyed: (capsuleId: CapsuleId) => Effect.Effect<void>
    /** Compares the inputs of a Capsule's last apply with the current offers of its producers. */
    readonly compare: (capsuleId: CapsuleId) => Effect.Effect<void>
    /**
     * Called when the values that a producer offers may have changed. Compares the producer's consumers in every Workspace,
     * voids their plans with different values, and returns those plans.
     */
    readonly producerMoved: (producerCapsuleId: CapsuleId) => Effect.Effect<ReadonlyArray<string>>
    /**
     * Compares Capsules that have not been compared yet, because an earlier release did not record the comparison or their
     * inputs changed while svc was not running.
     */
    readonly compareUnread: Effect.Effect<void>
  }
>()("svc/actors/ledger/staleness/StaleReasons") {
  static readonly layer = Layer.effect(
    StaleReasons,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      const ledger = yield* RunLedger
      const lanes = yield* SourceLanes
      const sources = yield* SourceStore
      const filters = yield* PathFilters

      const withReasons = (
        capsule: GuardedCapsuleRow,
        kind: StaleReason["kind"],
        reasons: ReadonlyArray<StaleReason>
      ) => {
        const others = StaleReasonsJson.read(capsule.stale_reasons).filter((reason) => reason.kind !== kind)
        return capsules.setStaleReasons(capsule, kind === "commit" ? [...reasons, ...others] : [...others, ...reasons])
      }

      /**
       * Compares with the applied commit instead of the lane's previous commit, so that a later irrelevant commit cannot
       * hide a relevant one.
       */
      const commitReasons = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, newer: SnapshotRow | undefined) {
        if (newer === undefined || capsule.adopted_commit === newer.resolved_commit) return []
        if (capsule.path_filter !== 1) return [commitReason(newer.id, undefined)]
        const change = yield* filters.change(capsule, contentOf(newer))
        return change.kind === "untouched" ? [] : [commitReason(newer.id, change.because)]
      })

      const laneMoved = Effect.fn("StaleReasons.laneMoved")(function* ({
        sourceSnapshotId,
        ...lane
      }: Lane & { readonly sourceSnapshotId: SourceSnapshotId }) {
        const newer = yield* sources.findSnapshot(sourceSnapshotId)
        for (const capsule of yield* capsules.ofLane(lane)) {
          yield* withReasons(capsule, "commit", yield* commitReasons(capsule, newer))
        }
      })

      /** Compares with the newest commit of the Capsule's lane. Returns `undefined` if the Capsule has no lane. */
      const laneReasons = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
        const { adopted_path: path, adopted_ref: ref } = capsule
        if (ref === null || path === null) return undefined
        const known = yield* lanes.find(capsule.source_id, { ref, path })
        return yield* commitReasons(capsule, yield* sources.findSnapshot(known?.source_snapshot_id ?? null))
      })

      const compareCommit = Effect.fn("StaleReasons.compareCommit")(function* (capsuleId: CapsuleId) {
        const capsule = yield* capsules.find(capsuleId)
        const reasons = capsule === undefined ? undefined : yield* laneReasons(capsule)
        if (capsule !== undefined && reasons !== undefined) yield* withReasons(capsule, "commit", reasons)
      })

      const inputReasons = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
        // A Capsule that has never been applied has no inputs yet.
        if (capsule.current_state_version_id === null || capsule.status === "pending") return []
        const reasons = new Map<string, StaleReason>()
        const add = (producerCapsuleId: CapsuleId, output: string | undefined) =>
          reasons.set(`${producerCapsuleId} ${output ?? ""}`, reasonOf(producerCapsuleId, output))
        const rows = yield* Effect.orDie(
          ConsumedInputRow.rows(
            sql
          )`SELECT * FROM consumed_inputs WHERE capsule_id = ${capsule.id} ORDER BY dependency_id, input`
        )
        const left = new Map(rows.map((row) => [`${row.dependency_id} ${row.input}`, row]))
        for (const offer of yield* offeredOutputs(capsule)) {
          const key = `${offer.dependencyId} ${offer.input ?? ""}`
          const row = left.get(key)
          left.delete(key)
          const taken =
            row === undefined
              ? undefined
              : { stateVersionId: row.state_version_id, name: row.name === "" ? undefined : row.name }
          if (!(yield* isOfferedStill(taken, offer))) add(offer.producerCapsuleId, offer.output)
        }
        // Includes inputs from removed dependencies, because they are still deployed.
        for (const row of left.values()) add(row.producer_capsule_id, row.output)
        return [...reasons.values()]
      })

      const compare = Effect.fn("StaleReasons.compare")(function* (capsuleId: CapsuleId) {
        const capsule = yield* capsules.find(capsuleId)
        if (capsule === undefined || isEnded(capsule.status)) return
        yield* withReasons(capsule, "input", yield* inputReasons(capsule))
      })

      /** Compares the commit and the inputs, and replaces the reasons of all kinds, with one read and one write. */
      const replaceAll = Effect.fnUntraced(function* (capsuleId: CapsuleId, restores: ReadonlyArray<StaleReason>) {
        const capsule = yield* capsules.find(capsuleId)
        if (capsule === undefined) return
        const commits = yield* laneReasons(capsule)
        const inputs = isEnded(capsule.status) ? undefined : yield* inputReasons(capsule)
        const kept = StaleReasonsJson.read(capsule.stale_reasons).filter(({ kind }) =>
          kind === "commit" ? commits === undefined : kind === "input" ? inputs === undefined : kind !== "restore"
        )
        yield* capsules.setStaleReasons(capsule, [...(commits ?? []), ...kept, ...restores, ...(inputs ?? [])])
      })

      const applied = Effect.fn("StaleReasons.applied")(function* (capsuleId: CapsuleId, { consumed }: AppliedInputs) {
        yield* Effect.orDie(sql`DELETE FROM consumed_inputs WHERE capsule_id = ${capsuleId}`)
        const rows = consumed.flatMap(({ dependencyId, input, name, output, producerCapsuleId, stateVersionId }) =>
          producerCapsuleId === undefined || stateVersionId === undefined
            ? []
            : [
                {
                  capsule_id: capsuleId,
                  dependency_id: dependencyId,
                  input: input ?? "",
                  producer_capsule_id: producerCapsuleId,
                  output: output ?? "",
                  name: name ?? "",
                  state_version_id: stateVersionId
                }
              ]
        )
        yield* Effect.orDie(
          inParts(rows, (some) => sql`INSERT INTO consumed_inputs ${ConsumedInputRow.several(sql, some)}`)
        )
        yield* replaceAll(capsuleId, [])
      })

      const restored = Effect.fn("StaleReasons.restored")((capsuleId: CapsuleId, runId: RunId) =>
        replaceAll(capsuleId, [{ kind: "restore", runId }])
      )

      const destroyed = Effect.fn("StaleReasons.destroyed")(function* (capsuleId: CapsuleId) {
        yield* Effect.orDie(sql`DELETE FROM consumed_inputs WHERE capsule_id = ${capsuleId}`)
        const capsule = yield* capsules.find(capsuleId)
        if (capsule !== undefined) yield* capsules.setStaleReasons(capsule, [])
      })

      /** Compares one consumer, and returns the plans that it voids. */
      const settleConsumer = Effect.fnUntraced(function* (consumer: Consumer) {
        const voided: Array<RunId> = []
        for (const plan of yield* ledger.applicablePlans(consumer.id)) {
          const moved = yield* movedInputsOf(consumer, plan)
          if (moved === undefined) continue
          yield* ledger.supersedePlan(plan, moved)
          voided.push(plan)
        }
        yield* compare(consumer.id)
        return voided
      })

      const producerMoved = Effect.fn("StaleReasons.producerMoved")(function* (producerCapsuleId: CapsuleId) {
        const consumers = yield* Effect.orDie(CapsuleRow.some(sql, "id", "workspace_id")`SELECT id, workspace_id
          FROM capsules WHERE ${sql.literal(livingCapsule())} AND id IN (
            SELECT consumer_capsule_id FROM dependencies WHERE producer_capsule_id = ${producerCapsuleId}
            UNION SELECT capsule_id FROM consumed_inputs WHERE producer_capsule_id = ${producerCapsuleId})
          ORDER BY id`)
        return (yield* Effect.forEach(consumers, settleConsumer)).flat()
      })

      const compareUnread = Effect.gen(function* () {
        const unread = yield* CapsuleRow.some(
          sql,
          "id",
          "workspace_id"
        )`SELECT id, workspace_id FROM capsules WHERE inputs_compared = 0
          AND ${sql.literal(livingCapsule())} AND id IN (SELECT consumer_capsule_id FROM dependencies) ORDER BY id`
        for (const consumer of unread) {
          yield* settleConsumer(consumer).pipe(
            Effect.andThen(capsules.annotate(consumer.id, { inputs_compared: 1 })),
            sql.withTransaction
          )
        }
      }).pipe(Effect.orDie, Effect.withSpan("StaleReasons.compareUnread"))

      return yield* providedService(StaleReasons, {
        laneMoved,
        compareCommit,
        applied,
        restored,
        destroyed,
        compare,
        producerMoved,
        compareUnread
      })
    })
  )
}
