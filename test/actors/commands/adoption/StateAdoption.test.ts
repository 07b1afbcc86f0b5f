import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateUploadRow } from "../../../../actors/ledger/state/StateUploads.ts"
import type { StateUpload } from "../../../../schema/records/StateUpload.ts"
import { suite } from "../../../support/Effect.ts"
import { expectIndexed } from "../../../support/IndexedState.ts"
import {
  applied,
  driven,
  freshKey,
  type InstallOptions,
  replanned,
  requestOf,
  settled
} from "../../../support/Journey.ts"
import { newMember, newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { appliedOutside, uploaded, writtenState } from "../../support/OutsideState.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const canary = "canary-4f1d9b-taken-over"

const module = (greeting: string, more = "") => ({
  "main.tf": `
    variable "key" {
      type      = string
      sensitive = true
    }
    resource "terraform_data" "secret" { input = var.key }
    resource "terraform_data" "greeting" { input = "${greeting}" }
    output "greeting" { value = terraform_data.greeting.output }
    ${more}`
})

/** Installs the branch with an uploaded state and returns the finished install plan. */
const adopting = Effect.fnUntraced(function* (
  branch: string,
  upload: StateUpload,
  more: InstallOptions & { readonly undeclared?: ReadonlyArray<string> } = {}
) {
  const { context, workspaceId } = yield* TestPlane
  const { undeclared, ...options } = more
  const adopt = { uploadId: upload.id, sha256: upload.sha256, ...(undeclared === undefined ? {} : { undeclared }) }
  const request = { ...(yield* requestOf(branch, options)), adopt }
  return yield* driven((yield* (yield* InstallPlans).create(context, workspaceId, request, freshKey())).value.id)
})

describe.skipIf(Bun.which("terraform") === null)("Adopted infrastructure", () => {
  tests.live(
    "adopting a state changes nothing, and later plans can change it",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const capsules = yield* Capsules
        // The module's check prints the secret in plain text, from the first plan onwards.
        const leaking = `check "leak" {
          assert {
            condition     = terraform_data.greeting.output == "another"
            error_message = "the secret is \${nonsensitive(terraform_data.secret.output)}"
          }
        }`
        const state = yield* appliedOutside(module("hello"), { key: canary })
        yield* commit("taken", module("hello", leaking))
        const upload = yield* uploaded(state)
        expect(upload).toMatchObject({ workspaceId, resourceCount: 2, sizeBytes: state.length })
        const [sealed] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${upload.id}`
        expect(sealed?.state).toMatch(/^v1\.dk_/)

        const plan = yield* adopting("taken", upload, { variables: { key: canary } })
        expect([plan.phase, plan.diagnostics]).toEqual(["reviewable", []])
        // The adopted state is shown in the plan's review, but not in the install plan itself.
        expect(plan).not.toHaveProperty("adopt")
        const { capsuleId, planRunId } = plan
        if (capsuleId === undefined || planRunId === undefined) return yield* Effect.die("no plan")
        const first = yield* settled(planRunId)
        expect(first.status).toBe("waiting_approval")
        expect(first.planSummary).toMatchObject({ add: 0, change: 0, replace: 0, destroy: 0 })
        expect(first.adopts).toBe("upload")
        expect(first.diagnostics?.[0]?.summary).toContain("its old backend is not locked")
        const { items: lines } = yield* (yield* RunStreams).logs(planRunId, 0, 1000)
        expect(JSON.stringify([first, lines])).toContain("the secret is")
        expect(JSON.stringify([first, lines, plan])).not.toContain(canary)

        expect([...(yield* expectIndexed(capsuleId)).values()]).toEqual([planRunId, planRunId])

        // The Capsule owns the state, although no apply has run and no Output is published.
        const pending = yield* capsules.read(capsuleId)
        expect(pending).toMatchObject({ status: "pending", currentStateGeneration: 1, executionAuthorityEpoch: 1 })
        if (pending.currentStateVersionId === undefined) return yield* Effect.die("no state")
        const version = yield* capsules.stateVersion(pending.currentStateVersionId)
        expect(version).toMatchObject({
          generation: 1,
          serial: upload.serial,
          origin: "adopted",
          stateUploadId: upload.id,
          partial: false,
          createdByRunId: planRunId
        })
        expect(version.digest).toBe(`sha256:${upload.sha256}`)
        expect(yield* capsules.outputs(capsuleId)).toEqual([])
        const [used] = yield* StateUploadRow.rows(sql)`SELECT * FROM state_uploads WHERE id = ${upload.id}`
        expect([used?.state, typeof used?.used_at]).toEqual([null, "string"])
        const [event] = yield* sql`SELECT data FROM audit_events WHERE action = 'capsule.adopt_state'`
        expect(event?.["data"]).toContain(upload.id)

        expect((yield* applied(first)).status).toBe("succeeded")
        const active = yield* capsules.read(capsuleId)
        expect([active.status, active.currentStateGeneration]).toEqual(["active", 2])
        expect((yield* capsules.outputs(capsuleId)).map(({ value }) => value)).toEqual(["hello"])

        // The adopted Capsule now behaves like any other Capsule.
        yield* commit("taken", module("changed"))
        yield* settled((yield* (yield* Sources).sync(context, active.sourceId, {})).id)
        const next = yield* replanned(capsuleId)
        expect(next.planSummary).toMatchObject({ change: 1, destroy: 0, add: 0 })
        expect(JSON.stringify(next.diagnostics ?? [])).not.toContain("old backend")
        const apply = yield* applied(next)
        expect(apply.status).toBe("succeeded")
        expect(yield* expectIndexed(capsuleId)).toEqual(
          new Map([
            ["terraform_data.greeting", apply.id],
            ["terraform_data.secret", planRunId]
          ])
        )
        expect((yield* capsules.outputs(capsuleId)).map(({ value }) => value)).toEqual(["changed"])
      }),
    120_000
  )

  tests.live(
    "svc rejects a state that does not match its module until a person decides about the remaining resources",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const installs = yield* InstallPlans
        yield* commit("whole", { "main.tf": 'resource "terraform_data" "kept" {}' })
        const foreign = { type: "demo_thing", name: "it", id: "t-1", provider: "registry.terraform.io/acme/other" }
        const mine = { type: "terraform_data", name: "kept", id: "k" }
        const gone = { type: "terraform_data", name: "gone", id: "g", module: "module.old" }
        const reasons = (plan: { readonly diagnostics: ReadonlyArray<{ readonly code: string }> }) =>
          plan.diagnostics.map(({ code }) => code)

        const upload = yield* uploaded(writtenState({ lineage: "mixed", resources: [mine, gone, foreign] }))
        const refused = yield* adopting("whole", upload)
        expect([refused.phase, refused.capsuleId]).toEqual(["failed", undefined])
        expect(reasons(refused)).toEqual(["state_provider_unknown", "state_address_undeclared"])
        expect(refused.diagnostics[0]?.message).toContain("acme/other")
        expect(refused.diagnostics[1]?.message).toContain("module.old.terraform_data.gone, demo_thing.it")
        // The failed install releases the upload, so exactly one other install can use it.
        const both = [gone, foreign].map(({ name }) => name)
        expect(both).toEqual(["gone", "it"])
        const retried = yield* adopting("whole", upload, {
          undeclared: ["module.old.terraform_data.gone", "demo_thing.it"]
        })
        expect(reasons(retried)).toEqual(["state_provider_unknown"])

        const fitting = yield* uploaded(writtenState({ lineage: "fitting", resources: [mine, gone] }))
        const unconfirmed = yield* adopting("whole", fitting, { undeclared: ["terraform_data.gone"] })
        expect(reasons(unconfirmed)).toEqual(["state_address_undeclared"])
        const confirmed = yield* adopting("whole", fitting, { undeclared: ["module.old.terraform_data.gone"] })
        expect(confirmed.phase).toBe("reviewable")
        if (confirmed.planRunId === undefined || confirmed.capsuleId === undefined) return yield* Effect.die("no plan")
        const plan = yield* settled(confirmed.planRunId)
        expect(plan.planSummary).toMatchObject({ destroy: 1, add: 0, change: 0 })

        // A used upload cannot install a second Capsule, and svc rejects another upload with the same lineage.
        const again = { ...(yield* requestOf("whole")), capsule: { name: "second", environment: "test" } }
        const adopt = { uploadId: fitting.id, sha256: fitting.sha256 }
        const codeOf = (request: Parameters<typeof installs.create>[2], by = context) =>
          Effect.map(Effect.flip(installs.create(by, workspaceId, request, freshKey())), ({ code }) => code)
        expect(yield* codeOf({ ...again, adopt })).toBe("failed_precondition")
        const known = yield* Effect.flip(uploaded(writtenState({ lineage: "fitting", serial: 9 })))
        expect([known.code, known.message]).toEqual([
          "state_lineage_known",
          expect.stringContaining("already managed by the Capsule whole")
        ])
        const fresh = yield* uploaded(writtenState({ lineage: "fresh", resources: [mine] }))
        const wrong = { uploadId: fresh.id, sha256: upload.sha256 }
        expect(yield* codeOf({ ...again, adopt: wrong })).toBe("invalid_request")
        const admin = yield* newMember(workspaceId, context, "admin")
        const right = { uploadId: fresh.id, sha256: fresh.sha256 }
        expect(yield* codeOf({ ...again, adopt: right }, admin)).toBe("permission_denied")
        const stranger = yield* newOwner("adopting-stranger")
        const elsewhere = yield* Effect.flip(
          installs.create(stranger.context, stranger.workspaceId, { ...again, adopt: right }, freshKey())
        )
        expect(elsewhere.code).toBe("failed_precondition")

        // The plan is cancelled before the Capsule's first apply. svc keeps the state as evidence, and the Capsule can be
        // planned or released.
        yield* (yield* RunCommands).Cancel(plan.id, { context })
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const left = yield* capsules.read(confirmed.capsuleId)
        expect([left.status, left.currentStateGeneration]).toEqual(["pending", 1])
        expect((yield* capsules.stateVersions(left.id, { limit: 10 })).items.map(({ origin }) => origin)).toEqual([
          "adopted"
        ])
        expect((yield* installs.read(confirmed.id)).nextAction).toBe("plan_again")
        yield* capsuleCommands.Release(left.id, {
          context,
          request: {
            confirm: left.name,
            reason: "moved_elsewhere"
          }
        })
        expect((yield* capsules.stateVersions(left.id, { limit: 10 })).items).toHaveLength(1)
        // A released Capsule manages nothing, so its state can be adopted again.
        yield* uploaded(writtenState({ lineage: "fitting", serial: 9 }))
        expect(
          yield* sql`SELECT COUNT(*) AS n FROM state_uploads WHERE used_at IS NOT NULL AND state IS NOT NULL`
        ).toEqual([{ n: 0 }])
      }),
    120_000
  )
})
