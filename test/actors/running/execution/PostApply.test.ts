import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { ApplySettlement } from "../../../../actors/running/execution/ApplySettlement.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { ApplyRecovery } from "../../../../actors/running/execution/ApplyRecovery.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunCancels } from "../../../../actors/ledger/run/RunCancels.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, applying, eventOf, freshKey, planned, replanned } from "../../../support/Journey.ts"
import { TestPlane } from "../../../support/TestPlane.ts"
import { Operator, operatorPlane } from "../../support/OperatorPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const tests = suite(operatorPlane)
afterAll(tests.dispose)

const main = {
  "main.tf": `
    variable "site" { type = string }
    variable "size" {
      type    = number
      default = 1
    }
    resource "terraform_data" "a" { input = var.size }
    output "site" { value = var.site }
    output "size" { value = terraform_data.a.output }`
}

const check = (more: Readonly<Record<string, unknown>> = {}) => ({
  name: "health",
  kind: "http",
  target: { output: "site" },
  path: "/healthz",
  timeout: 2,
  interval: 1,
  ...more
})

const canary = "answer-canary-7f3a"

/** Sets these checks in the operator's policy, and sets the response of the site that they call. */
const arranged = Effect.fnUntraced(function* (
  checks: ReadonlyArray<Readonly<Record<string, unknown>>>,
  answer: { readonly status: number; readonly location?: string }
) {
  const operator = yield* Operator
  yield* operator.set({ baseConfigs: [{ origin: operator.gitOrigin, lifecycle: { postApply: checks } }] })
  delete operator.answers.location
  Object.assign(operator.answers, { body: canary, asked: [], ...answer })
  return operator
})

type Columns = Readonly<Record<string, string | number | null>>

/** Returns the request that would re-adopt a Capsule in its current state. */
const adoption = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const capsule = yield* (yield* Capsules).read(capsuleId)
  return {
    baseInstallConfigId: capsule.installConfigId,
    sourceSnapshotId: capsule.adoptedSourceRevision?.sourceSnapshotId ?? (yield* Effect.die("no revision")),
    reason: "the check of the operator was wrong",
    expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
  }
})

const rowOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const [row] = yield* (yield* SqlClient.SqlClient)`SELECT * FROM capsules WHERE id = ${capsuleId}`
  return row ?? (yield* Effect.die("no Capsule"))
})

describe.skipIf(Bun.which("terraform") === null)("Post-apply checks", () => {
  tests.live("an apply succeeds if its check gets the expected response, and the check sends no credentials", () =>
    Effect.gen(function* () {
      const { answers, site } = yield* arranged([check({ contains: canary, timeout: 600 })], { status: 200 })
      const { apply, capsule, plan } = yield* active("healthy", main, { variables: { site } })
      expect(plan.operatorConfig?.postApply).toEqual([
        { name: "health", target: "the Output site", path: "/healthz", status: [200], timeoutSeconds: 600 }
      ])
      expect(apply.postApply).toEqual([{ name: "health", status: "passed", attempts: 1 }])
      expect([capsule.status, capsule.runtimeSafety]).toEqual(["active", "safe"])
      const [asked] = answers.asked
      expect(asked?.path).toBe("/healthz")
      expect(asked?.headers.toSorted()).toEqual(["accept", "accept-encoding", "connection", "host", "user-agent"])
      // svc stores nothing from the response.
      const sql = yield* SqlClient.SqlClient
      const { items } = yield* (yield* RunStreams).logs(apply.id, 0, 1000)
      const kept = [yield* sql`SELECT * FROM runs`, yield* sql`SELECT * FROM run_events`, items]
      expect(JSON.stringify(kept)).not.toContain(canary)
    })
  )

  tests.live(
    "svc commits the state and Outputs even if a check fails, and recovery makes the Capsule active again",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const sql = yield* SqlClient.SqlClient
        // svc treats a redirect as a response and does not follow it.
        const { answers, site } = yield* arranged([check(), check({ name: "later" })], { status: 503 })
        const { capsuleId, plan } = yield* planned("ill", main, { variables: { site } })
        const apply = yield* applied(plan)
        expect(apply).toMatchObject({ status: "failed", error: { code: "lifecycle_failed" } })
        expect(apply.error?.message).toContain("status 503 instead of 200")
        expect(apply.postApply?.map(({ name, status }) => [name, status])).toEqual([
          ["health", "failed"],
          ["later", "not_run"]
        ])
        const failed = yield* capsules.read(capsuleId)
        expect(failed).toMatchObject({ status: "error", runtimeSafety: "unknown", currentStateGeneration: 1 })
        expect(failed.currentStateVersionId).toBe(apply.stateVersionId)
        expect((yield* capsules.outputs(capsuleId)).map(({ name }) => name)).toEqual(["site", "size"])
        const old = yield* replanned(capsuleId)

        // Violates one re-adoption condition at a time.
        const attempt = adoption(capsuleId).pipe(
          Effect.flatMap((request) => capsuleCommands.ReAdopt(capsuleId, { context, request, idempotency: freshKey() }))
        )
        const broken: ReadonlyArray<readonly [table: string, id: string, columns: Columns]> = [
          ["capsules", capsuleId, { status: "active" }],
          ["capsules", capsuleId, { current_state_generation: 2 }],
          ["capsules", capsuleId, { execution_authority_epoch: 3 }],
          ["runs", apply.id, { provider_apply_succeeded: 0 }],
          ["runs", apply.id, { provider_apply_succeeded: null }],
          ["runs", apply.id, { type: "destroy_apply" }],
          ["runs", apply.id, { type: "restore" }],
          ["runs", apply.id, { status: "cancelled" }],
          ["runs", apply.id, { error_code: "apply_failed" }],
          ["runs", apply.id, { evidence: JSON.stringify({ postApply: [] }) }],
          [
            "runs",
            apply.id,
            { evidence: JSON.stringify({ postApply: apply.postApply, possiblyCreated: ["terraform_data.b"] }) }
          ],
          ["runs", apply.id, { state_version_id: null }],
          ["runs", plan.id, { used_by_run_id: null }],
          ["runs", plan.id, { plan_digest: `sha256:${"0".repeat(64)}` }],
          ["state_versions", apply.stateVersionId ?? "", { partial: 1 }],
          ["state_versions", apply.stateVersionId ?? "", { created_by_run_id: plan.id }]
        ]
        for (const [table, id, columns] of broken) {
          const [before] = yield* sql<Columns>`SELECT * FROM ${sql(table)} WHERE id = ${id}`
          yield* sql`UPDATE ${sql(table)} SET ${sql.update(columns)} WHERE id = ${id}`
          const error = yield* Effect.flip(attempt)
          expect([table, columns, error.code]).toEqual([table, columns, "failed_precondition"])
          const restored = Object.fromEntries(Object.keys(columns).map((name) => [name, before?.[name] ?? null]))
          yield* sql`UPDATE ${sql(table)} SET ${sql.update(restored)} WHERE id = ${id}`
        }
        yield* sql`UPDATE installation SET restored_at = '9999-01-01T00:00:00.000Z'`
        expect((yield* Effect.flip(attempt)).message).toContain("restored from a backup")
        yield* sql`UPDATE installation SET restored_at = NULL`
        // After any later apply, re-adoption cannot recover the failed check, whatever the outcome of that apply.
        const later = "run_llllllllllllllllllllllll"
        yield* sql`INSERT INTO runs ${sql.insert({ id: later, workspace_id: failed.workspaceId, type: "apply", status: "failed", capsule_id: capsuleId, requires_approval: 0, trigger_kind: "user", attempt: 1, spec: "{}", evidence: "{}", created_at: "9999-01-01T00:00:00.000Z", queued_at: "9999-01-01T00:00:00.000Z", finished_at: "9999-01-01T00:00:00.000Z" })}`
        expect((yield* Effect.flip(attempt)).code).toBe("failed_precondition")
        yield* sql`DELETE FROM runs WHERE id = ${later}`

        // After the operator corrects the check, re-adoption runs the corrected check and changes only the authority.
        yield* arranged([check({ status: [503] })], { status: 503 })
        const before = yield* rowOf(capsuleId)
        const done = yield* attempt
        const { execution_authority_epoch, install_config_id, updated_at, ...rest } = yield* rowOf(capsuleId)
        expect(rest).toEqual(Object.fromEntries(Object.entries(before).filter(([name]) => Object.hasOwn(rest, name))))
        expect([execution_authority_epoch, install_config_id]).toEqual([2, done.value.targetInstallConfigId])
        expect(updated_at).not.toBe(before["updated_at"])
        expect(yield* (yield* Runs).read(old.id)).toMatchObject({ status: "superseded" })
        // Re-adoption can be repeated until something else changes the Capsule.
        expect((yield* attempt).value.capsule).toMatchObject({ status: "error", executionAuthorityEpoch: 3 })
        const fresh = yield* replanned(capsuleId)
        expect(fresh.operatorConfig?.postApply).toMatchObject([{ status: [503] }])
        expect((yield* applied(fresh)).status).toBe("succeeded")
        expect(yield* capsules.read(capsuleId)).toMatchObject({ status: "active", runtimeSafety: "safe" })
        expect(answers.asked.length).toBeGreaterThan(0)
      })
  )

  tests.live("a check does not follow redirects or send requests to a private address", () =>
    Effect.gen(function* () {
      const { answers, site } = yield* arranged([check()], { status: 302, location: "/elsewhere" })
      const { capsuleId, plan } = yield* planned("redirect", main, { variables: { site } })
      const apply = yield* applied(plan)
      expect(apply.error?.message).toContain("status 302 instead of 200")
      expect(new Set(answers.asked.map(({ path }) => path))).toEqual(new Set(["/healthz"]))
      yield* arranged([check({ target: { endpoint: true } })], { status: 200 })
      const ended = yield* applied(yield* replanned(capsuleId))
      expect(ended.error?.message).toContain("the Capsule has no endpoint")
    })
  )

  tests.live("stopping the service during a check leaves the state committed and the Capsule in error", () =>
    Effect.gen(function* () {
      const { site } = yield* arranged([check({ timeout: 600, interval: 300 })], { status: 503 })
      const { capsuleId, plan } = yield* planned("ended", main, { variables: { site } })
      const apply = yield* applying(plan)
      const ledger = yield* RunLedger
      // svc commits the state before it sends any check.
      for (let times = 1; ; times += 1) {
        const event = yield* eventOf(apply.id, "run.phase", times)
        if (event.kind === "run.phase" && event.data["phase"] === "check") break
      }
      const during = yield* (yield* Capsules).read(capsuleId)
      expect(during).toMatchObject({ status: "pending", runtimeSafety: "unknown", currentStateGeneration: 1 })
      const row = (yield* ledger.find(apply.id)) ?? (yield* Effect.die("no Run"))
      const error = { code: "apply_interrupted", message: "interrupted" }
      const nothing = { kind: "nothing" } as const
      yield* (yield* ApplyRecovery).settle(row, nothing, { untouched: error, interrupted: error })
      const ended = yield* (yield* Runs).read(apply.id)
      expect(ended).toMatchObject({ status: "failed", error: { code: "lifecycle_interrupted" } })
      expect(ended.postApply).toEqual([{ name: "health", status: "not_run", attempts: 0 }])
      const capsule = yield* (yield* Capsules).read(capsuleId)
      expect(capsule).toMatchObject({ status: "error", runtimeSafety: "unknown", currentStateGeneration: 1 })
      // A second settlement changes nothing, because the apply is already settled.
      const second = yield* Effect.flip((yield* ApplySettlement).conclude(holdOf(row), { results: [] }))
      expect(second._tag).toBe("HoldLost")
      expect((yield* (yield* Capsules).read(capsuleId)).status).toBe("error")
      yield* (yield* RunCancels).cancel(apply.id)
    })
  )
})
