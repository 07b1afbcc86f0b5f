import { afterAll, describe, expect } from "bun:test"
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { CheckSpec } from "../../../../actors/running/execution/CheckExecution.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { InstallConfigId, type SourceId } from "../../../../schema/records/Ids.ts"
import { it, suite } from "../../../support/Effect.ts"
import {
  active,
  bound,
  demoConnection,
  demoModule,
  freshKey,
  planned,
  settled,
  stepped
} from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { namedRun, namedSnapshot, namedSource } from "../../../support/NamedIds.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const canary = "configuration-check-private-5b1e"
const variable = (name: string, body: string) => `
variable "${name}" {
  ${body}
}
`
const text = "type = string"
const optional = `${text}\n  default = "nothing"`

const before = demoModule(
  [
    variable("kept", text),
    variable("gone", text),
    variable("typed", text),
    variable("secret", text),
    variable("passing", optional),
    variable("unset", optional),
    variable("injected", optional),
    `resource "demo_note" "a" {
      name    = "a"
      content = var.kept
    }`
  ].join("")
)

/** The same provider under a second local name, which the binding does not cover. */
const after = `
terraform {
  required_providers {
    other = {
      source  = "example.test/acme/demo"
      version = "1.0.0"
    }
  }
}
${[
  variable("kept", text),
  variable("typed", "type = number"),
  variable("secret", `${text}\n  sensitive = true`),
  variable("passing", `${optional}\n  ephemeral = true`),
  variable("injected", text),
  variable("unset", "type = number\n  default = 1"),
  variable("fresh", text),
  variable("free", optional)
].join("")}
resource "demo_note" "a" {
  provider = other
  name     = "a"
  content  = var.kept
}
`

const producer = { "main.tf": `output "a" { value = "a" }` }

/** Adds a new commit to the branch, and stores it as a snapshot of the Source. */
const synced = Effect.fnUntraced(function* (branch: string, sourceId: SourceId, main: string) {
  const { commit, context } = yield* TestPlane
  yield* commit(branch, { "main.tf": main })
  const run = yield* settled((yield* (yield* Sources).sync(context, sourceId, { intent: "manual_plan" })).id)
  return run.sourceSnapshotId ?? (yield* Effect.die("no snapshot"))
})

const manyFindings = [
  ["warning", "configuration_input_missing", "fresh"],
  ["warning", "configuration_input_ephemeral", "passing"],
  ["warning", "configuration_input_sensitive", "secret"],
  ["warning", "configuration_input_type_changed", "typed"],
  ["warning", "configuration_input_removed", "gone"],
  ["warning", "configuration_provider_unbound", "other"],
  ["info", "configuration_binding_unused", "demo"]
]

describe.skipIf(Bun.which("terraform") === null)("Configuration checks", () => {
  tests.live(
    "a configuration check reports the requirements of its plan, but no values",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sources = yield* Sources
        const connection = yield* demoConnection("token-of-the-check")
        const values = { kept: canary, gone: canary, typed: canary, secret: canary, passing: canary }
        const { capsuleId, plan } = yield* planned(
          "fit",
          { "main.tf": before },
          { variables: values, options: { providerBindings: [bound(connection.id)] } }
        )
        const { installConfigId, sourceId } = yield* (yield* Capsules).read(capsuleId)
        const check = (sourceSnapshotId: Parameters<typeof sources.checkCompatibility>[2]["sourceSnapshotId"]) =>
          sources.checkCompatibility(context, sourceId, { sourceSnapshotId, modulePath: ".", installConfigId })

        const same = yield* check(plan.sourceSnapshotId ?? (yield* Effect.die("no snapshot")))
        expect([same.compatibilityReport.status, same.compatibilityReport.findings]).toEqual(["ready", []])
        // The check reports the id of the configuration that it compiled, not the id given in the request.
        expect(same.compatibilityReport.installConfigId).toBeDefined()
        expect(same.compatibilityReport.installConfigId).not.toBe(installConfigId)

        const giver = yield* planned("fit-producer", producer)
        yield* (yield* Dependencies).create(context, capsuleId, {
          producerCapsuleId: giver.capsuleId,
          mode: "variable_injection",
          outputs: [{ from: "a", to: "injected", required: true }]
        })
        const snapshotId = yield* synced("fit", sourceId, after)
        const { compatibilityReport: report, run } = yield* check(snapshotId)
        expect(report.findings.map(({ code, message, severity }) => [severity, code, message])).toEqual(
          manyFindings.map(([severity, code, name]) => [severity, code, expect.stringContaining(` ${name}`)])
        )
        expect(report.status).toBe("needs_attention")
        expect(run.status).toBe("succeeded")
        expect(JSON.stringify(report)).not.toContain(canary)

        const alone = yield* sources.checkCompatibility(context, sourceId, {
          sourceSnapshotId: snapshotId,
          modulePath: "."
        })
        expect([alone.compatibilityReport.status, alone.compatibilityReport.findings]).toEqual(["ready", []])
      }),
    120_000
  )

  tests.live(
    "a configuration check accepts only configurations of the same Workspace, and does not disclose other configurations",
    () =>
      Effect.gen(function* () {
        const { commit, context, url, workspaceId } = yield* TestPlane
        const sources = yield* Sources
        yield* commit("own", producer)
        const stranger = yield* newOwner("check-stranger")
        const checked = Effect.fnUntraced(function* (owner: typeof stranger) {
          const { source } = yield* sources.create(owner.context, {
            workspaceId: owner.workspaceId,
            name: "own",
            url,
            defaultRef: "own"
          })
          const sync = yield* settled((yield* sources.sync(owner.context, source.id, {})).id)
          const sourceSnapshotId = sync.sourceSnapshotId ?? (yield* Effect.die("no snapshot"))
          const request = { sourceSnapshotId, modulePath: "." }
          const { compatibilityReport } = yield* sources.checkCompatibility(owner.context, source.id, request)
          const { installConfigId } = compatibilityReport
          return {
            id: source.id,
            request,
            installConfigId: installConfigId ?? (yield* Effect.die("no configuration"))
          }
        })
        const theirs = yield* checked(stranger)
        const ours = yield* checked({ context, workspaceId })
        const refusals = yield* Effect.forEach(
          [theirs.installConfigId, InstallConfigId.make(`icfg_${"a".repeat(16)}`)],
          (installConfigId) =>
            Effect.flip(sources.checkCompatibility(context, ours.id, { ...ours.request, installConfigId }))
        )
        expect(refusals.map(({ code }) => code)).toEqual(["invalid_request", "invalid_request"])
        expect(refusals[0]?.message).toBe(refusals[1]?.message ?? "")
        const sql = yield* SqlClient.SqlClient
        const runs = yield* sql`SELECT id FROM runs WHERE source_id = ${ours.id} AND type = 'compatibility_check'`
        expect(runs).toHaveLength(1)
        const kept = yield* sources.checkCompatibility(context, ours.id, {
          ...ours.request,
          installConfigId: ours.installConfigId
        })
        expect(kept.compatibilityReport.status).toBe("ready")
      }),
    120_000
  )
})

describe.skipIf(Bun.which("terraform") === null)("Revision plans", () => {
  tests.live(
    "a revision plan is checked against the configuration of its Capsule",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const revisions = yield* RevisionPlans
        const revisionPlanCommands = yield* RevisionPlanCommands
        const greeting = { "main.tf": `${variable("greeting", optional)} output "a" { value = var.greeting }` }
        const { capsule } = yield* active("revised", greeting, { variables: { greeting: canary } })
        yield* commit("revised-next", producer)
        const request = { ref: "revised-next" }
        const { value } = yield* revisions.create(context, capsule.id, request, freshKey())
        const { compatibilityReportId, phase } = yield* stepped(revisionPlanCommands.Reconcile(value.id, { context }))
        expect(phase).toBe("reviewable")
        const report = yield* (yield* Sources).report(compatibilityReportId ?? (yield* Effect.die("no report")))
        expect(report.status).toBe("needs_attention")
        expect(report.findings.map(({ code }) => code)).toEqual(["configuration_input_removed"])
      }),
    120_000
  )
})

describe("Older checks", () => {
  it.effect("a check stored by an older release covers only the module", () =>
    Effect.gen(function* () {
      const spec = `{"sourceId":"${namedSource(1)}","snapshot":{"id":"${namedSnapshot(1)}","url":"https://git.example.test/a","ref":"main","path":".",
        "resolvedCommit":"1","archiveDigest":"sha256:1","archiveSizeBytes":1,"fileCount":1,"omitted":[],"warnings":[],
        "repositoryManifest":{"status":"absent"},"createdByRunId":"${namedRun(1)}","createdAt":"2026-01-01T00:00:00.000Z"},
        "modulePath":"."}`
      const decoded = yield* Schema.decodeEffect(Schema.fromJsonString(CheckSpec))(spec)
      expect([decoded.modulePath, decoded.installConfigId]).toEqual([".", undefined])
    })
  )
})
