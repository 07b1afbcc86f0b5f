import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { makeApplySteps } from "../../../../actors/running/execution/ApplySteps.ts"
import { inSteps } from "../../../../actors/running/execution/RunSteps.ts"
import { KillPoint } from "../../../../actors/base/KillPoint.ts"
import { OperatorConfigs, type OperatorConfigsShape } from "../../../../actors/ledger/configuration/OperatorConfigs.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import type { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { CredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import { world } from "../../../src/http/support/World.ts"
import { it } from "../../../support/Effect.ts"
import { applyPlane, ordinary, type PlaneConditions } from "../../support/GuardedPlane.ts"
import { namedRun } from "../../../support/NamedIds.ts"

const at = "2026-01-01T00:00:00.000Z"
const applyRunId = world.runId
const planRunId = "run_pppppppppppppppppppppppp"
const reviewedTool = { name: "opentofu", version: "1.10.0" } as const

interface Case {
  readonly why: string
  readonly code: string
  readonly conditions?: Partial<PlaneConditions>
  readonly plan?: Partial<RunRow>
  readonly operator?: Partial<OperatorConfigsShape>
  /** Records an approval rule and the owner's approval before the apply is claimed. */
  readonly rule?: { readonly approvers: number; readonly planAuthorCounts: 0 | 1 }
}

const refusals: ReadonlyArray<Case> = [
  {
    why: "another version of the tool",
    code: "tool_changed",
    conditions: { tool: { name: "opentofu", version: "1.10.1" } }
  },
  {
    why: "an older version of the tool",
    code: "tool_changed",
    conditions: { tool: { name: "opentofu", version: "1.9.0" } }
  },
  {
    why: "the same version of the other flavour",
    code: "tool_changed",
    conditions: { tool: { name: "terraform", version: "1.10.0" } }
  },
  { why: "a plan that does not say which tool made it", code: "tool_changed", plan: { evidence: "{}" } },
  {
    why: "a plan that is leased to another apply",
    code: "plan_not_usable",
    plan: { used_by_run_id: namedRun("another") }
  },
  { why: "a plan without a lease", code: "plan_not_usable", plan: { used_by_run_id: null } },
  { why: "an unapproved plan", code: "plan_not_usable", plan: { approved_at: null } },
  {
    why: "an approval too few for the rules of this moment",
    code: "approval_lapsed",
    rule: { approvers: 2, planAuthorCounts: 1 }
  },
  {
    why: "an approval that has lapsed",
    code: "approval_lapsed",
    plan: { created_by: world.ada },
    rule: { approvers: 1, planAuthorCounts: 0 }
  },
  { why: "a superseded plan", code: "plan_not_usable", plan: { status: "superseded" } },
  { why: "a plan whose file is gone", code: "plan_not_usable", conditions: { planIsSaved: false } },
  { why: "a plan without a digest", code: "plan_not_usable", plan: { plan_digest: null } },
  {
    why: "a base configuration declared since by the operator",
    code: "superseded",
    operator: { baseConfigs: [{ origin: CredentialOrigin.make("https://git.example.test") }] }
  },
  { why: "a plan made under another profile", code: "superseded", plan: { profile: "small" } },
  {
    why: "a plan made under a different profile of the same name",
    code: "superseded",
    plan: { profile: "opentofu-default", profile_digest: `sha256:${"0".repeat(64)}` }
  }
]

/**
 * Makes this case's changes to a plan that could be applied, and executes its apply. Returns the Run and the processes that
 * started.
 */
const executed = Effect.fnUntraced(function* ({ conditions, operator = {}, plan, rule }: Partial<Case>) {
  const started: Array<string> = []
  const run = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const ledger = yield* RunLedger
    yield* sql`INSERT INTO runs ${sql.insert({ id: planRunId, workspace_id: world.workspaceA, type: "plan", status: "succeeded", capsule_id: world.capsuleId, requires_approval: 1, approved_by: world.ada, approved_at: at, used_by_run_id: applyRunId, plan_digest: "sha256:plan", trigger_kind: "user", attempt: 1, spec: "{}", evidence: JSON.stringify({ tool: reviewedTool }), created_at: at, queued_at: at, ...plan })}`
    yield* sql`UPDATE runs SET ${sql.update({
      type: "apply",
      status: "running",
      owner: "inst_test#1",
      plan_run_id: planRunId,
      install_config_id: world.capsuleConfigId,
      execution_authority_epoch: 1,
      base_state_generation: 0
    })} WHERE id = ${applyRunId}`
    if (rule !== undefined) {
      yield* sql`INSERT INTO approval_rules ${sql.insert({ id: world.ruleId, workspace_id: world.workspaceA, approvers: rule.approvers, role: "admin", plan_author_counts: rule.planAuthorCounts, commit_author_counts: 1, automation_counts: 0, created_at: at, updated_at: at })}`
      yield* sql`INSERT INTO run_approvals ${sql.insert({ run_id: planRunId, approver: world.ada, created_at: at })}`
    }
    const execution = inSteps(yield* makeApplySteps, yield* KillPoint)
    const row = (yield* ledger.find(applyRunId)) ?? (yield* Effect.die("no Run"))
    const [before] = yield* sql`SELECT * FROM capsules WHERE id = ${world.capsuleId}`
    yield* execution(row, {
      sink: { event: () => Effect.void, log: () => Effect.void, checkpoint: () => Effect.void },
      cancelRequested: Effect.never,
      runFolder: "/nowhere/run",
      record: (end) => end
    }).pipe(Effect.exit)
    const [after] = yield* sql`SELECT * FROM capsules WHERE id = ${world.capsuleId}`
    expect(after).toEqual(before)
    return yield* ledger.find(applyRunId)
  }).pipe(
    Effect.provide(
      Layer.fresh(applyPlane({ ...ordinary, ...conditions }, started)).pipe(
        Layer.provideMerge(Layer.succeed(OperatorConfigs, { profiles: {}, baseConfigs: [], loadedAt: at, ...operator }))
      )
    )
  )
  return { run, started }
})

for (const refusal of refusals) {
  it.live(`an apply is rejected before anything runs: ${refusal.why} (${refusal.code})`, () =>
    Effect.gen(function* () {
      const { run, started } = yield* executed(refusal)
      expect(started).toEqual([])
      expect(run).toMatchObject({ status: "failed", error_code: refusal.code })
    })
  )
}

it.live("an apply starts the tool if the tool and the plan are the ones that were reviewed", () =>
  Effect.gen(function* () {
    expect((yield* executed({})).started).toEqual([applyRunId])
    const enough = { approvers: 1, planAuthorCounts: 1 } as const
    expect((yield* executed({ rule: enough })).started).toEqual([applyRunId])
  })
)
