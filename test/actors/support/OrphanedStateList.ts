import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { CapsuleOrphanedStates } from "../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { ApplySettlement } from "../../../actors/running/execution/ApplySettlement.ts"
import { derivedId } from "../../../actors/base/Identity.ts"
import { RunLedger } from "../../../actors/ledger/run/RunLedger.ts"
import { StateVersionRow } from "../../../actors/ledger/state/StateVersionRow.ts"
import type { StateProblem } from "../../../runner/execution/RunOutcome.ts"
import { type CapsuleId, RunId } from "../../../schema/records/Ids.ts"
import { heldRun, setRun } from "../../support/HeldRuns.ts"
import { replanned } from "../../support/Journey.ts"
import { TestPlane } from "../../support/TestPlane.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"

const outputsOf = (values: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value, type: "string" }]))

/** Builds a complete state file with these Outputs. */
export const stateFile = (lineage: string, serial: number, outputs: Readonly<Record<string, string>> = {}) =>
  new TextEncoder().encode(
    JSON.stringify({
      version: 4,
      lineage,
      serial,
      outputs: outputsOf(outputs),
      resources: [{ mode: "managed", type: "terraform_data", name: "it", instances: [{ attributes: { id: "one" } }] }]
    })
  )

/** Reads a Capsule's current state from the Capsule's record. */
export const currentState = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* StateVersionRow.rows(sql)`SELECT * FROM state_versions WHERE id =
    (SELECT current_state_version_id FROM capsules WHERE id = ${capsuleId})`
  return row ?? (yield* Effect.die(new Error(`${capsuleId} has no state`)))
})

interface Left {
  readonly bytes: Uint8Array
  readonly problem?: StateProblem
}

/** Applies a new plan so that the apply fails and its state is not adopted. Returns the record of that state. */
export const leftOver = Effect.fnUntraced(function* (capsuleId: CapsuleId, { bytes, problem = "unreadable" }: Left) {
  const { context } = yield* TestPlane
  const ledger = yield* RunLedger
  const plan = yield* replanned(capsuleId)
  yield* (yield* RunCommands).Approve(plan.id, { context, acknowledged: ["left_over_state"] })
  const planned = yield* ledger.find(plan.id)
  const applyId = derivedId(RunId, "run", plan.id, "apply")
  yield* ledger.insert({
    id: applyId,
    workspaceId: plan.workspaceId,
    type: "apply",
    capsuleId,
    planRunId: plan.id,
    sourceSnapshotId: planned?.source_snapshot_id ?? undefined,
    installConfigId: planned?.install_config_id ?? undefined,
    baseStateVersionId: (yield* (yield* Capsules).read(capsuleId)).currentStateVersionId,
    trigger: "user",
    spec: {}
  })
  const hold = yield* heldRun(applyId)
  yield* setRun(plan.id, { used_by_run_id: applyId })
  yield* (yield* ApplySettlement).commit(hold, {
    exit: "failed",
    stateProblem: problem,
    rejectedState: Redacted.make(bytes),
    outputs: [],
    changedAnything: true,
    possiblyCreated: [],
    sandboxKilled: false,
    evidence: {}
  })
  const { items } = yield* (yield* CapsuleOrphanedStates).list(capsuleId, { runId: applyId }, { limit: 10 })
  return items[0] ?? (yield* Effect.die(new Error(`${applyId} left nothing`)))
})
