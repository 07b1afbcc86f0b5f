import { expect, test } from "bun:test"
import { applyObstacle } from "../../../../actors/ledger/capsule/ApplyObstacle.ts"
import type { ApiError } from "../../../../schema/errors/ApiError.ts"
import { InstallConfigId, RunId } from "../../../../schema/records/Ids.ts"

const at = "2026-01-02T00:00:00.000Z"
const config = InstallConfigId.make("icfg_00000000000000000000000a")

type Plan = Parameters<typeof applyObstacle>[0]
type Capsule = Parameters<typeof applyObstacle>[1]

const plan: Plan = {
  type: "plan",
  purpose: null,
  status: "succeeded",
  used_by_run_id: null,
  approved_at: "2026-01-01T00:00:00.000Z",
  expires_at: "2026-01-02T00:00:00.001Z",
  execution_authority_epoch: 3,
  install_config_id: config,
  base_state_generation: 2
}
const capsule: Capsule = {
  status: "active",
  execution_authority_epoch: 3,
  install_config_id: config,
  current_state_generation: 2
}

test.each([
  ["a plan", plan],
  ["a destroy plan", { ...plan, type: "destroy_plan" }],
  ["one that never expires", { ...plan, expires_at: null }]
] as const)("%s that is approved and matches its Capsule can be applied", (_name, row) => {
  for (const status of ["pending", "active", "stale", "error"] as const) {
    expect([status, applyObstacle(row, { ...capsule, status }, at)]).toEqual([status, undefined])
  }
})

const used = RunId.make("run_00000000000000000000000b")
const other = InstallConfigId.make("icfg_00000000000000000000000b")

const obstacles: ReadonlyArray<
  readonly [code: ApiError["code"], words: string, plan: Partial<Plan>, capsule?: Partial<Capsule>]
> = [
  ["failed_precondition", "Only a plan", { type: "apply" }],
  ["failed_precondition", "Only a plan", { type: "drift_check" }],
  ["failed_precondition", "change-approvals", { purpose: "speculative" }],
  ["failed_precondition", "change-approvals", { purpose: "speculative", status: "waiting_approval" }],
  ["run_conflict", "applied already", { used_by_run_id: used }],
  ["failed_precondition", "not approved yet", { status: "waiting_approval", approved_at: null }],
  ["failed_precondition", "is succeeded", { approved_at: null }],
  ...(["queued", "running", "failed", "cancelled", "superseded", "expired"] as const).map(
    (status) => ["failed_precondition", `is ${status}`, { status }] as const
  ),
  ["failed_precondition", "has expired", { expires_at: at }],
  ["failed_precondition", "has expired", { expires_at: "2026-01-01T23:59:59.999Z" }],
  ["failed_precondition", "The Capsule is disabled", {}, { status: "disabled" }],
  ["failed_precondition", "The Capsule is destroyed", {}, { status: "destroyed" }],
  ["guard_conflict", "Plan again", { execution_authority_epoch: 2 }],
  ["guard_conflict", "Plan again", { execution_authority_epoch: null }],
  ["guard_conflict", "Plan again", { install_config_id: other }],
  ["guard_conflict", "Plan again", { base_state_generation: 1 }],
  ["guard_conflict", "Plan again", {}, { current_state_generation: 3 }]
]

test.each(
  obstacles.map(([code, words, row, own = {}]) => [words, JSON.stringify({ ...row, ...own }), code, row, own] as const)
)("an apply is refused (%s) after the change %s", (words, _shown, code, row, own) => {
  const obstacle = applyObstacle({ ...plan, ...row }, { ...capsule, ...own }, at)
  expect(obstacle?.code).toBe(code)
  expect(obstacle?.message).toContain(words)
})
