import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { ConfigurationPlanRequest, ReAdoptionRequest } from "../../../../schema/api/ConfigurationRequests.ts"
import { type CapsuleId, InstallConfigId, SourceSnapshotId, StateVersionId } from "../../../../schema/records/Ids.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, applying, freshKey, planned, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const secret = "authority-canary-secret-1f7e"
const main = (extra = "", output = "") => ({
  "main.tf": `
    variable "name" { type = string }
    variable "size" {
      type    = number
      default = 1
    }
    variable "secret" {
      type      = string
      sensitive = true
    }
    ${extra}
    resource "terraform_data" "a" { input = "\${var.name} \${var.size}" }
    output "a" { value = "\${terraform_data.a.output}${output}" }`
})
const variables = { name: "one", secret }

const guardOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { installConfigReAdoption } = yield* (yield* Capsules).read(capsuleId)
  return { authorityGuard: installConfigReAdoption.authorityGuard }
})

const outputOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  return (yield* (yield* Capsules).outputs(capsuleId)).map((output) => output.value)
})

/** Returns the error code with which svc rejects a configuration plan. */
const configureRefused = Effect.fnUntraced(function* (
  capsuleId: CapsuleId,
  request: Omit<ConfigurationPlanRequest, "expected"> & Partial<Pick<ConfigurationPlanRequest, "expected">>
) {
  const { context } = yield* TestPlane
  const expected = request.expected ?? (yield* guardOf(capsuleId))
  const error = yield* Effect.flip(
    (yield* CapsuleCommands).ConfigurationPlan(capsuleId, {
      context,
      request: { ...request, expected },
      idempotency: freshKey()
    })
  )
  return error.code
})

describe.skipIf(Bun.which("terraform") === null)("Capsule authority", () => {
  tests.live(
    "a configuration plan replaces the private configuration and the authority, and starts only a plan",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId, dataDir } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* Runs
        const runCommands = yield* RunCommands
        const { capsule } = yield* active("configure", main(), { variables })
        const before = yield* guardOf(capsule.id)
        const old = yield* replanned(capsule.id)
        yield* runCommands.Approve(old.id, { context })
        // The guard is unchanged, because it depends on the authority, not on the time.
        expect(yield* guardOf(capsule.id)).toEqual(before)

        const request = { variablePatch: { set: { name: "two" }, remove: [] }, expected: before }
        const key = freshKey("configure")
        const both = yield* Effect.all(
          [
            capsuleCommands.ConfigurationPlan(capsule.id, { context, request, idempotency: key }),
            capsuleCommands.ConfigurationPlan(capsule.id, { context, request, idempotency: key })
          ],
          { concurrency: "unbounded" }
        )
        expect(both.map(({ replayed }) => replayed).toSorted()).toEqual([false, true])
        expect(new Set(both.map(({ value }) => value.planRunId)).size).toBe(1)
        const { planRunId, targetInstallConfigId } = both[0].value
        const after = yield* capsules.read(capsule.id)
        expect(after.executionAuthorityEpoch).toBe(capsule.executionAuthorityEpoch + 1)
        expect(after.installConfigId).toBe(targetInstallConfigId)
        expect(after.installConfigReAdoption.authorityGuard).not.toBe(before.authorityGuard)
        expect(yield* outputOf(capsule.id)).toEqual(["one 1"])

        // Approvals given under the old authority are void.
        expect((yield* runs.read(old.id)).status).toBe("superseded")
        expect((yield* Effect.flip(runs.apply(context, old.id, undefined))).code).toBe("failed_precondition")
        expect(
          (yield* Effect.flip(
            capsuleCommands.ConfigurationPlan(capsule.id, {
              context,
              request: { ...request, variablePatch: {} },
              idempotency: { ...key, requestDigest: "other" }
            })
          )).code
        ).toBe("idempotency_conflict")

        const plan = yield* settled(planRunId)
        expect(plan.status).toBe("waiting_approval")
        expect(plan.executionAuthorityEpoch).toBe(2)
        expect(plan.resolvedCommit).toBe(capsule.adoptedSourceRevision?.resolvedCommit)
        expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["two 1"])
        const replay = yield* capsuleCommands.ConfigurationPlan(capsule.id, { context, request, idempotency: key })
        expect([replay.replayed, replay.value.planRunId]).toEqual([true, planRunId])
        const shown = yield* capsules.installConfig(workspaceId, targetInstallConfigId)
        expect(shown.variables.map(({ name, set }) => [name, set])).toEqual([
          ["name", true],
          ["secret", true],
          ["size", false]
        ])
        expect(JSON.stringify(shown)).not.toContain(secret)

        // svc rejects each of these requests, and none changes the authority.
        const id = capsule.id
        expect(yield* configureRefused(id, { variablePatch: { set: { name: "x" } }, expected: before })).toBe(
          "guard_conflict"
        )
        expect(yield* configureRefused(id, { expected: { authorityGuard: "made up" } })).toBe("guard_conflict")
        expect(yield* configureRefused(id, { variablePatch: { set: { no_such: 1 } } })).toBe("invalid_request")
        expect(yield* configureRefused(id, { variablePatch: { set: { size: "big" } } })).toBe("invalid_request")
        expect(yield* configureRefused(id, { variablePatch: { set: { name: "[redacted]" } } })).toBe("invalid_request")
        expect(yield* configureRefused(id, { variablePatch: { remove: ["size"] } })).toBe("invalid_request")
        expect(yield* configureRefused(id, { variablePatch: { remove: ["name"] } })).toBe("invalid_request")
        expect(yield* configureRefused(id, { variablePatch: { set: { name: "x" }, remove: ["name"] } })).toBe(
          "invalid_request"
        )
        expect((yield* capsules.read(id)).executionAuthorityEpoch).toBe(2)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE compatibility_reports SET contract_digest = 'sha256:moved' WHERE id =
          (SELECT compatibility_report_id FROM install_configs WHERE id = ${targetInstallConfigId})`
        expect(yield* configureRefused(id, { variablePatch: { set: { name: "x" } } })).toBe("failed_precondition")
        yield* sql`UPDATE compatibility_reports SET contract_digest =
          (SELECT contract_digest FROM install_configs WHERE id = ${targetInstallConfigId}) WHERE contract_digest = 'sha256:moved'`

        const running = yield* capsuleCommands.Plan(id, { context })
        expect(yield* configureRefused(id, {})).toBe("run_conflict")
        yield* settled(running.value.id)
        const revisions = yield* RevisionPlans
        const revisionPlanCommands = yield* RevisionPlanCommands
        const revision = yield* revisions.create(context, id, { ref: "configure" }, freshKey())
        expect(yield* configureRefused(id, {})).toBe("run_conflict")
        yield* stepped(revisionPlanCommands.Reconcile(revision.value.id, { context }))
        yield* capsuleCommands.Update(id, { context, status: "disabled" })
        expect(yield* configureRefused(id, {})).toBe("failed_precondition")
        expect((yield* capsuleCommands.Update(id, { context, status: "active" })).status).toBe("active")
        expect(canarySweep(dataDir, [secret])).toEqual([])
      }),
    120_000
  )

  tests.live(
    "a Capsule that has never been applied is configured at the reviewed commit",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const { capsuleId, plan } = yield* planned("unapplied", main(), { variables })
        yield* commit("unapplied", main("", " newer"))
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { sourceId } = yield* capsules.read(capsuleId)
        yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
        const request = { variablePatch: { set: { size: 3 } }, expected: yield* guardOf(capsuleId) }
        const configured = yield* capsuleCommands.ConfigurationPlan(capsuleId, {
          context,
          request,
          idempotency: freshKey()
        })
        const again = yield* settled(configured.value.planRunId)
        expect(again.resolvedCommit).toBe(plan.resolvedCommit)
        expect((yield* applied(again)).status).toBe("succeeded")
        expect(yield* outputOf(capsuleId)).toEqual(["one 3"])
        // The newer commit already exists, so the apply leaves the Capsule stale.
        expect((yield* capsules.read(capsuleId)).status).toBe("stale")
      }),
    120_000
  )

  tests.live(
    "re-adoption binds a derived configuration and starts no Run",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { capsule } = yield* active("readopt", main(), { variables })
        const config = yield* capsules.installConfig(workspaceId, capsule.installConfigId)
        const snapshot = capsule.adoptedSourceRevision?.sourceSnapshotId ?? (yield* Effect.die("none"))
        const base = {
          baseInstallConfigId: capsule.installConfigId,
          sourceSnapshotId: snapshot,
          reason: "the size was reviewed"
        }
        const waiting = yield* replanned(capsule.id)
        const refused = Effect.fnUntraced(function* (change: Partial<ReAdoptionRequest>) {
          const request = { ...base, expected: yield* guardOf(capsule.id), ...change }
          return (yield* Effect.flip(
            capsuleCommands.ReAdopt(capsule.id, { context, request, idempotency: freshKey() })
          )).code
        })
        expect(yield* refused({ expected: { authorityGuard: "ag1.stale" } })).toBe("guard_conflict")
        expect(yield* refused({ baseInstallConfigId: InstallConfigId.make(`icfg_${"a".repeat(16)}`) })).toBe(
          "failed_precondition"
        )
        expect(yield* refused({ sourceSnapshotId: SourceSnapshotId.make(`snap_${"a".repeat(16)}`) })).toBe(
          "failed_precondition"
        )
        expect(yield* refused({ reviewedUserVariables: { name: "x", no_such: 1 } })).toBe("invalid_request")
        expect(yield* refused({ reviewedUserVariables: { name: "x", secret: "y" } })).toBe("invalid_request")
        expect(yield* refused({ reviewedUserVariables: { size: 2 } })).toBe("invalid_request")
        expect(yield* refused({ reviewedUserVariables: { name: 5 } })).toBe("invalid_request")
        expect(yield* refused({ reason: `use password=${"hunter2".repeat(4)} then` })).toBe("invalid_request")
        expect((yield* settled(waiting.id)).status).toBe("waiting_approval")

        const request = { ...base, reviewedUserVariables: { name: "three" }, expected: yield* guardOf(capsule.id) }
        const key = freshKey("readopt")
        const done = yield* capsuleCommands.ReAdopt(capsule.id, { context, request, idempotency: key })
        expect(done.replayed).toBe(false)
        expect(done.value).toMatchObject({
          previousInstallConfigId: capsule.installConfigId,
          previousInstallConfigDigest: config.digest,
          sourceSnapshotId: snapshot
        })
        expect(done.value.targetInstallConfigDigest).not.toBe(config.digest)
        expect(done.value.capsule.executionAuthorityEpoch).toBe(2)
        expect(done.value.capsule.status).toBe("active")
        expect((yield* (yield* Runs).read(waiting.id)).status).toBe("superseded")
        const replay = yield* capsuleCommands.ReAdopt(capsule.id, { context, request, idempotency: key })
        expect([replay.replayed, replay.value.targetInstallConfigId]).toEqual([true, done.value.targetInstallConfigId])
        expect(
          (yield* Effect.flip(
            capsuleCommands.ReAdopt(capsule.id, { context, request, idempotency: { ...key, requestDigest: "x" } })
          )).code
        ).toBe("idempotency_conflict")
        // The secret input is kept although the re-adoption did not review it; an omitted optional input is unset.
        const plan = yield* replanned(capsule.id)
        expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["three 1"])

        // A later revision declares a different input. Its apply derives the configuration from that declaration.
        yield* commit("readopt", main(`variable "added" {\n type = string\n default = ""\n}`, "${var.added}"))
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")
        expect(yield* configureRefused(capsule.id, { variablePatch: { set: { added: "!" } } })).toBe("invalid_request")
        const now = yield* capsules.read(capsule.id)
        const next = {
          ...base,
          baseInstallConfigId: now.installConfigId,
          sourceSnapshotId: now.adoptedSourceRevision?.sourceSnapshotId ?? snapshot,
          reviewedUserVariables: { name: "three", added: "!" },
          expected: yield* guardOf(capsule.id)
        }
        yield* capsuleCommands.ReAdopt(capsule.id, { context, request: next, idempotency: freshKey() })
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["three 1!"])

        const queued = yield* capsuleCommands.Plan(capsule.id, { context })
        expect(yield* refused({ baseInstallConfigId: (yield* capsules.read(capsule.id)).installConfigId })).toBe(
          "run_conflict"
        )
        yield* settled(queued.value.id)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE capsules SET runtime_safety = 'unknown', status = 'error' WHERE id = ${capsule.id}`
        expect(yield* refused({ baseInstallConfigId: (yield* capsules.read(capsule.id)).installConfigId })).toBe(
          "failed_precondition"
        )
      }),
    120_000
  )

  tests.live(
    "a rollback plan restores the commit and configuration of an earlier state under new authority",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* Runs
        const { capsule } = yield* active("rollback", main(), { variables })
        const configured = yield* capsuleCommands.ConfigurationPlan(capsule.id, {
          context,
          request: { variablePatch: { set: { name: "two" } }, expected: yield* guardOf(capsule.id) },
          idempotency: freshKey()
        })
        expect((yield* applied(yield* settled(configured.value.planRunId))).status).toBe("succeeded")
        expect(yield* outputOf(capsule.id)).toEqual(["two 1"])
        const first = (yield* capsules.stateVersions(capsule.id, { limit: 10 })).items.find(
          ({ generation }) => generation === 1
        )
        if (first === undefined) return yield* Effect.die("no state")
        const plan = yield* settled((yield* runs.rollbackPlan(context, first.id)).id)
        expect(plan.executionAuthorityEpoch).toBe(3)
        expect(plan.baseStateGeneration).toBe(2)
        expect(plan.purpose).toBe("rollback")
        const apply = yield* applied(plan)
        expect([apply.status, apply.purpose]).toEqual(["succeeded", "rollback"])
        expect(yield* outputOf(capsule.id)).toEqual(["one 1"])
        expect((yield* capsules.read(capsule.id)).currentStateGeneration).toBe(3)

        const missing = StateVersionId.make(`sv_${"a".repeat(16)}`)
        expect((yield* Effect.flip(runs.rollbackPlan(context, missing))).code).toBe("not_found")
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE state_versions SET partial = 1 WHERE id = ${first.id}`
        expect((yield* Effect.flip(runs.rollbackPlan(context, first.id))).code).toBe("failed_precondition")

        // A Capsule that has been applied can be removed only by a destroy plan. A destroyed Capsule accepts no further commands.
        const removal = yield* capsuleCommands.Remove(capsule.id, { context })
        if (!("run" in removal)) return yield* Effect.die("removed without a Run")
        const destroy = yield* settled(removal.run.id)
        const teardown = yield* applying(destroy)
        expect((yield* settled(teardown.id)).status).toBe("succeeded")
        expect((yield* capsules.read(capsule.id)).status).toBe("destroyed")
        expect(yield* outputOf(capsule.id)).toEqual([])
        expect((yield* Effect.flip(capsuleCommands.Plan(capsule.id, { context }))).code).toBe("failed_precondition")
        expect((yield* Effect.flip(capsuleCommands.DriftCheck(capsule.id, { context }))).code).toBe(
          "failed_precondition"
        )
        expect(yield* configureRefused(capsule.id, {})).toBe("failed_precondition")
      }),
    120_000
  )
})
