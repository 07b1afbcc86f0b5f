import { expect } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CredentialWaitJson, renewedWait } from "../../../../actors/ledger/capsule/CredentialWait.ts"
import { OperatorSuccession } from "../../../../actors/ledger/configuration/OperatorSuccession.ts"
import { RunPreparation } from "../../../../actors/running/execution/RunPreparation.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import type { RunRow } from "../../../../actors/ledger/run/RunRow.ts"
import { world } from "../../../src/http/support/World.ts"
import { it } from "../../../support/Effect.ts"
import { connection, ordinary, preparation, provider, type PlaneConditions } from "../../support/GuardedPlane.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { InstallConfigId } from "../../../../schema/records/Ids.ts"

type Columns = Readonly<Record<string, string | number | null>>

/** A Run that cannot start: how it differs from a Run that can, and the resulting error code. */
interface Refusal {
  readonly why: string
  readonly code: string
  readonly conditions?: Partial<PlaneConditions>
  readonly run?: Partial<RunRow>
  readonly capsule?: Columns
  readonly workspace?: Columns
}

const cloud = { provider, moduleLocalName: "cloud" }
const needsCloud = { requirements: [cloud] }
const past = "2020-01-01T00:00:00.000Z"

const ofEveryRun: ReadonlyArray<Refusal> = [
  { why: "of an archived Workspace", code: "failed_precondition", workspace: { archived_at: past } },
  { why: "of a destroyed Capsule", code: "failed_precondition", capsule: { status: "destroyed" } },
  { why: "of a disabled Capsule", code: "failed_precondition", capsule: { status: "disabled" } },
  {
    why: "of an unsupported module",
    code: "module_unsupported",
    conditions: { module: { status: "unsupported", findings: ["backend"] } }
  },
  { why: "without a Connection for a provider", code: "blocked_missing_connection", conditions: needsCloud },
  {
    why: "with a revoked Connection",
    code: "blocked_missing_connection",
    conditions: { ...needsCloud, bound: connection({ status: "revoked" }) }
  },
  {
    why: "with a Connection in error",
    code: "blocked_missing_connection",
    conditions: { ...needsCloud, bound: connection({ status: "error" }) }
  },
  {
    why: "with a Connection that was not confirmed after a restore",
    code: "blocked_missing_connection",
    conditions: { ...needsCloud, bound: connection({ status: "unconfirmed" }) }
  },
  {
    why: "with an expired Connection",
    code: "blocked_missing_connection",
    conditions: { ...needsCloud, bound: connection({ expires_at: past }) }
  },
  {
    why: "with a Connection whose tokens could not be renewed",
    code: "blocked_missing_connection",
    conditions: { ...needsCloud, bound: connection(), unrenewed: "The authorization server refuses it." }
  },
  {
    why: "with a Connection of another Workspace",
    code: "blocked_policy",
    conditions: { ...needsCloud, bound: connection({ workspace_id: world.workspaceB }) }
  },
  {
    why: "with a Connection for another provider",
    code: "blocked_policy",
    conditions: { ...needsCloud, bound: connection({ provider: "registry.opentofu.org/acme/other" }) }
  },
  {
    why: "with a provider that the operator denies",
    code: "blocked_policy",
    conditions: { ...needsCloud, bound: connection(), deniedProviders: [provider] }
  },
  { why: "without a tool", code: "tool_unavailable", conditions: { tool: undefined } }
]

/** Differences that prevent an apply but not a plan, because a plan adopts the current authority. */
const ofApplies: ReadonlyArray<Refusal> = [
  { why: "whose Capsule has a newer epoch", code: "superseded", capsule: { execution_authority_epoch: 2 } },
  { why: "whose Capsule has a newer state", code: "superseded", capsule: { current_state_generation: 1 } },
  {
    why: "whose Capsule has another configuration",
    code: "superseded",
    run: { install_config_id: InstallConfigId.make("icfg_bbbbbbbbbbbbbbbbbbbbbbbb") }
  }
]

const runOf = Effect.fnUntraced(function* (type: "plan" | "apply", { capsule, run, workspace }: Partial<Refusal>) {
  const sql = yield* SqlClient.SqlClient
  const authority = { install_config_id: world.capsuleConfigId, execution_authority_epoch: 1, base_state_generation: 0 }
  const execution = { status: "running", owner: "inst_test#1", fence: 1 }
  const columns = { type, source_snapshot_id: world.sourceSnapshotId, ...execution, ...authority, ...run }
  yield* sql`UPDATE runs SET ${sql.update(columns)} WHERE id = ${world.runId}`
  if (capsule !== undefined) yield* sql`UPDATE capsules SET ${sql.update(capsule)} WHERE id = ${world.capsuleId}`
  if (workspace !== undefined) {
    yield* sql`UPDATE workspaces SET ${sql.update(workspace)} WHERE id = ${world.workspaceA}`
  }
  return (yield* (yield* RunLedger).find(world.runId)) ?? (yield* Effect.die("no Run"))
})

const preparing = Effect.fnUntraced(function* (type: "plan" | "apply", given: Partial<Refusal>) {
  const run = yield* runOf(type, given)
  return yield* (yield* RunPreparation).prepare(run)
})

const prepared = (type: "plan" | "apply", given: Partial<Refusal>) =>
  preparing(type, given).pipe(Effect.provide(Layer.fresh(preparation({ ...ordinary, ...given.conditions }))))

/** Returns the reason why svc rejects a Run, and whether its Capsule is shown as waiting for a credential. */
const refused = (type: "plan" | "apply", given: Refusal) =>
  Effect.gen(function* () {
    const blocked = yield* Effect.flip(preparing(type, given))
    const sql = yield* SqlClient.SqlClient
    const [row] = yield* sql<{ wait: string | null }>`SELECT credential_wait AS wait FROM capsules
      WHERE id = ${world.capsuleId}`
    return { blocked, waits: row?.wait != null }
  }).pipe(Effect.provide(Layer.fresh(preparation({ ...ordinary, ...given.conditions }))))

for (const type of ["plan", "apply"] as const) {
  for (const refusal of type === "plan" ? ofEveryRun : [...ofEveryRun, ...ofApplies]) {
    it.live(`${type === "plan" ? "a plan" : "an apply"} ${refusal.why} does not start: ${refusal.code}`, () =>
      Effect.gen(function* () {
        const { blocked, waits } = yield* refused(type, refusal)
        expect(blocked).toMatchObject({ _tag: "RunBlocked", code: refusal.code })
        expect(blocked.message).not.toContain("a-cloud-token")
        // The Capsule is shown as waiting only if the reason is a credential problem.
        expect(waits).toBe(refusal.code.startsWith("blocked_"))
      })
    )
  }

  it.live(`${type === "plan" ? "a plan" : "an apply"} that meets all requirements starts with its Connection`, () =>
    Effect.gen(function* () {
      const { job } = yield* prepared(type, { conditions: { ...needsCloud, bound: connection() } })
      expect(job.tool).toMatchObject({ name: "opentofu", version: "1.10.0" })
      expect(job.credentials.map(({ connection: id }) => id)).toEqual([world.connectionId])
    })
  )
}

// A speculative Run, which needs no place in its Capsule's queue.
const speculative = { purpose: "speculative", requires_approval: 0, capsule_line: null } as const

it.live("a speculative plan without a credential does not start, and svc does not show its Capsule as waiting", () =>
  Effect.gen(function* () {
    const given = { why: "", code: "blocked_missing_connection", run: speculative, conditions: needsCloud } as const
    const { blocked, waits } = yield* refused("plan", given)
    expect(blocked).toMatchObject({ code: "blocked_missing_connection" })
    expect(waits).toBe(false)
  })
)

it.live("a Capsule is still shown as waiting for a credential even if its speculative plan has the credential", () =>
  Effect.gen(function* () {
    const wait = {
      credential_wait: CredentialWaitJson.write({
        runId: world.runId,
        since: past,
        provider,
        moduleLocalName: "cloud",
        reason: "The Connection is revoked.",
        ...renewedWait
      })
    }
    const given = { run: speculative, capsule: wait, conditions: { ...needsCloud, bound: connection() } } as const
    const sql = yield* Effect.gen(function* () {
      yield* preparing("plan", given)
      const client = yield* SqlClient.SqlClient
      return yield* client`SELECT credential_wait FROM capsules WHERE id = ${world.capsuleId}`
    }).pipe(Effect.provide(Layer.fresh(preparation({ ...ordinary, ...given.conditions }))))
    expect(sql).toEqual([wait])
  })
)

it.live(
  "a speculative plan does not start if the Capsule would first have to adopt the operator's changed base configuration",
  () =>
    Effect.gen(function* () {
      const behind = Layer.mock(OperatorSuccession)({
        isBehind: () => Effect.succeed(true),
        placeOf: () => Effect.undefined,
        follow: () => Effect.die("A speculative plan changes nothing of its Capsule")
      })
      const blocked = yield* Effect.flip(preparing("plan", { run: speculative })).pipe(
        Effect.provide(Layer.fresh(preparation(ordinary, behind)))
      )
      expect(blocked).toMatchObject({ _tag: "RunBlocked", code: "failed_precondition" })
      expect(blocked.message).toContain("Plan the Capsule once")
    })
)

it.live("a module with OpenTofu-only files is checked again for Terraform", () =>
  Effect.gen(function* () {
    const module = { status: "needs_attention", findings: ["opentofu_file"] } as const
    const terraform = { name: "terraform", version: "1.9.0" } as const
    const again = yield* Effect.flip(prepared("plan", { conditions: { tool: terraform, module } }))
    expect(again).toMatchObject({ _tag: "RunBlocked", message: "Checked again for terraform" })
    expect((yield* prepared("plan", { conditions: { module } })).job.tool.name).toBe("opentofu")
  })
)

it.live("svc rejects an apply if an Output that its plan used is no longer offered", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const planRunId = namedRun("plan")
    const at = "2026-01-01T00:00:00.000Z"
    yield* sql`INSERT INTO runs ${sql.insert({ id: planRunId, workspace_id: world.workspaceA, type: "plan", status: "succeeded", capsule_id: world.capsuleId, requires_approval: 1, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: at, queued_at: at })}`
    const consumed = JSON.stringify([{ dependencyId: "dep_nnnnnnnnnnnnnnnnnnnnnnnn" }])
    yield* sql`INSERT INTO run_plans ${sql.insert({ run_id: planRunId, plan_file: "", lock_text: "", consumed_outputs: consumed, created_at: at })}`
    const run = yield* runOf("apply", { run: { plan_run_id: planRunId } })
    const blocked = yield* Effect.flip((yield* RunPreparation).prepare(run))
    expect(blocked).toMatchObject({ code: "superseded" })
  }).pipe(Effect.provide(Layer.fresh(preparation(ordinary))))
)

it.live("a waiting plan adopts and records the current authority", () =>
  Effect.gen(function* () {
    const run = yield* runOf("plan", { capsule: { execution_authority_epoch: 7, current_state_generation: 3 } })
    yield* (yield* RunPreparation).prepare(run)
    expect(yield* (yield* RunLedger).find(world.runId)).toMatchObject({
      execution_authority_epoch: 7,
      base_state_generation: 3
    })
  }).pipe(Effect.provide(Layer.fresh(preparation(ordinary))))
)
