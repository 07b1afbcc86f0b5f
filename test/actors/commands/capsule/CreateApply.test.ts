import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { CapsuleRuns } from "../../../../actors/commands/capsule/CapsuleRuns.ts"
import { RunAdmission } from "../../../../actors/running/queue/RunAdmission.ts"
import { InstallConfigStore } from "../../../../actors/ledger/configuration/InstallConfigStore.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { ConnectionStore } from "../../../../actors/inputs/connection/ConnectionStore.ts"
import { RunCancels } from "../../../../actors/ledger/run/RunCancels.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import type { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { ConfigSuccession } from "../../../../actors/ledger/configuration/ConfigSuccession.ts"
import { SourceStore } from "../../../../actors/ledger/source/SourceStore.ts"
import type { ErrorCode } from "../../../../schema/errors/ApiError.ts"
import { world } from "../../../src/http/support/World.ts"
import { it } from "../../../support/Effect.ts"
import { anybody, ledgers, unmovedOperator } from "../../support/GuardedPlane.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { InstallConfigId, type RunId } from "../../../../schema/records/Ids.ts"

/** A ledger in which each plan is marked as used just after it is read, as if another connection had used the plan. */
const readBefore = Layer.effect(
  RunLedger,
  Effect.map(RunLedger, (ledger) =>
    RunLedger.of({
      ...ledger,
      find: (id) => Effect.map(ledger.find(id), (row) => (row === undefined ? row : { ...row, used_by_run_id: null }))
    })
  )
).pipe(Layer.provideMerge(ledgers))

const planeOver = (given: typeof ledgers) =>
  Layer.fresh(
    CapsuleRuns.layer.pipe(
      Layer.provideMerge(given),
      Layer.provide(Layer.mock(RunQueue)({ wake: Effect.void })),
      Layer.provide(Layer.mock(RunAdmission)({ admit: () => Effect.void, placeApply: () => Effect.void })),
      Layer.provide(Layer.mock(RunCancels)({})),
      Layer.provide(Layer.mock(SourceStore)({ findSnapshot: () => Effect.undefined })),
      Layer.provide(Layer.mock(InstallConfigStore)({ bindings: () => Effect.succeed([]) })),
      Layer.provide(Layer.mock(ConnectionStore)({})),
      Layer.provide(anybody),
      Layer.provide(Layer.mock(StateVersions)({})),
      Layer.provide(unmovedOperator),
      Layer.provide(Layer.mock(ConfigSuccession)({}))
    )
  )
const plane = planeOver(ledgers)

const at = "2026-01-01T00:00:00.000Z"
const planRunId = world.runId
const applyRunId = namedRun("apply")

/** A plan that can be applied. Tests override individual columns. */
const approvedPlan: Partial<RunRow> = {
  status: "succeeded",
  install_config_id: world.capsuleConfigId,
  execution_authority_epoch: 1,
  base_state_generation: 0,
  plan_digest: "sha256:plan",
  approved_by: world.ada,
  approved_at: at,
  used_by_run_id: null,
  expires_at: "9999-01-01T00:00:00.000Z"
}

const setPlan = Effect.fnUntraced(function* (columns: Partial<RunRow>) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE runs SET ${sql.update({ ...approvedPlan, ...columns })} WHERE id = ${planRunId}`
})

const apply = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runs = yield* CapsuleRuns
  const capsule = (yield* (yield* CapsuleLedger).find(world.capsuleId)) ?? (yield* Effect.die("no Capsule"))
  return yield* transaction(sql)(
    runs.createApply(capsule, { runId: applyRunId, planRunId, createdBy: world.ada, trigger: "user" })
  )
})

const run = (id: RunId) => Effect.flatMap(RunLedger, (ledger) => ledger.find(id))

/** Checks that svc rejects the apply without writing a Run, and returns the error code. */
const refused = Effect.gen(function* () {
  const error = yield* Effect.flip(apply)
  expect(yield* run(applyRunId)).toBeUndefined()
  return error.code
})

it.live("an approved plan that was created under the current authority is leased to exactly one apply", () =>
  Effect.gen(function* () {
    yield* setPlan({})
    yield* apply
    expect((yield* run(planRunId))?.used_by_run_id).toBe(applyRunId)
    expect(yield* run(applyRunId)).toMatchObject({
      type: "apply",
      status: "queued",
      plan_run_id: planRunId,
      plan_digest: "sha256:plan",
      execution_authority_epoch: 1,
      base_state_generation: 0,
      install_config_id: world.capsuleConfigId
    })
  }).pipe(Effect.provide(plane))
)

/** Each change that makes a plan unusable, with the resulting error code. */
const unusable: ReadonlyArray<readonly [why: string, plan: Partial<RunRow>, code: ErrorCode]> = [
  ["was used by another apply", { used_by_run_id: namedRun("another") }, "run_conflict"],
  ["waits for its approval", { status: "waiting_approval", approved_at: null }, "failed_precondition"],
  ["succeeded without an approval", { approved_at: null }, "failed_precondition"],
  ["is superseded", { status: "superseded" }, "failed_precondition"],
  ["has expired and was not swept yet", { expires_at: at }, "failed_precondition"],
  ["is of an older epoch", { execution_authority_epoch: 0 }, "guard_conflict"],
  ["is of a newer epoch", { execution_authority_epoch: 2 }, "guard_conflict"],
  ["is of an older generation of the state", { base_state_generation: -1 }, "guard_conflict"],
  ["is of a newer generation of the state", { base_state_generation: 1 }, "guard_conflict"],
  [
    "is of another configuration",
    { install_config_id: InstallConfigId.make("icfg_bbbbbbbbbbbbbbbbbbbbbbbb") },
    "guard_conflict"
  ],
  ["is not a plan", { type: "drift_check" }, "failed_precondition"]
]

for (const [why, plan, code] of unusable) {
  it.live(`svc rejects the apply of a plan that ${why} with ${code}`, () =>
    Effect.gen(function* () {
      yield* setPlan(plan)
      expect(yield* refused).toBe(code)
      expect((yield* run(planRunId))?.used_by_run_id).toBe(plan.used_by_run_id ?? null)
    }).pipe(Effect.provide(plane))
  )
}

it.live("leasing a plan fails if another request used the plan after it was read", () =>
  Effect.gen(function* () {
    yield* setPlan({ used_by_run_id: namedRun("another") })
    expect(yield* refused).toBe("run_conflict")
    const sql = yield* SqlClient.SqlClient
    expect(yield* sql`SELECT used_by_run_id AS used FROM runs WHERE id = ${planRunId}`).toEqual([
      { used: namedRun("another") }
    ])
  }).pipe(Effect.provide(planeOver(readBefore)))
)

it.live("svc rejects a second apply for a Capsule while another apply is open", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* setPlan({})
    yield* sql`INSERT INTO runs ${sql.insert({ id: "run_cccccccccccccccccccccccc", workspace_id: world.workspaceA, type: "apply", status: "running", capsule_id: world.capsuleId, capsule_line: world.capsuleId, requires_approval: 0, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: at, queued_at: at })}`
    expect(yield* refused).toBe("run_conflict")
    expect((yield* run(planRunId))?.used_by_run_id).toBeNull()
  }).pipe(Effect.provide(plane))
)

for (const status of ["destroyed", "disabled"] as const) {
  it.live(`nothing can be applied to a Capsule that is ${status}`, () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* setPlan({})
      yield* sql`UPDATE capsules SET status = ${status} WHERE id = ${world.capsuleId}`
      expect(yield* refused).toBe("failed_precondition")
    }).pipe(Effect.provide(plane))
  )
}
