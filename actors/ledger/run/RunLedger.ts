import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError, type Statement } from "effect/sql"
import {
  capsuleExclusiveTypes,
  type RecordedPurpose,
  type RunEvidence,
  type RunType
} from "../../../schema/records/Run.ts"
import { type ChangesOf, rowShape } from "../../base/database/Table.ts"
import { now, nowAfter } from "../../base/Identity.ts"
import { secretRuleVersion } from "../../../runner/redaction/SecretRule.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { changedUnder, type HoldLost, holdLost, isHeld, type RunHold } from "./RunHold.ts"
import { RunJournal } from "./RunJournal.ts"
import { isApply, RunLifecycle, type SeenRun } from "./RunLifecycle.ts"
import { mergedEvidence, noEvidence, pendingPlan, RunRow, SpecJson } from "./RunRow.ts"
import type {
  CapsuleId,
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  InstallPlanId,
  OutputShareId,
  PullRequestId,
  RevisionPlanId,
  RunGroupId,
  RunId,
  SourceId,
  SourceSnapshotId,
  StateVersionId,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { localPool } from "../../../schema/agent/PoolName.ts"
import type { SlotPool } from "../../../schema/records/QueuePlace.ts"

/**
 * Returns the pool for new plans and drift checks of a configuration: `local` (the control plane) unless the execution profile
 * sets another pool. An apply uses the pool of its plan.
 */
export const RunPools = Context.Reference<(configId: InstallConfigId | undefined) => Effect.Effect<string>>(
  "svc/actors/ledger/run/RunPools",
  { defaultValue: () => () => Effect.succeed(localPool) }
)

const agentsPrefix = "agents:"

/** Returns the name of the slot pool for a pool of agents, as stored in `runs.slot_pool` and `run_turns`. */
export const placesOfPool = (pool: string): string => `${agentsPrefix}${pool}`

/** Returns true if a slot pool belongs to agents. */
export const isAgentSlotPool = (places: string): boolean => places.startsWith(agentsPrefix)

/** Returns the kind of a slot pool. */
export const slotPoolOf = (places: string): SlotPool =>
  isAgentSlotPool(places) ? "agents" : places === "builds" ? "builds" : "runs"

/**
 * SQL condition for queued and running Runs in a Capsule's queue, in which only one Run may run at a time. It uses the queue's
 * indexes, because a Capsule may have thousands of finished Runs. `capsule` is an id or a column.
 */
export const openInLine = (sql: SqlClient.SqlClient, capsule: CapsuleId | Statement.Fragment) =>
  sql`id IN (SELECT id FROM runs WHERE capsule_line = ${capsule} AND status = 'queued'
    UNION ALL SELECT id FROM runs WHERE capsule_line = ${capsule} AND status = 'running')`

/** Fields of a new Run that determine its pool and slot. */
interface PlacedRun {
  readonly type: RunType
  readonly installConfigId?: InstallConfigId | undefined
  readonly planRunId?: RunId | undefined
}

/**
 * Returns true for Runs that wait for other Runs of their Capsule. A speculative plan neither waits for other Runs nor
 * delays them.
 */
const isInLine = ({ purpose, type }: Pick<NewRun, "purpose" | "type">): boolean =>
  purpose !== "speculative" && capsuleExclusiveTypes.includes(type)

/** Chooses the pool that executes a new Run, and the slot pool in which it waits. */
const makeRunPlaces = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const pools = yield* RunPools

  /**
   * Gives fetches and builds separate slots, so that they do not delay applies. Fetches and builds change nothing, but they
   * may wait a long time for a remote server or a build command.
   */
  const ownPlaces = Effect.fnUntraced(function* (run: PlacedRun): Effect.fn.Return<string, SqlError.SqlError> {
    if (run.type === "source_sync" || run.type === "compatibility_check") return "builds"
    if (run.type !== "plan" && run.type !== "destroy_plan") return "runs"
    const built = yield* sql`SELECT 1 AS one FROM install_configs
      WHERE id = ${run.installConfigId ?? ""} AND json_type(config, '$.sourceBuild') = 'object'`
    return built.length > 0 ? "builds" : "runs"
  })

  /**
   * Returns the pool of a new Run. An apply runs in the pool of its plan, because a saved plan depends on the tool and platform
   * that created it.
   */
  const poolOf = Effect.fnUntraced(function* (run: PlacedRun): Effect.fn.Return<string, SqlError.SqlError> {
    if (isApply(run.type)) {
      const [plan] = yield* RunRow.some(sql, "pool")`SELECT pool FROM runs WHERE id = ${run.planRunId ?? null}`
      return plan?.pool ?? localPool
    }
    const isOfModule = run.type === "plan" || run.type === "destroy_plan" || run.type === "drift_check"
    return isOfModule ? yield* pools(run.installConfigId) : localPool
  })

  return Effect.fnUntraced(function* (run: PlacedRun) {
    const pool = yield* poolOf(run)
    return { pool, places: pool === localPool ? yield* ownPlaces(run) : placesOfPool(pool) }
  })
})

const Newest = rowShape({ newest: Schema.NullOr(Timestamp) })

/**
 * Returns the creation time for a new Run, in the caller's transaction. Lists and queues sort by time and then by id, but
 * the order of derived ids is arbitrary. Therefore each Run in a group gets a later time than the previous Run of the group,
 * even if the clock has been set back.
 */
const creationTime = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, groupId: RunGroupId | undefined) {
  if (groupId === undefined) return yield* now
  const [row] = yield* Newest.rows(sql)`SELECT MAX(created_at) AS newest FROM runs WHERE run_group_id = ${groupId}`
  return yield* nowAfter(row?.newest)
})

/** Fields of a Run to insert. */
export interface NewRun {
  readonly id: RunId
  readonly workspaceId: WorkspaceId
  readonly type: RunType
  readonly capsuleId?: CapsuleId | undefined
  readonly sourceId?: SourceId | undefined
  readonly planRunId?: RunId | undefined
  readonly runGroupId?: RunGroupId | undefined
  readonly coordinator?:
    | { readonly kind: "install_plan"; readonly id: InstallPlanId }
    | { readonly kind: "revision_plan"; readonly id: RevisionPlanId }
    | { readonly kind: "pull_request"; readonly id: PullRequestId }
    | undefined
  readonly sourceSnapshotId?: SourceSnapshotId | undefined
  readonly resolvedCommit?: string | undefined
  readonly compatibilityReportId?: CompatibilityReportId | undefined
  readonly installConfigId?: InstallConfigId | undefined
  readonly executionAuthorityEpoch?: number | undefined
  readonly baseStateGeneration?: number | undefined
  readonly baseStateVersionId?: StateVersionId | undefined
  readonly planDigest?: string | undefined
  readonly connectionId?: ConnectionId | undefined
  readonly requiresApproval?: boolean
  readonly createdBy?: string | undefined
  readonly trigger: "user" | "webhook" | "schedule" | "auto_update" | "service"
  readonly purpose?: RecordedPurpose | undefined
  readonly spec: Readonly<Record<string, unknown>>
  /** If true, hides the Run from lists until the Run finds something. */
  readonly quiet?: boolean | undefined
  readonly evidence?: RunEvidence
}

/** Columns that an execution writes while it works. */
export type RecordedColumns = Pick<
  ChangesOf<typeof RunRow>,
  | "source_snapshot_id"
  | "resolved_commit"
  | "compatibility_report_id"
  | "install_config_id"
  | "execution_authority_epoch"
  | "base_state_generation"
  | "base_state_version_id"
  | "plan_digest"
  | "change_digest"
  | "expires_at"
  | "isolation"
  | "network"
  | "profile"
  | "profile_digest"
  | "provider_apply_succeeded"
  | "state_version_id"
  | "quiet"
  | "agent_unreachable_since"
>

/**
 * Inserts and updates Runs. Status changes are made only by `RunLifecycle`. Every method works in the caller's transaction.
 */
export class RunLedger extends Context.Service<
  RunLedger,
  {
    readonly insert: (run: NewRun) => Effect.Effect<void>
    readonly find: (id: RunId | null) => Effect.Effect<RunRow | undefined>
    /** Returns the Run, or `undefined` if this hold no longer owns it. */
    readonly held: (hold: RunHold) => Effect.Effect<RunRow | undefined>
    /** Writes columns that the execution has determined. */
    readonly record: (hold: RunHold, columns: RecordedColumns) => Effect.Effect<void, HoldLost>
    readonly mergeEvidence: (hold: RunHold, evidence: RunEvidence) => Effect.Effect<void, HoldLost>
    /** Records that the tool of an apply may start. Call it before the tool starts; repeated calls change nothing. */
    readonly acknowledgeStart: (hold: RunHold) => Effect.Effect<void, HoldLost>
    /** Voids every unapplied plan that was reviewed under an earlier version of the redaction rules. */
    readonly supersedeOutdated: Effect.Effect<void>
    /**
     * Voids every plan of a Capsule that was computed for an earlier authority or state, or for other inputs. Returns the ids of
     * the voided plans.
     */
    readonly supersedePlans: (
      capsuleId: CapsuleId,
      reason: string,
      except?: RunId
    ) => Effect.Effect<ReadonlyArray<RunId>>
    /** Returns the plans of a Capsule that are waiting to be approved or applied. */
    readonly applicablePlans: (capsuleId: CapsuleId) => Effect.Effect<ReadonlyArray<RunId>>
    /** Voids this plan, unless its apply has started or it is already void. */
    readonly supersedePlan: (id: RunId, reason: string) => Effect.Effect<void>
    /** Returns the plans that have expired. */
    readonly expiredPlans: (at: string) => Effect.Effect<ReadonlyArray<RunId>>
    /** Expires a plan. Returns `false` if the plan has already been applied or voided, or has ended in another way. */
    readonly expirePlan: (id: RunId) => Effect.Effect<boolean>
    /**
     * Voids every unapplied plan that received values through this share, and returns their ids. A running apply continues; a
     * waiting apply is refused when it starts.
     */
    readonly supersedeConsumers: (outputShareId: OutputShareId, reason: string) => Effect.Effect<ReadonlyArray<RunId>>
    /** Like `supersedeConsumers`, for plans that used values of this Connection. */
    readonly supersedeUsers: (connectionId: ConnectionId, reason: string) => Effect.Effect<ReadonlyArray<RunId>>
    /**
     * Removes the syncs that found nothing new and ended before `before`, along with their events and logs. Removes a few
     * thousand syncs at a time.
     */
    readonly purgeEmptySyncs: (before: string) => Effect.Effect<void>
    /** Voids every unapplied plan for which `reasonOf` returns a reason. Returns the number of voided plans. */
    readonly supersedeWhere: (reasonOf: (plan: RunRow) => Effect.Effect<string | undefined>) => Effect.Effect<number>
    readonly openExclusive: (capsuleId: CapsuleId) => Effect.Effect<ReadonlyArray<RunRow>>
  }
>()("svc/actors/ledger/run/RunLedger") {
  static readonly layer = Layer.effect(
    RunLedger,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const journal = yield* RunJournal
      const lifecycle = yield* RunLifecycle
      const killPoint = yield* KillPoint
      const placeOf = yield* makeRunPlaces

      const find = Effect.fnUntraced(function* (id: RunId | null) {
        const rows = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id}`
        return rows[0]
      }, Effect.orDie)

      const insert = Effect.fnUntraced(function* (run: NewRun) {
        const at = yield* creationTime(sql, run.runGroupId)
        const { places, pool } = yield* placeOf(run)
        yield* sql`INSERT INTO runs ${RunRow.values(sql, {
          id: run.id,
          workspace_id: run.workspaceId,
          type: run.type,
          status: "queued",
          capsule_id: run.capsuleId ?? null,
          source_id: run.sourceId ?? null,
          plan_run_id: run.planRunId ?? null,
          run_group_id: run.runGroupId ?? null,
          coordinator_kind: run.coordinator?.kind ?? null,
          coordinator_id: run.coordinator?.id ?? null,
          source_snapshot_id: run.sourceSnapshotId ?? null,
          resolved_commit: run.resolvedCommit ?? null,
          compatibility_report_id: run.compatibilityReportId ?? null,
          install_config_id: run.installConfigId ?? null,
          execution_authority_epoch: run.executionAuthorityEpoch ?? null,
          base_state_generation: run.baseStateGeneration ?? null,
          base_state_version_id: run.baseStateVersionId ?? null,
          plan_digest: run.planDigest ?? null,
          connection_id: run.connectionId ?? null,
          requires_approval: run.requiresApproval === true ? 1 : 0,
          created_by: run.createdBy ?? null,
          trigger_kind: run.trigger,
          purpose: run.purpose ?? null,
          attempt: 0,
          quiet: run.quiet === true ? 1 : 0,
          spec: SpecJson.write(run.spec),
          ...mergedEvidence(noEvidence, run.evidence ?? {}),
          pool,
          slot_pool: places,
          capsule_line: isInLine(run) ? (run.capsuleId ?? null) : null,
          created_at: at,
          queued_at: at
        })}`
        yield* journal.append(run.id, "run.queued", { type: run.type })
        yield* killPoint(`${run.type}.run.queued`)
      }, Effect.orDie)

      const held = Effect.fnUntraced(function* (hold: RunHold) {
        const rows = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE ${isHeld(sql, hold)}`
        return rows[0]
      }, Effect.orDie)

      const record = (hold: RunHold, columns: RecordedColumns) =>
        changedUnder(
          hold,
          Effect.orDie(sql`UPDATE runs SET ${RunRow.changes(sql, columns)} WHERE ${isHeld(sql, hold)} RETURNING id`)
        )

      const mergeEvidence = Effect.fnUntraced(function* (hold: RunHold, evidence: RunEvidence) {
        const [row] = yield* Effect.orDie(
          RunRow.some(sql, "evidence", "plan_details")`SELECT evidence, plan_details FROM runs
            WHERE ${isHeld(sql, hold)}`
        )
        if (row === undefined) return yield* holdLost(hold)
        const merged = mergedEvidence(row, evidence)
        yield* changedUnder(
          hold,
          Effect.orDie(sql`UPDATE runs SET ${RunRow.changes(sql, merged)} WHERE ${isHeld(sql, hold)} RETURNING id`)
        )
      })

      const acknowledgeStart = Effect.fnUntraced(function* (hold: RunHold) {
        const at = yield* now
        yield* changedUnder(
          hold,
          Effect.orDie(sql`UPDATE runs SET start_acknowledged_at = COALESCE(start_acknowledged_at, ${at})
            WHERE ${isHeld(sql, hold)} RETURNING id`)
        )
      })

      const pending = sql.literal(pendingPlan())

      const supersede = Effect.fnUntraced(function* (plans: ReadonlyArray<SeenRun>, reason: string) {
        for (const plan of plans) yield* lifecycle.voidPlan(plan, reason)
        return plans.map(({ id }) => id)
      })

      const supersedePlans = Effect.fnUntraced(function* (capsuleId: CapsuleId, reason: string, except?: RunId) {
        const plans = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE capsule_id = ${capsuleId}
          AND id <> ${except ?? ""} AND ${pending} ORDER BY created_at, id`
        return yield* supersede(plans, reason)
      }, Effect.orDie)

      const supersedePlan = Effect.fnUntraced(function* (id: RunId, reason: string) {
        yield* supersede(yield* RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id} AND ${pending}`, reason)
      }, Effect.orDie)

      const expiredPlans = Effect.fnUntraced(function* (at: string) {
        const plans = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE expires_at <= ${at} AND ${pending}`
        return plans.map(({ id }) => id)
      }, Effect.orDie)

      const expirePlan = Effect.fnUntraced(function* (id: RunId) {
        const [plan] = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id} AND ${pending}`
        return plan !== undefined && (yield* lifecycle.expire(plan))
      }, Effect.orDie)

      const applicablePlans = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
        const plans = yield* RunRow.some(sql, "id")`SELECT id FROM runs WHERE capsule_id = ${capsuleId}
          AND ${pending} ORDER BY created_at, id`
        return plans.map(({ id }) => id)
      }, Effect.orDie)

      const supersedeOutdated = Effect.gen(function* () {
        const plans = yield* RunRow.rows(sql)`SELECT r.* FROM runs r JOIN run_plans p ON p.run_id = r.id
          WHERE ${pending} AND p.secret_rule IS DISTINCT FROM ${secretRuleVersion} ORDER BY r.created_at, r.id`
        yield* supersede(plans, "This release hides more secrets than the release that made the plan. Plan again.")
      }).pipe(sql.withTransaction, Effect.orDie, Effect.withSpan("RunLedger.supersedeOutdated"))

      const supersedeConsumers = Effect.fnUntraced(function* (outputShareId: OutputShareId, reason: string) {
        const plans = yield* RunRow.rows(sql)`SELECT r.* FROM run_plans p JOIN runs r ON r.id = p.run_id
          WHERE ${pending} AND EXISTS (SELECT 1 FROM json_each(p.consumed_outputs) e
            WHERE json_extract(e.value, '$.outputShareId') = ${outputShareId}) ORDER BY r.created_at, r.id`
        return yield* supersede(plans, reason)
      }, Effect.orDie)

      const supersedeUsers = Effect.fnUntraced(function* (connectionId: ConnectionId, reason: string) {
        const plans = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE ${pending}
          AND EXISTS (SELECT 1 FROM json_each(evidence, '$.providerResolutions') e
            WHERE json_extract(e.value, '$.connectionId') = ${connectionId}) ORDER BY created_at, id`
        return yield* supersede(plans, reason)
      }, Effect.orDie)

      const purgeEmptySyncs = Effect.fnUntraced(
        function* (before: string) {
          const old = yield* RunRow.some(sql, "id")`SELECT id FROM runs
            WHERE quiet = 1 AND finished_at < ${before} ORDER BY finished_at LIMIT 2000`
          const ids = JSON.stringify(old.map(({ id }) => id))
          const among = sql`IN (SELECT value FROM json_each(${ids}))`
          yield* sql`DELETE FROM run_events WHERE run_id ${among}`
          yield* sql`DELETE FROM run_log_chunks WHERE run_id ${among}`
          yield* sql`DELETE FROM runs WHERE id ${among}`
        },
        sql.withTransaction,
        Effect.orDie
      )

      const supersedeWhere = Effect.fn("RunLedger.supersedeWhere")(
        function* (reasonOf: (plan: RunRow) => Effect.Effect<string | undefined>) {
          const plans = yield* RunRow.rows(sql)`SELECT * FROM runs WHERE ${pending} ORDER BY created_at, id`
          let count = 0
          for (const plan of plans) {
            const reason = yield* reasonOf(plan)
            if (reason === undefined) continue
            yield* supersede([plan], reason)
            count += 1
          }
          return count
        },
        sql.withTransaction,
        Effect.orDie
      )

      const openExclusive = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
        return yield* RunRow.rows(sql)`SELECT * FROM runs WHERE ${openInLine(sql, capsuleId)} ORDER BY queued_at, id`
      }, Effect.orDie)

      return RunLedger.of({
        insert,
        find,
        held,
        record,
        mergeEvidence,
        acknowledgeStart,
        supersedeOutdated,
        supersedePlans,
        applicablePlans,
        supersedePlan,
        expiredPlans,
        expirePlan,
        supersedeConsumers,
        supersedeUsers,
        purgeEmptySyncs,
        supersedeWhere,
        openExclusive
      })
    })
  )
}
