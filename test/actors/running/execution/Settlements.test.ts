import { afterAll, describe, expect, test } from "bun:test"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { ApplyRecovery } from "../../../../actors/running/execution/ApplyRecovery.ts"
import { ApplySettlement } from "../../../../actors/running/execution/ApplySettlement.ts"
import { driftEvidence, DriftSettlement } from "../../../../actors/running/execution/DriftSettlement.ts"
import { dependantsWarning, planEvidence, PlanSettlement } from "../../../../actors/running/execution/PlanSettlement.ts"
import {
  type PreparedApply,
  preparedApplySchema,
  preparedDriftCheckSchema,
  preparedPlanSchema
} from "../../../../actors/running/execution/PreparationSchemas.ts"
import { RunHandover } from "../../../../actors/running/execution/RunHandover.ts"
import { isMadeAgain } from "../../../../actors/running/execution/RunStop.ts"
import { DueWork } from "../../../../actors/base/DueWork.ts"
import { derivedId } from "../../../../actors/base/Identity.ts"
import { preemptedReason } from "../../../../actors/ledger/run/RunCancels.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import type { RunHold } from "../../../../actors/ledger/run/RunHold.ts"
import { RunPreparations } from "../../../../actors/ledger/run/RunPreparations.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { RunCheckpoints } from "../../../../actors/ledger/state/RunCheckpoints.ts"
import type { ApplyOutcome, DriftOutcome, PlanOutcome } from "../../../../runner/execution/RunOutcome.ts"
import { sha256 } from "../../../../runner/execution/Digest.ts"
import { runnerFailure } from "../../../../runner/execution/RunnerFailure.ts"
import { type CapsuleId, CompatibilityReportId, RunId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun, setRun } from "../../../support/HeldRuns.ts"
import { active, planned } from "../../../support/Journey.ts"
import { testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { namedWorkspace } from "../../../support/NamedIds.ts"

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

const tool = { name: "terraform", version: "1.0.0" } as const
const bytes = (text: string) => Redacted.make(new TextEncoder().encode(text))
const seen = { tool, sandboxLevel: "process", envNames: [], diagnostics: [] } as const
const warning = { severity: "warning", summary: "as it was prepared" } as const
const prepared: PreparedApply = { evidence: { tool, providerResolutions: [] }, tool, lockText: "provider {}" }

const planOutcome: PlanOutcome = {
  ...seen,
  planFile: bytes("plan"),
  secrets: { inputs: [], credentials: [], marked: [] },
  planDigest: "sha256:settled",
  summary: { add: 1, change: 0, destroy: 0, replace: 0, import: 0, forget: 0 },
  resourceChanges: [],
  outputChanges: [],
  resourceDrift: [],
  plannedOutputs: [],
  hasChanges: true,
  applyable: true
}

const applyOutcome: ApplyOutcome = {
  ...seen,
  exit: "succeeded",
  state: bytes('{"serial":7,"outputs":{}}'),
  lineage: "lineage of settlements",
  serial: 7,
  resourceCount: 1,
  outputs: [],
  changedAnything: true,
  possiblyCreated: [],
  sandboxKilled: false
}

const driftOutcome: DriftOutcome = { ...seen, drifted: true, resourceDrift: [] }

/** Copies an earlier Run, as if a process had prepared it and then died. */
const held = Effect.fnUntraced(function* (type: Run["type"], like: Run, more: { readonly planRunId?: RunId } = {}) {
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const row = (yield* ledger.find(like.id)) ?? (yield* Effect.die("no Run"))
  const capsule = yield* (yield* Capsules).read(like.capsuleId ?? (yield* Effect.die("no Capsule")))
  const id = derivedId(RunId, "run", like.id, `${type} by hand`)
  return yield* Effect.gen(function* () {
    yield* ledger.insert({
      id,
      workspaceId: row.workspace_id,
      type,
      capsuleId: capsule.id,
      sourceSnapshotId: row.source_snapshot_id ?? undefined,
      installConfigId: row.install_config_id ?? undefined,
      executionAuthorityEpoch: capsule.executionAuthorityEpoch,
      baseStateGeneration: capsule.currentStateGeneration,
      baseStateVersionId: capsule.currentStateVersionId,
      trigger: "user",
      spec: {},
      ...more
    })
    const hold = yield* heldRun(id)
    if (more.planRunId !== undefined) {
      const approved = { status: "succeeded", approved_at: "2026-01-01T00:00:00.000Z" }
      yield* setRun(more.planRunId, { ...approved, used_by_run_id: id })
    }
    return { id, hold }
  }).pipe(transaction(sql))
})

/** Returns all records that a settlement may change. */
const written = Effect.fnUntraced(function* (capsuleId: CapsuleId, runId: RunId) {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.orDie(
    Effect.all([
      sql`SELECT * FROM runs WHERE id = ${runId}`,
      sql`SELECT * FROM capsules WHERE id = ${capsuleId}`,
      sql`SELECT * FROM state_versions WHERE capsule_id = ${capsuleId} ORDER BY id`,
      sql`SELECT * FROM run_events WHERE run_id = ${runId} ORDER BY seq`,
      sql`SELECT p.* FROM run_plans p JOIN runs r ON r.id = p.run_id WHERE r.capsule_id = ${capsuleId} ORDER BY p.run_id`,
      sql`SELECT * FROM run_preparations WHERE run_id = ${runId}`
    ])
  )
})

/** Settles twice under the same hold, and checks that only the first settlement writes. */
const settledTwice = Effect.fnUntraced(function* <A, E, R>(
  capsuleId: CapsuleId,
  { hold, id }: { readonly hold: RunHold; readonly id: RunId },
  settle: (hold: RunHold) => Effect.Effect<A, E, R>
) {
  yield* settle(hold)
  const once = yield* written(capsuleId, id)
  const second = yield* Effect.result(settle(hold))
  expect(yield* written(capsuleId, id)).toEqual(once)
  return Result.isFailure(second) ? second.failure : "nothing"
})

describe("a settlement depends only on the hold, the rows and the result", () => {
  tests.live("a plan is parked only once, together with its preparation", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("settle-plan", pureModule)
      const run = yield* held("plan", plan)
      yield* (yield* RunPreparations).save(run.hold, preparedPlanSchema, {
        reportId: CompatibilityReportId.make(plan.compatibilityReportId ?? ""),
        evidence: { tool, providerResolutions: [], diagnostics: [warning] },
        place: { url: "", path: "." },
        consumed: [],
        deliveries: { secrets: [] }
      })
      const { settle } = yield* PlanSettlement
      const second = yield* settledTwice(capsuleId, run, (hold) => settle(hold, Result.succeed(planOutcome)))
      expect(second).toMatchObject({ _tag: "HoldLost" })
      const parked = yield* (yield* Runs).read(run.id)
      expect(parked).toMatchObject({
        status: "waiting_approval",
        planDigest: "sha256:settled",
        providerResolutions: [],
        compatibilityReportId: plan.compatibilityReportId
      })
      // The newer plan has superseded the older plan.
      expect((yield* (yield* Runs).read(plan.id)).status).toBe("superseded")
    })
  )

  tests.live("a plan for an earlier state becomes void and leaves no records behind", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { plan } = yield* planned("settle-moved", pureModule)
      const run = yield* held("plan", plan)
      yield* (yield* RunPreparations).save(run.hold, preparedPlanSchema, {
        reportId: CompatibilityReportId.make(plan.compatibilityReportId ?? ""),
        evidence: {},
        place: { url: "", path: "." },
        consumed: [],
        deliveries: { secrets: [] }
      })
      yield* setRun(run.id, { base_state_generation: 9 })
      yield* (yield* PlanSettlement).settle(run.hold, Result.succeed(planOutcome))
      expect((yield* (yield* Runs).read(run.id)).status).toBe("superseded")
      expect(yield* sql`SELECT run_id FROM run_plans WHERE run_id = ${run.id}`).toEqual([])
    })
  )

  tests.live("a plan that was never prepared is not parked", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("settle-unprepared", pureModule)
      const run = yield* held("plan", plan)
      const before = yield* written(capsuleId, run.id)
      const exit = yield* Effect.exit((yield* PlanSettlement).settle(run.hold, Result.succeed(planOutcome)))
      expect(exit._tag).toBe("Failure")
      expect(yield* written(capsuleId, run.id)).toEqual(before)
    })
  )

  tests.live("an apply is committed only once, with the prepared tool, lock and evidence", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("settle-apply", pureModule)
      const run = yield* held("apply", plan, { planRunId: plan.id })
      yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
      const { settle } = yield* ApplySettlement
      const second = yield* settledTwice(capsuleId, run, (hold) => settle(hold, Result.succeed(applyOutcome)))
      expect(second).toMatchObject({ _tag: "HoldLost" })
      const ended = yield* (yield* Runs).read(run.id)
      expect(ended).toMatchObject({ status: "succeeded", tool, providerResolutions: [] })
      const [row] = yield* (yield* SqlClient.SqlClient)`SELECT status, tool_name, provider_lock,
        current_state_generation FROM capsules WHERE id = ${capsuleId}`
      expect(row).toEqual({
        status: "active",
        tool_name: "terraform",
        provider_lock: "provider {}",
        current_state_generation: 1
      })
    })
  )

  tests.live(
    "an apply is settled with its newest saved state, even if that state is saved while an earlier state is read",
    () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const { capsuleId, plan } = yield* planned("settle-saved", pureModule)
        const run = yield* held("apply", plan, { planRunId: plan.id })
        yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
        const checkpoints = yield* RunCheckpoints
        const save = (text: string) => checkpoints.save(run.hold, plan.workspaceId, bytes(text))
        yield* save('{"serial":8}')
        let loads = 0
        const slow = RunCheckpoints.of({
          ...checkpoints,
          load: (workspaceId, runId) =>
            Effect.tap(checkpoints.load(workspaceId, runId), () =>
              Effect.suspend(() => ((loads += 1) === 1 ? Effect.orDie(save('{"serial":9}')) : Effect.void))
            )
        })
        const settlement = Layer.fresh(ApplySettlement.layer).pipe(
          Layer.provide(RunHandover.layer),
          Layer.provide(DueWork.layer),
          Layer.provide(Layer.succeed(RunCheckpoints, slow))
        )
        const { settle } = Context.get(yield* Layer.build(settlement), ApplySettlement)
        const { state: _state, lineage: _lineage, serial: _serial, ...nothing } = applyOutcome
        yield* settle(run.hold, Result.succeed({ ...nothing, exit: "failed", stateProblem: "unreadable" }))
        expect(loads).toBe(2)
        const kept = yield* sql`SELECT digest, size_bytes FROM left_over_states WHERE capsule_id = ${capsuleId}`
        expect(kept).toEqual([{ digest: sha256('{"serial":9}'), size_bytes: 12 }])
        expect(yield* checkpoints.stored(run.id)).toBeUndefined()
      }).pipe(Effect.scoped)
  )

  tests.live("an apply whose checks are running is not committed a second time", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("settle-checked", pureModule)
      const run = yield* held("apply", plan, { planRunId: plan.id })
      const lifecycle = {
        postApply: [{ name: "health", kind: "http" as const, target: { endpoint: true as const } }]
      }
      yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, { ...prepared, lifecycle })
      const { settle } = yield* ApplySettlement
      const second = yield* settledTwice(capsuleId, run, (hold) =>
        Effect.tap(settle(hold, Result.succeed(applyOutcome)), (checked) =>
          Effect.sync(() => expect(checked).toEqual({ capsuleId, lifecycle }))
        )
      )
      expect(second).toBe("nothing")
      const row = (yield* (yield* RunLedger).find(run.id)) ?? (yield* Effect.die("no Run"))
      expect([row.status, row.provider_apply_succeeded]).toEqual(["running", 1])
      // From this row, recovery finds out which checks did not run.
      const error = { code: "apply_interrupted", message: "interrupted" }
      const errors = { untouched: error, interrupted: error }
      yield* (yield* ApplyRecovery).settle(row, { kind: "nothing" }, errors)
      const ended = yield* (yield* Runs).read(run.id)
      expect([ended.error?.code, ended.postApply]).toEqual([
        "lifecycle_interrupted",
        [{ name: "health", status: "not_run", attempts: 0 }]
      ])
    })
  )

  tests.live("an apply whose tool did not start finishes with the evidence from its preparation", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("settle-refused", pureModule)
      const run = yield* held("apply", plan, { planRunId: plan.id })
      yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
      const { settle } = yield* ApplySettlement
      const failure = runnerFailure("prepare_failed", "apply", "It could not begin.")
      const second = yield* settledTwice(capsuleId, run, (hold) => settle(hold, Result.fail(failure)))
      expect(second).toMatchObject({ _tag: "HoldLost" })
      expect(yield* (yield* Runs).read(run.id)).toMatchObject({
        status: "failed",
        error: { code: "prepare_failed" },
        tool,
        providerResolutions: []
      })
      expect((yield* (yield* Capsules).read(capsuleId)).status).toBe("pending")
    })
  )

  tests.live("an unobserved apply keeps its evidence, and its settlement omits evidence that cannot be read", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const error = { code: "apply_interrupted", message: "interrupted" }
      for (const isReadable of [true, false]) {
        const { plan } = yield* planned(`settle-unseen-${isReadable}`, pureModule)
        const run = yield* held("apply", plan, { planRunId: plan.id })
        yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
        if (!isReadable) yield* sql`UPDATE run_preparations SET data = '{}' WHERE run_id = ${run.id}`
        const row = (yield* (yield* RunLedger).find(run.id)) ?? (yield* Effect.die("no Run"))
        const errors = { untouched: error, interrupted: error }
        yield* (yield* ApplyRecovery).settle(row, { kind: "unreadable" }, errors)
        const ended = yield* (yield* Runs).read(run.id)
        expect([ended.status, ended.error?.code]).toEqual(["failed", "apply_interrupted"])
        expect(ended.tool).toEqual(isReadable ? tool : undefined)
      }
    })
  )

  tests.live("a drift check is recorded only once on its Capsule", () =>
    Effect.gen(function* () {
      const { capsule, plan } = yield* active("settle-drift", pureModule)
      const run = yield* held("drift_check", plan)
      yield* (yield* RunPreparations).save(run.hold, preparedDriftCheckSchema, {
        evidence: { providerResolutions: [] }
      })
      const { settle } = yield* DriftSettlement
      const second = yield* settledTwice(capsule.id, run, (hold) => settle(hold, Result.succeed(driftOutcome)))
      expect(second).toMatchObject({ _tag: "HoldLost" })
      const ended = yield* (yield* Runs).read(run.id)
      expect(ended).toMatchObject({ status: "succeeded", drifted: true, tool, providerResolutions: [] })
      expect((yield* (yield* Capsules).read(capsule.id)).driftStatus).toBe("drifted")
    })
  )
})

describe("Accepted stops", () => {
  const asked = (id: RunId) => setRun(id, { cancel_requested_at: "2026-01-01T00:00:00.000Z" })

  /** Ends the Run to free its place. No service executes it in this test. */
  const ended = Effect.fnUntraced(function* (hold: RunHold) {
    yield* transaction(yield* SqlClient.SqlClient)((yield* RunLifecycle).cancel(hold))
  })

  tests.live("a stop accepted before the settlement discards a computed plan, but keeps its evidence", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("stop-plan", pureModule)
      const run = yield* held("plan", plan)
      yield* (yield* RunPreparations).save(run.hold, preparedPlanSchema, {
        reportId: CompatibilityReportId.make(plan.compatibilityReportId ?? ""),
        evidence: {},
        place: { url: "", path: "." },
        consumed: [],
        deliveries: { secrets: [] }
      })
      yield* asked(run.id)
      const before = yield* written(capsuleId, run.id)
      const stop = yield* Effect.flip((yield* PlanSettlement).settle(run.hold, Result.succeed(planOutcome)))
      expect(stop).toMatchObject({ _tag: "StopRequested", hold: run.hold, evidence: { planSummary: { add: 1 } } })
      expect(yield* written(capsuleId, run.id)).toEqual(before)
      yield* ended(run.hold)
      // The earlier plan is still waiting for approval.
      expect((yield* (yield* Runs).read(plan.id)).status).toBe("waiting_approval")
    })
  )

  tests.live("a stop accepted before the settlement discards the findings of a drift check", () =>
    Effect.gen(function* () {
      const { capsule, plan } = yield* active("stop-drift", pureModule)
      const run = yield* held("drift_check", plan)
      yield* (yield* RunPreparations).save(run.hold, preparedDriftCheckSchema, { evidence: {} })
      yield* asked(run.id)
      const stop = yield* Effect.flip((yield* DriftSettlement).settle(run.hold, Result.succeed(driftOutcome)))
      expect(stop._tag).toBe("StopRequested")
      yield* ended(run.hold)
      expect((yield* (yield* Capsules).read(capsule.id)).driftStatus).toBe(capsule.driftStatus)
    })
  )

  tests.live("a stop accepted before the settlement ends a failed or outdated Run as cancelled", () =>
    Effect.gen(function* () {
      const { plan } = yield* planned("stop-failed", pureModule)
      const sql = yield* SqlClient.SqlClient
      const lifecycle = yield* RunLifecycle
      const run = yield* held("plan", plan)
      yield* asked(run.id)
      yield* transaction(sql)(lifecycle.fail(run.hold, { code: "plan_failed", message: "It failed." }))
      expect(yield* (yield* Runs).read(run.id)).toMatchObject({ status: "cancelled" })
      expect((yield* (yield* Runs).read(run.id)).error).toBeUndefined()
      const late = yield* held("plan", yield* (yield* Runs).read(run.id))
      yield* asked(late.id)
      yield* transaction(sql)(lifecycle.supersede(late.hold, "The Capsule has changed."))
      expect((yield* (yield* Runs).read(late.id)).status).toBe("cancelled")
    })
  )

  tests.live("a stop accepted before the settlement marks a finished apply as cancelled, and keeps its evidence", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("stop-apply", pureModule)
      const run = yield* held("apply", plan, { planRunId: plan.id })
      yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
      yield* asked(run.id)
      yield* (yield* ApplySettlement).settle(run.hold, Result.succeed(applyOutcome))
      const ended = yield* (yield* Runs).read(run.id)
      expect(ended).toMatchObject({ status: "cancelled", error: { code: "applied_before_cancel" }, tool })
      expect(ended.error?.message).toContain("everything in the plan was done")
      const capsule = yield* (yield* Capsules).read(capsuleId)
      expect(capsule).toMatchObject({ status: "active", runtimeSafety: "safe", currentStateGeneration: 1 })
      const [version] = yield* (yield* SqlClient.SqlClient)`SELECT id, partial FROM state_versions
        WHERE capsule_id = ${capsuleId}`
      expect(version).toMatchObject({ id: capsule.currentStateVersionId, partial: 0 })
      const { items } = yield* (yield* RunStreams).events(run.id, 0, 100)
      expect(items.at(-1)).toMatchObject({
        kind: "run.cancelled",
        data: { stateVersionId: capsule.currentStateVersionId, error: { code: "applied_before_cancel" } }
      })
    })
  )

  tests.live(
    "if svc accepts a stop before the settlement of a failed apply, the error and the partial state are kept",
    () =>
      Effect.gen(function* () {
        const { capsuleId, plan } = yield* planned("stop-apply-failed", pureModule)
        const run = yield* held("apply", plan, { planRunId: plan.id })
        yield* (yield* RunPreparations).save(run.hold, preparedApplySchema, prepared)
        yield* asked(run.id)
        const failed = { ...applyOutcome, exit: "failed" as const }
        yield* (yield* ApplySettlement).settle(run.hold, Result.succeed(failed))
        expect(yield* (yield* Runs).read(run.id)).toMatchObject({
          status: "cancelled",
          error: { code: "apply_failed" }
        })
        const capsule = yield* (yield* Capsules).read(capsuleId)
        expect(capsule).toMatchObject({ status: "error", runtimeSafety: "unknown", currentStateGeneration: 1 })
      })
  )
})

test("a plan's evidence combines its preparation and computation", () => {
  const evidence = {
    tool: { name: "opentofu", version: "0.9.0" },
    diagnostics: [warning],
    providerResolutions: []
  } as const
  expect(planEvidence({ evidence }, { ...planOutcome, providerLockDigest: "sha256:lock" })).toEqual({
    providerResolutions: [],
    planSummary: planOutcome.summary,
    resourceChanges: [],
    outputChanges: [],
    resourceDrift: [],
    diagnostics: [warning],
    tool,
    providerLockDigest: "sha256:lock"
  })
  expect(driftEvidence({ evidence }, driftOutcome)).toEqual({
    providerResolutions: [],
    drifted: true,
    driftedResources: 0,
    resourceDrift: [],
    diagnostics: [],
    tool
  })
})

test("the approver of a destroy sees the names of consumers in the same Workspace, but only the number of consumers in other Workspaces", () => {
  const own = { name: "shop", workspace_id: namedWorkspace("own") }
  const other = { name: "hidden", workspace_id: namedWorkspace("other") }
  expect(dependantsWarning(own.workspace_id, [])).toEqual([])
  const [told] = dependantsWarning(own.workspace_id, [own, other, other])
  expect(told?.detail).toBe("Their next plan has no Outputs to read: shop, 2 of other Workspaces.")
})

test("only a scheduled drift check that yielded to another Run is retried soon", () => {
  expect(isMadeAgain({ trigger_kind: "schedule", cancel_reason: preemptedReason })).toBe(true)
  expect(isMadeAgain({ trigger_kind: "user", cancel_reason: preemptedReason })).toBe(false)
  expect(isMadeAgain({ trigger_kind: "schedule", cancel_reason: "enough" })).toBe(false)
})
