import { expect, test } from "bun:test"
import { type InstallPlanRow, toInstallPlan } from "../../../../actors/commands/install-plan/InstallPlanRow.ts"
import { CapsuleId, InstallPlanId, RunId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import type { PlanEnd } from "../../../../actors/ledger/run/PlanEnd.ts"

const at = "2026-01-01T00:00:00.000Z"
const row: InstallPlanRow = {
  id: InstallPlanId.make("ipl_0000000000000001"),
  workspace_id: WorkspaceId.make("ws_0000000000000001"),
  phase: "reviewable",
  request: "{}",
  private_variables: null,
  state_upload_id: null,
  state_sha256: null,
  actor: "{}",
  source_id: null,
  sync_run_id: null,
  check_run_id: null,
  source_snapshot_id: null,
  compatibility_report_id: null,
  install_config_id: null,
  capsule_id: CapsuleId.make("cap_0000000000000001"),
  plan_run_id: RunId.make("run_0000000000000001"),
  diagnostics: "[]",
  created_at: at,
  updated_at: at
}
const plan = (fields: Partial<PlanEnd>): PlanEnd => ({
  id: RunId.make("run_0000000000000001"),
  status: "waiting_approval",
  used_by_run_id: null,
  reason: null,
  ...fields
})
const shown = (fields: Partial<PlanEnd>, isCapsuleOpen = true) => {
  const { diagnostics, nextAction } = toInstallPlan(row, { plan: plan(fields), isCapsuleOpen })
  return [nextAction, ...diagnostics.map(({ code, message }) => `${code}: ${message}`)]
}

test("an install whose plan is void suggests a new plan as long as its Capsule still needs a plan", () => {
  expect(shown({})).toEqual(["review_run"])
  expect(shown({ status: "succeeded" })).toEqual(["review_run"])
  expect(shown({ status: "superseded", reason: "The configuration has changed." })).toEqual([
    "plan_again",
    "plan_superseded: The configuration has changed. To go on, plan the Capsule cap_0000000000000001 again."
  ])
  expect(shown({ status: "cancelled" })[0]).toBe("plan_again")
  expect(shown({ status: "expired" }, false)).toEqual([
    "none",
    "plan_expired: The plan run_0000000000000001 is expired."
  ])
  // Once an apply has used the plan, the install ignores later changes to the plan's record.
  expect(shown({ status: "superseded", used_by_run_id: RunId.make("run_0000000000000002") })).toEqual(["review_run"])
})
