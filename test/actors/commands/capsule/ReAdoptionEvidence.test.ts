import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { checkEvidence } from "../../../../actors/commands/capsule/ReAdoptionEvidence.ts"
import { world } from "../../../src/http/support/World.ts"
import { suite } from "../../../support/Effect.ts"
import { ledgers } from "../../support/GuardedPlane.ts"

const tests = suite(ledgers)
afterAll(tests.dispose)

type Columns = Readonly<Record<string, string | number | null>>
const at = "2026-01-01T00:00:00.000Z"
const applyId = "run_bbbbbbbbbbbbbbbbbbbbbbbb"
const otherId = "run_cccccccccccccccccccccccc"

const change = (table: string, id: string, columns: Columns) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET ${sql.update(columns)} WHERE id = ${id}`)

const checks = (status: string) => ({ postApply: [{ name: "health", status, attempts: 1 }] })

/** Complete evidence of an apply whose tool succeeded but whose check failed. */
const recoverable = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const run = { workspace_id: world.workspaceA, capsule_id: world.capsuleId, requires_approval: 0, spec: "{}" }
  yield* sql`DELETE FROM runs WHERE id IN (${applyId}, ${otherId})`
  yield* sql`INSERT INTO runs ${sql.insert({
    ...run,
    id: applyId,
    type: "apply",
    status: "failed",
    trigger_kind: "user",
    attempt: 1,
    evidence: JSON.stringify(checks("failed")),
    error_code: "lifecycle_failed",
    error_message: "The check failed.",
    provider_apply_succeeded: 1,
    plan_run_id: world.runId,
    plan_digest: "p",
    state_version_id: world.stateVersionId,
    install_config_id: world.capsuleConfigId,
    execution_authority_epoch: 1,
    created_at: at,
    queued_at: at,
    finished_at: at
  })}`
  yield* change("runs", world.runId, { status: "succeeded", used_by_run_id: applyId, plan_digest: "p" })
  yield* change("state_versions", world.stateVersionId, {
    created_by_run_id: applyId,
    partial: 0,
    generation: 1,
    install_config_id: world.capsuleConfigId
  })
  yield* change("capsules", world.capsuleId, {
    status: "error",
    runtime_safety: "unknown",
    current_state_version_id: world.stateVersionId,
    current_state_generation: 1,
    execution_authority_epoch: 1
  })
  yield* sql`UPDATE installation SET restored_at = NULL`
})

const refusal = Effect.gen(function* () {
  const capsule = yield* (yield* CapsuleLedger).find(world.capsuleId)
  if (capsule === undefined) return yield* Effect.die("no Capsule")
  return yield* checkEvidence(capsule).pipe(
    Effect.as(undefined),
    Effect.catch(({ message }) => Effect.succeed(message))
  )
})

tests.live("a Capsule may be re-adopted after a failed check, after a safe failure, or before its first apply", () =>
  Effect.gen(function* () {
    yield* recoverable
    expect(yield* refusal).toBeUndefined()
    yield* change("runs", applyId, { type: "drift_check" })
    expect(yield* refusal).toBeUndefined()
    yield* recoverable
    yield* change("runs", applyId, { status: "cancelled" })
    yield* change("capsules", world.capsuleId, { runtime_safety: "safe" })
    expect(yield* refusal).toBeUndefined()
  })
)

/** Changes that make the recoverable case unrecoverable, each with part of the error message. */
const others: ReadonlyArray<readonly [refusal: string, table: string, id: string, columns: Columns]> = [
  ["the Capsule is active", "capsules", world.capsuleId, { status: "active" }],
  ["is a destroy_apply", "runs", applyId, { type: "destroy_apply" }],
  ["the last apply is cancelled", "runs", applyId, { status: "cancelled" }],
  ["not certain that the tool", "runs", applyId, { provider_apply_succeeded: 0 }],
  ["not certain that the tool", "runs", applyId, { provider_apply_succeeded: null }],
  ["in another way than by a check", "runs", applyId, { error_code: "apply_failed" }],
  ["in another way than by a check", "runs", applyId, { evidence: JSON.stringify(checks("passed")) }],
  [
    "may have created more",
    "runs",
    applyId,
    { evidence: JSON.stringify({ ...checks("failed"), possiblyCreated: ["a.b"] }) }
  ],
  ["StateVersion is not", "runs", applyId, { state_version_id: null }],
  ["StateVersion is not", "state_versions", world.stateVersionId, { created_by_run_id: otherId }],
  [
    "StateVersion is not",
    "state_versions",
    world.stateVersionId,
    { install_config_id: "icfg_bbbbbbbbbbbbbbbbbbbbbbbb" }
  ],
  ["StateVersion is not", "capsules", world.capsuleId, { current_state_generation: 2 }],
  ["is partial", "state_versions", world.stateVersionId, { partial: 1 }],
  ["not used by it alone", "runs", world.runId, { used_by_run_id: otherId }],
  ["not used by it alone", "runs", world.runId, { plan_digest: "q" }],
  ["authority has moved", "capsules", world.capsuleId, { execution_authority_epoch: 2 }]
]

for (const [words, table, id, columns] of others) {
  tests.live(`svc rejects a re-adoption if the records contain ${JSON.stringify(columns)}`, () =>
    Effect.gen(function* () {
      yield* recoverable
      yield* change(table, id, columns)
      expect(yield* refusal).toContain(words)
    })
  )
}

tests.live("svc rejects a re-adoption if the last apply ran before the installation was restored", () =>
  Effect.gen(function* () {
    yield* recoverable
    const sql = yield* SqlClient.SqlClient
    yield* sql`UPDATE installation SET restored_at = ${at}`
    expect(yield* refusal).toContain("restored from a backup")
  })
)
