import { expect, test } from "bun:test"
import { type DecisiveRecords, reAdoptionProblem } from "../../../../actors/commands/capsule/ReAdoptionProblem.ts"
import { InstallConfigId, RunId, StateVersionId } from "../../../../schema/records/Ids.ts"

const apply = RunId.make("run_00000000000000000000000b")
const other = RunId.make("run_00000000000000000000000c")
const config = InstallConfigId.make("icfg_00000000000000000000000a")
const otherConfig = InstallConfigId.make("icfg_00000000000000000000000b")
const version = StateVersionId.make("sv_00000000000000000000000a")

/** An apply whose tool succeeded but whose check failed. Since then, the configuration has been replaced twice. */
const recoverable: DecisiveRecords = {
  capsule: { status: "error", current_state_generation: 4, execution_authority_epoch: 5 },
  run: {
    id: apply,
    type: "apply",
    status: "failed",
    error_code: "lifecycle_failed",
    provider_apply_succeeded: 1,
    state_version_id: version,
    install_config_id: config,
    plan_digest: "p",
    execution_authority_epoch: 3
  },
  evidence: { postApply: [{ name: "health", status: "failed", attempts: 1 }] },
  restoredSince: false,
  version: { id: version, created_by_run_id: apply, generation: 4, install_config_id: config, partial: 0 },
  plan: { used_by_run_id: apply, plan_digest: "p" },
  successions: 2
}

const { capsule, plan, run, version: state } = recoverable
if (plan === undefined || state === undefined) throw new Error("the case is whole")

test("a Capsule in error can be re-adopted only if its last apply is recoverable", () => {
  expect(reAdoptionProblem(recoverable)).toBeUndefined()
  const interrupted = { ...run, error_code: "lifecycle_interrupted" }
  expect(reAdoptionProblem({ ...recoverable, run: interrupted })).toBeUndefined()
  const passed = { name: "port", status: "passed", attempts: 1 } as const
  const failed = recoverable.evidence.postApply ?? []
  expect(reAdoptionProblem({ ...recoverable, evidence: { postApply: [passed, ...failed] } })).toBeUndefined()
})

/** Changes that make the recoverable case unrecoverable, each with part of the error message. */
const others: ReadonlyArray<readonly [words: string, different: Partial<DecisiveRecords>]> = [
  ["the Capsule is active", { capsule: { ...capsule, status: "active" } }],
  ["is a destroy_apply", { run: { ...run, type: "destroy_apply" } }],
  ["is a restore", { run: { ...run, type: "restore" } }],
  ["the last apply is cancelled", { run: { ...run, status: "cancelled" } }],
  ["the last apply is succeeded", { run: { ...run, status: "succeeded" } }],
  ["not certain that the tool", { run: { ...run, provider_apply_succeeded: 0 } }],
  ["not certain that the tool", { run: { ...run, provider_apply_succeeded: null } }],
  ["in another way than by a check", { run: { ...run, error_code: "apply_failed" } }],
  ["in another way than by a check", { run: { ...run, error_code: null } }],
  ["in another way than by a check", { evidence: {} }],
  ["in another way than by a check", { evidence: { postApply: [{ name: "health", status: "passed", attempts: 1 }] } }],
  ["may have created more", { evidence: { ...recoverable.evidence, possiblyCreated: ["a.b"] } }],
  ["restored from a backup", { restoredSince: true }],
  ["StateVersion is not", { version: undefined }],
  ["StateVersion is not", { run: { ...run, state_version_id: null } }],
  ["StateVersion is not", { version: { ...state, created_by_run_id: other } }],
  ["StateVersion is not", { version: { ...state, install_config_id: otherConfig } }],
  ["StateVersion is not", { version: { ...state, generation: 3 } }],
  ["is partial", { version: { ...state, partial: 1 } }],
  ["not used by it alone", { plan: undefined }],
  ["not used by it alone", { plan: { ...plan, used_by_run_id: other } }],
  ["not used by it alone", { plan: { ...plan, plan_digest: "q" } }],
  ["authority has moved", { capsule: { ...capsule, execution_authority_epoch: 6 } }],
  ["authority has moved", { run: { ...run, execution_authority_epoch: null } }],
  ["authority has moved", { successions: undefined }],
  ["authority has moved", { successions: 1 }]
]

test.each(others.map(([words, different]) => [words, JSON.stringify(different), different] as const))(
  "%s: %s",
  (words, _shown, different) => {
    expect(reAdoptionProblem({ ...recoverable, ...different })).toContain(words)
  }
)
