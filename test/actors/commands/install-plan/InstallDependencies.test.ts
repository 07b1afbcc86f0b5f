import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import type { NewDependency } from "../../../../schema/records/Capsule.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, driven, freshKey, planned, requestOf, settled } from "../../../support/Journey.ts"
import { newMember, newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { namedCapsule } from "../../../support/NamedIds.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const producer = {
  "main.tf": `
    resource "terraform_data" "network" { input = "net-1" }
    output "network" { value = terraform_data.network.output }
    output "key" {
      value     = "install-dependency-key-9c1f"
      sensitive = true
    }`
}
const consumer = {
  "main.tf": `
    variable "network" { type = string }
    resource "terraform_data" "site" { input = var.network }
    output "site" { value = terraform_data.site.output }`
}
const network = { from: "network", to: "network", required: true }

describe.skipIf(Bun.which("terraform") === null)("Install dependencies", () => {
  tests.live(
    "the dependencies of an install supply required inputs from the first plan onwards, and svc rejects dependencies that cannot supply them",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const installs = yield* InstallPlans
        const sql = yield* SqlClient.SqlClient
        yield* commit("consumer", consumer)
        const { capsuleId, plan } = yield* planned("producer", producer)
        const dependency: NewDependency = { producerCapsuleId: capsuleId, mode: "published_output", outputs: [network] }
        const create = Effect.fnUntraced(function* (dependencies: ReadonlyArray<NewDependency>, by = context) {
          const request = { ...(yield* requestOf("consumer")), dependencies }
          return yield* installs.create(by, workspaceId, request, freshKey())
        })
        const refusal = (dependencies: ReadonlyArray<NewDependency>, by = context) =>
          Effect.map(Effect.flip(create(dependencies, by)), ({ code, message }) => `${code} ${message}`)

        // A producer that has never been applied is not ready, so the install cannot depend on it.
        expect(yield* refusal([dependency])).toBe(
          "failed_precondition dependencies[0].producerCapsuleId: the Capsule producer was never applied. Apply it first."
        )
        expect((yield* applied(plan)).status).toBe("succeeded")
        // Unreviewed code may receive other Capsules' values only if the caller is allowed to share them.
        const member = yield* newMember(workspaceId, context, "member")
        expect(yield* refusal([dependency], member)).toStartWith("permission_denied dependencies:")
        for (const [changed, words] of [
          [
            { producerCapsuleId: namedCapsule("none") },
            "invalid_request dependencies[0].producerCapsuleId: the Workspace has no"
          ],
          [{ outputs: [] }, "invalid_request dependencies[0].outputs: name at least one"],
          [{ outputs: [{ ...network, from: "none" }] }, "invalid_request dependencies[0].outputs[0].from:"],
          [{ outputs: [{ ...network, from: "key" }] }, "invalid_request dependencies[0].outputs[0].from:"]
        ] as const) {
          expect(yield* refusal([{ ...dependency, ...changed }])).toStartWith(words)
        }
        expect(yield* sql`SELECT 1 AS one FROM install_plans WHERE capsule_id IS NULL`).toEqual([])

        // These problems are found only when svc reads the module. The install fails and creates no Capsule.
        for (const [dependencies, words] of [
          [
            [{ ...dependency, outputs: [{ ...network, to: "none" }] }],
            "dependencies[0].outputs[0].to: the Capsule has"
          ],
          [[dependency, dependency], "dependencies[1].outputs[0].to: a dependency fills this input already."],
          [
            [{ producerCapsuleId: capsuleId, mode: "remote_state", outputs: [] }],
            "The required input network has no value."
          ]
        ] as const) {
          const failed = yield* driven((yield* create(dependencies)).value.id)
          expect([failed.phase, failed.capsuleId]).toEqual(["failed", undefined])
          expect(failed.diagnostics[0]?.message).toStartWith(words)
        }
        const request = { ...(yield* requestOf("consumer")), dependencies: [dependency], variables: { network: "x" } }
        const twice = yield* driven((yield* installs.create(context, workspaceId, request, freshKey())).value.id)
        expect(twice.diagnostics[0]?.message).toStartWith("variables.network: a dependency fills this input.")
        expect(yield* sql`SELECT 1 AS one FROM dependencies`).toEqual([])

        // Reusing the key with other dependencies is a conflict, because the request is different.
        const key = freshKey()
        const whole = { ...(yield* requestOf("consumer")), dependencies: [dependency] }
        const installed = yield* driven((yield* installs.create(context, workspaceId, whole, key)).value.id)
        expect(installed.phase).toBe("reviewable")
        if (installed.planRunId === undefined || installed.capsuleId === undefined) return yield* Effect.die("no plan")
        expect((yield* applied(yield* settled(installed.planRunId))).status).toBe("succeeded")
        const capsules = yield* Capsules
        expect((yield* capsules.outputs(installed.capsuleId))[0]?.value).toBe("net-1")
        expect((yield* capsules.read(installed.capsuleId)).status).toBe("active")
        expect(yield* sql`SELECT producer_capsule_id AS id FROM dependencies`).toEqual([{ id: capsuleId }])
      }),
    120_000
  )

  tests.live(
    "an install uses Outputs shared by another Workspace, and reveals nothing else about that Workspace",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const shares = yield* OutputShares
        const { capsule } = yield* active("shared-producer", producer)
        const other = yield* newOwner("receiver")
        yield* commit("shared-consumer", consumer)
        const create = Effect.fnUntraced(function* (dependency: NewDependency) {
          const request = { ...(yield* requestOf("shared-consumer")), dependencies: [dependency] }
          return yield* (yield* InstallPlans).create(other.context, other.workspaceId, request, freshKey())
        })
        const dependency: NewDependency = {
          producerCapsuleId: capsule.id,
          mode: "published_output",
          outputs: [{ from: "subnet", to: "network", required: true }]
        }
        expect((yield* Effect.flip(create(dependency))).message).toContain("the Workspace has no such Capsule")
        const share = yield* shares.create(context, {
          fromWorkspaceId: workspaceId,
          toWorkspaceId: other.workspaceId,
          producerCapsuleId: capsule.id,
          outputs: [{ name: "network", alias: "subnet" }]
        })
        yield* shares.approve(other.context, share.id, other.workspaceId)
        const installed = yield* driven((yield* create(dependency)).value.id)
        expect(installed.diagnostics).toEqual([])
        expect(installed.phase).toBe("reviewable")
      }),
    120_000
  )
})
