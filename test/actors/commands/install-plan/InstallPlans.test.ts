import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CreateInstallPlan } from "../../../../schema/api/InstallPlansApi.ts"
import {
  CompatibilityReportId,
  ConnectionId,
  InstallConfigId,
  ProjectId,
  RunId,
  SourceId,
  SourceSnapshotId
} from "../../../../schema/records/Ids.ts"
import { RelativePath } from "../../../../schema/records/Primitives.ts"
import { canarySweep } from "../../../support/CanarySweep.ts"
import { suite } from "../../../support/Effect.ts"
import {
  bound,
  demoConnection,
  demoModule,
  driven,
  freshKey,
  install,
  note,
  planned,
  requestOf,
  settled
} from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { InstallPlanCommands } from "../../../../schema/commands/InstallPlanCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const greeting = `
variable "greeting" {
  type      = string
  sensitive = true
}
variable "count_of" {
  type    = number
  default = 1
}
resource "terraform_data" "note" {
  input = var.greeting
}
`
const canary = "install-canary-private-6d2f"
const here = RelativePath.make(".")

const rowOf = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ private_variables: string | null; request: string }>`
    SELECT private_variables, request FROM install_plans WHERE id = ${id}`
  return rows[0]
})

const refusedCreate = Effect.fnUntraced(function* (request: CreateInstallPlan) {
  const { context, workspaceId } = yield* TestPlane
  const error = yield* Effect.flip((yield* InstallPlans).create(context, workspaceId, request, freshKey()))
  return [error.code, error.message.split(":")[0] ?? ""]
})

describe.skipIf(Bun.which("terraform") === null)("Install plans", () => {
  tests.live(
    "concurrent identical install requests create one record and discard the private values of the other requests",
    () =>
      Effect.gen(function* () {
        const { commit, context, dataDir, workspaceId } = yield* TestPlane
        const plans = yield* InstallPlans
        const installPlanCommands = yield* InstallPlanCommands
        yield* commit("equal", { "main.tf": greeting })
        const request = yield* requestOf("equal", { variables: { greeting: canary } })
        const key = freshKey("same")
        const answers = yield* Effect.all(
          Array.from({ length: 8 }, () => plans.create(context, workspaceId, request, key)),
          { concurrency: "unbounded" }
        )
        expect(answers.filter((answer) => !answer.replayed)).toHaveLength(1)
        const [id] = new Set(answers.map((answer) => answer.value.id))
        expect(new Set(answers.map((answer) => answer.value.id)).size).toBe(1)
        if (id === undefined) return yield* Effect.die("no plan")
        expect(
          (yield* Effect.flip(plans.create(context, workspaceId, request, { ...key, requestDigest: "other" }))).code
        ).toBe("idempotency_conflict")

        // Several people advance the install while the service also advances it automatically.
        const [plan] = yield* Effect.all(
          Array.from({ length: 4 }, () => driven(id)),
          { concurrency: "unbounded" }
        )
        expect(plan?.phase).toBe("reviewable")
        expect(plan?.nextAction).toBe("review_run")
        const sql = yield* SqlClient.SqlClient
        const runs = yield* sql`SELECT type, status FROM runs WHERE coordinator_id = ${id} ORDER BY created_at, id`
        expect(runs).toEqual([
          { type: "source_sync", status: "succeeded" },
          { type: "compatibility_check", status: "succeeded" },
          { type: "plan", status: "waiting_approval" }
        ])
        expect((yield* installPlanCommands.Reconcile(id, { context })).planRunId).toBe(plan?.planRunId)

        const row = yield* rowOf(id)
        expect(row?.private_variables).toBeNull()
        expect(row?.request).not.toContain(canary)
        expect(JSON.stringify(plan)).not.toContain(canary)
        expect(canarySweep(dataDir, [canary])).toEqual([])
        // Idempotency keys are scoped to a person, so another person may use the same key for a different request.
        const stranger = yield* newOwner("equal-stranger")
        const other = yield* plans.create(stranger.context, stranger.workspaceId, request, key)
        expect(other.replayed).toBe(false)
        expect(other.value.id).not.toBe(id)
      }),
    120_000
  )

  tests.live(
    "an install selects the only module, requires a choice among several, and reports the errors in a module",
    () =>
      Effect.gen(function* () {
        const failed = Effect.fnUntraced(function* (
          branch: string,
          files: Parameters<typeof install>[1],
          more: Parameters<typeof install>[2] = {}
        ) {
          const plan = yield* install(branch, files, more)
          expect(plan.phase).toBe("failed")
          expect(plan.nextAction).toBe("none")
          expect((yield* rowOf(plan.id))?.private_variables).toBeNull()
          expect(plan.capsuleId === undefined || plan.planRunId !== undefined).toBe(true)
          return plan.diagnostics.map((finding) => finding.code)
        })
        const { context, workspaceId, commit, url } = yield* TestPlane
        const plans = yield* InstallPlans

        /** Starts an install from the branch without specifying a module. */
        const anyModule = Effect.fnUntraced(function* (branch: string, files: Parameters<typeof install>[1]) {
          yield* commit(branch, files)
          const request = {
            source: { name: branch, url, ref: branch },
            capsule: { name: branch, environment: "test" },
            variables: { greeting: canary }
          }
          return yield* driven((yield* plans.create(context, workspaceId, request, freshKey())).value.id)
        })

        const chosen = yield* anyModule("only", { "deploy/main.tf": greeting })
        expect(chosen.phase).toBe("reviewable")
        expect((yield* (yield* Capsules).read(chosen.capsuleId ?? (yield* Effect.die("none")))).modulePath).toBe(
          "deploy"
        )

        const several = yield* anyModule("several", { "a/main.tf": greeting, "b/main.tf": greeting })
        expect(several.diagnostics[0]?.code).toBe("module_selection_required")
        expect((yield* rowOf(several.id))?.private_variables).toBeNull()

        const at = (path: string) => ({ options: { modulePath: RelativePath.make(path) } })
        expect(yield* failed("unknown", { "a/main.tf": greeting }, at("c"))).toEqual(["module_not_found"])
        const remote = `module "far" { source = "git::https://example.com/x.git?ref=0123456789012345678901234567890123456789" }`
        expect(yield* failed("remote", { "main.tf": remote })).toContain("module_unsupported")

        const main = { "main.tf": greeting }
        expect(yield* failed("absent", main)).toEqual(["input_required"])
        expect(yield* failed("typed", main, { variables: { greeting: canary, count_of: "many" } })).toEqual([
          "invalid_request"
        ])
        expect(yield* failed("undeclared", main, { variables: { greeting: canary, no_such: 1 } })).toEqual([
          "invalid_request"
        ])
        const connection = yield* demoConnection("install-canary-token-31aa")
        const demoFiles = { "main.tf": demoModule(note("x")) }
        for (const wrong of [
          { ...bound(connection.id), childAlias: "other" },
          { ...bound(connection.id), moduleLocalName: "demo2" },
          { ...bound(connection.id), provider: "example.test/acme/other" }
        ]) {
          const branch = `binding-${wrong.childAlias ?? wrong.moduleLocalName}-${wrong.provider.length}`
          expect(yield* failed(branch, demoFiles, { options: { providerBindings: [wrong] } })).toEqual([
            "invalid_request"
          ])
        }
        const twice = { options: { providerBindings: [bound(connection.id), bound(connection.id)] } }
        expect(yield* failed("twice", demoFiles, twice)).toEqual(["invalid_request"])
        expect(yield* failed("empty", { "README.md": "no module" })).toEqual(["module_not_found"])
        const sql = yield* SqlClient.SqlClient
        // A failed install leaves no Capsule, only the install plan and its Runs.
        expect(
          yield* sql`SELECT name FROM capsules WHERE name IN ('several', 'unknown', 'remote', 'typed', 'twice')`
        ).toEqual([])
      }),
    120_000
  )

  tests.live(
    "an install uses exactly the compatibility check that was reviewed",
    () =>
      Effect.gen(function* () {
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sources = yield* Sources
        yield* commit("preflight", { "main.tf": greeting, "second/main.tf": greeting })
        const { source } = yield* sources.create(context, {
          workspaceId,
          name: "preflight",
          url,
          defaultRef: "preflight"
        })
        const sync = yield* settled((yield* sources.sync(context, source.id, { intent: "manual_plan" })).id)
        const snapshotId = sync.sourceSnapshotId ?? (yield* Effect.die("no snapshot"))
        const check = yield* sources.checkCompatibility(context, source.id, {
          sourceSnapshotId: snapshotId,
          modulePath: here
        })
        expect(check.compatibilityReport.status).toBe("ready")
        const second = yield* sources.checkCompatibility(context, source.id, {
          sourceSnapshotId: snapshotId,
          modulePath: RelativePath.make("second")
        })
        const preflight = {
          sourceId: source.id,
          sourceSnapshotId: snapshotId,
          compatibilityCheckRunId: check.run.id,
          compatibilityReportId: check.compatibilityReport.id
        }
        const request = {
          ...(yield* requestOf("preflight", { variables: { greeting: canary } })),
          capsule: { name: "pinned", environment: "test" },
          preflight
        } satisfies CreateInstallPlan

        const elsewhere: ReadonlyArray<Partial<typeof preflight>> = [
          { sourceId: SourceId.make(`src_${"a".repeat(16)}`) },
          { sourceSnapshotId: SourceSnapshotId.make(`snap_${"a".repeat(16)}`) },
          { compatibilityCheckRunId: RunId.make(`run_${"a".repeat(16)}`) },
          { compatibilityCheckRunId: sync.id },
          { compatibilityCheckRunId: second.run.id },
          { compatibilityReportId: CompatibilityReportId.make(`rep_${"a".repeat(16)}`) },
          { compatibilityReportId: second.compatibilityReport.id }
        ]
        for (const part of elsewhere) {
          expect(yield* refusedCreate({ ...request, preflight: { ...preflight, ...part } })).toEqual([
            "failed_precondition",
            "preflight"
          ])
        }
        const wrongConfig = { ...preflight, installConfigId: InstallConfigId.make(`icfg_${"a".repeat(16)}`) }
        expect((yield* refusedCreate({ ...request, preflight: wrongConfig }))[0]).toBe("failed_precondition")
        for (const changed of [
          { source: { ...request.source, url: `${url}/other` } },
          { source: { ...request.source, ref: "main" } },
          { source: { ...request.source, path: RelativePath.make("second") } },
          { options: { modulePath: RelativePath.make("second") } }
        ]) {
          expect((yield* refusedCreate({ ...request, ...changed }))[0]).toBe("failed_precondition")
        }
        const stranger = yield* newOwner("preflight-stranger")
        const plans = yield* InstallPlans
        expect(
          (yield* Effect.flip(plans.create(stranger.context, stranger.workspaceId, request, freshKey()))).code
        ).toBe("failed_precondition")

        const created = yield* plans.create(context, workspaceId, request, freshKey())
        const plan = yield* driven(created.value.id)
        expect(plan.diagnostics).toEqual([])
        expect(plan.phase).toBe("reviewable")
        expect(plan.sourceId).toBe(source.id)
        expect(plan.sourceSnapshotId).toBe(snapshotId)
        const [row] = yield* (yield* SqlClient.SqlClient)`SELECT sync_run_id FROM install_plans WHERE id = ${plan.id}`
        expect(row).toEqual({ sync_run_id: null })
        expect((yield* (yield* Runs).read(plan.planRunId ?? sync.id)).resolvedCommit).toBe(sync.resolvedCommit)
      }),
    120_000
  )

  tests.live(
    "svc rejects an install before it fetches anything if the name is taken or a record belongs to another Workspace",
    () =>
      Effect.gen(function* () {
        const { capsuleId } = yield* planned("taken", { "main.tf": greeting }, { variables: { greeting: canary } })
        const request = yield* requestOf("taken", { variables: { greeting: canary } })
        expect((yield* refusedCreate(request))[0]).toBe("failed_precondition")
        const { context } = yield* TestPlane
        const free = { ...request, capsule: { ...request.capsule, environment: "staging" } }

        const foreignProject = {
          ...free,
          capsule: { ...free.capsule, projectId: ProjectId.make(`prj_${"a".repeat(16)}`) }
        }
        expect(yield* refusedCreate(foreignProject)).toEqual(["invalid_request", "capsule.projectId"])
        const noConnection = ConnectionId.make(`conn_${"a".repeat(16)}`)
        expect((yield* refusedCreate({ ...free, options: { providerBindings: [bound(noConnection)] } }))[1]).toBe(
          "options.providerBindings[0].connectionId"
        )
        expect((yield* refusedCreate({ ...free, source: { ...free.source, authConnectionId: noConnection } }))[1]).toBe(
          "source.authConnectionId"
        )
        expect(
          (yield* refusedCreate({ ...free, source: { ...free.source, url: "https://user:pw@example.com/x.git" } }))[1]
        ).toBe("source.url")
        expect((yield* refusedCreate({ ...free, variables: { greeting: "[REDACTED]" } }))[0]).toBe("invalid_request")
        // A reviewed build has the same limits as a build in a manifest: it may contain no credentials, not even split
        // across two arguments.
        for (const argv of [
          ["sh", "-c", "curl -u me:x https://u:hunter22@h/"],
          ["deploy", "--token", "hunter22"]
        ]) {
          const initialConfiguration = { sourceBuild: { commands: [{ argv }], outputs: ["out"] } }
          const error = yield* Effect.flip(
            (yield* InstallPlans).create(
              context,
              (yield* TestPlane).workspaceId,
              { ...free, initialConfiguration },
              freshKey()
            )
          )
          expect([error.code, error.message.split(":")[0]]).toEqual([
            "invalid_request",
            "initialConfiguration.sourceBuild"
          ])
          expect(error.message).not.toContain("hunter22")
        }

        // A removed Capsule's name can be used again. This Capsule was never applied, so its removal needs no Run.
        const removed = yield* (yield* CapsuleCommands).Remove(capsuleId, { context })
        expect("capsule" in removed && removed.capsule.status).toBe("destroyed")
        const again = yield* (yield* InstallPlans).create(context, (yield* TestPlane).workspaceId, request, freshKey())
        expect((yield* driven(again.value.id)).phase).toBe("reviewable")
      }),
    120_000
  )
})
