import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import type { Run } from "../../../../schema/records/Run.ts"
import type { CommitFiles } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, driven, freshKey, planned, replanned, requestOf, settled } from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const variable = `
  variable "db" {
    type = object({
      port     = number
      password = string
      users    = map(string)
    })
    sensitive = true
  }`

const repeating = (more = "") => ({
  "main.tf": `${variable}
    resource "terraform_data" "a" { input = "a" }
    output "url" { value = "https://\${nonsensitive(var.db.port)}.example.com/" }
    output "short" { value = nonsensitive(var.db.password) }
    output "names" { value = { (nonsensitive(keys(var.db.users)[0])) = "x" } }
    output "plain" { value = "nothing secret" }
    ${more}`
})

const variables = { db: { port: 839_274, password: "kq7zx", users: { "acme-corporation": "hunter2-hunter2" } } }
const consuming = {
  "main.tf": `variable "a" {
      type    = string
      default = ""
    }
    resource "terraform_data" "a" { input = var.a }`
}
const outputsOf = Effect.fnUntraced(function* (id: Parameters<Capsules["Service"]["outputs"]>[0]) {
  return (yield* (yield* Capsules).outputs(id)).map(({ name }) => name)
})

describe.skipIf(Bun.which("terraform") === null)("Repeated secrets", () => {
  tests.live(
    "Outputs that repeat a secret remain private, and the review shows the reason before the plan is approved",
    () =>
      Effect.gen(function* () {
        const { capsuleId, plan } = yield* planned("output-privacy", repeating(), { variables })
        const change = (name: string, origin: string) => ({
          name,
          actions: ["create"],
          sensitive: true,
          afterSensitive: true,
          reason: "holds_secret",
          origins: [origin]
        })
        const reviewed = plan.outputChanges?.toSorted((left, right) => left.name.localeCompare(right.name))
        expect(reviewed).toEqual([
          change("names", "var.db key 1"),
          {
            name: "plain",
            actions: ["create"],
            sensitive: false,
            after: "nothing secret",
            publication: { change: "published", reason: "new" }
          },
          change("short", "var.db.password"),
          change("url", "var.db.port")
        ] as typeof reviewed)
        expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* outputsOf(capsuleId)).toEqual(["plain"])

        // This plan changes nothing, but its review still lists the private Outputs.
        const again = yield* replanned(capsuleId)
        expect(again.outputChanges?.map(({ actions, name, reason }) => [name, actions[0], reason]).toSorted()).toEqual([
          ["names", "no-op", "holds_secret"],
          ["short", "no-op", "holds_secret"],
          ["url", "no-op", "holds_secret"]
        ])
        expect(JSON.stringify(again)).not.toContain("kq7zx")
      })
  )

  tests.live("Outputs become public or are withdrawn only by an apply whose reviewed plan lists them", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const module = (lone: string, plain: string, more = "") => ({
        "main.tf": `variable "key" {
            type      = string
            sensitive = true
          }
          resource "terraform_data" "a" { input = "a" }
          output "lone" {
            value = "a value of its own"
            ${lone}
          }
          output "plain" {
            value = "a plain value"
            ${plain}
          }
          output "repeats" { value = "the \${nonsensitive(var.key)}" }
          ${more}`
      })
      const marked = "sensitive = true"
      const publications = (plan: Run) =>
        (plan.outputChanges ?? []).flatMap(({ name, publication }) =>
          publication === undefined ? [] : [[name, publication.change, publication.reason]]
        )
      const changed = Effect.fnUntraced(function* (capsuleId: CapsuleId, files: CommitFiles) {
        yield* commit("output-marks", files)
        const { sourceId } = yield* (yield* Capsules).read(capsuleId)
        yield* settled((yield* (yield* Sources).sync(context, sourceId, {})).id)
        return yield* replanned(capsuleId)
      })
      const { capsuleId, plan } = yield* planned(
        "output-marks",
        module(marked, "", `output "more" { value = "more" }`),
        {
          variables: { key: "a-repeated-secret" }
        }
      )
      expect(publications(plan).toSorted()).toEqual([
        ["more", "published", "new"],
        ["plain", "published", "new"]
      ])
      expect((yield* applied(plan)).status).toBe("succeeded")
      expect(yield* outputsOf(capsuleId)).toEqual(["more", "plain"])

      const swapped = yield* changed(capsuleId, module("", marked))
      expect(publications(swapped).toSorted()).toEqual([
        ["lone", "published", "mark_removed"],
        ["more", "withdrawn", "removed"],
        ["plain", "withdrawn", "marked_sensitive"]
      ])
      expect(JSON.stringify(swapped)).not.toContain("a value of its own")
      expect(yield* outputsOf(capsuleId)).toEqual(["more", "plain"])
      expect((yield* applied(swapped)).status).toBe("succeeded")
      expect(yield* outputsOf(capsuleId)).toEqual(["lone"])

      const same = yield* replanned(capsuleId)
      expect(publications(same)).toEqual([])
      expect((yield* applied(same)).status).toBe("succeeded")
      expect(yield* outputsOf(capsuleId)).toEqual(["lone"])

      // Only the secret changes. The tool reports no change for an Output that formerly repeated the secret.
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE outputs SET sensitive = 1, private_origins = '["var.key"]' WHERE name = 'lone'
        AND capsule_id = ${capsuleId}`
      const released = yield* replanned(capsuleId)
      expect(publications(released)).toEqual([["lone", "published", "secret_gone"]])
      expect(released.outputChanges?.find(({ name }) => name === "lone")?.after).toBe("a value of its own")

      // An Output stays private, with a note, if the reviewed plan does not list it as public.
      const [row] = yield* sql<{ details: string }>`SELECT plan_details AS details FROM runs WHERE id = ${released.id}`
      const details = { ...JSON.parse(row?.details ?? ""), publicOutputs: [] }
      yield* sql`UPDATE runs SET plan_details = ${JSON.stringify(details)} WHERE id = ${released.id}`
      const apply = yield* applied(released)
      expect(apply.status).toBe("succeeded")
      expect(yield* outputsOf(capsuleId)).toEqual([])
      expect(apply.diagnostics?.map(({ detail }) => detail)).toContain("Plan again to review them: lone.")
    })
  )

  tests.live("a Capsule that needs a private Output does not receive it, and shows the reason", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      // Before the producer's first apply, svc cannot classify its Outputs.
      const producer = yield* planned("output-producer", repeating(), { variables })
      const consumer = yield* active("output-consumer", consuming)
      yield* (yield* Dependencies).create(context, consumer.capsule.id, {
        producerCapsuleId: producer.capsuleId,
        mode: "published_output",
        outputs: [{ from: "short", to: "a", required: true }]
      })
      expect((yield* applied(producer.plan)).status).toBe("succeeded")
      const refused = yield* replanned(consumer.capsule.id)
      expect(refused.error?.code).toBe("missing_input")
      expect(refused.error?.message).toContain("The Output short is private: it repeats var.db.password.")
    })
  )

  tests.live("svc rejects the delivery of a private Output as a published Output, and returns the reason", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const dependencies = yield* Dependencies
      const producer = yield* active("refusing-producer", repeating(), { variables })
      const consumer = yield* active("refused-consumer", consuming)
      const from = (name: string, mode: "published_output" | "variable_injection") =>
        dependencies.create(context, consumer.capsule.id, {
          producerCapsuleId: producer.capsule.id,
          mode,
          outputs: [{ from: name, to: "a", required: true }]
        })
      const refused = yield* Effect.flip(from("short", "published_output"))
      expect([refused.code, refused.message]).toEqual([
        "invalid_request",
        "outputs[0].from: The Output short is private: it repeats var.db.password."
      ])
      const { id } = yield* from("plain", "published_output")
      yield* dependencies.remove(context, id)
      // Within a Workspace the Output may be delivered as a secret, like any sensitive Output.
      yield* from("short", "variable_injection")
      expect((yield* replanned(consumer.capsule.id)).status).toBe("waiting_approval")
    })
  )

  tests.live("a private Output cannot be shared with other Workspaces, and existing shares stop delivering it", () =>
    Effect.gen(function* () {
      const { commit, context, workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const shares = yield* OutputShares
      const receiver = yield* newOwner("receiver")
      const share = (producerCapsuleId: CapsuleId, name: string, alias: string) =>
        shares.create(context, {
          fromWorkspaceId: workspaceId,
          toWorkspaceId: receiver.workspaceId,
          producerCapsuleId,
          outputs: [{ name, alias }]
        })
      const producer = yield* planned("sharing-producer", repeating(), { variables })
      const early = yield* share(producer.capsuleId, "short", "word")
      expect((yield* applied(producer.plan)).status).toBe("succeeded")
      const refused = yield* Effect.flip(share(producer.capsuleId, "url", "address"))
      expect([refused.code, refused.message]).toEqual([
        "invalid_request",
        "outputs[0].name: The Output url is private: it repeats var.db.port."
      ])
      // The Output is private, although no secret is recorded as the reason.
      yield* sql`UPDATE outputs SET private_origins = NULL WHERE name = 'url'
        AND capsule_id = ${producer.capsuleId}`
      const unknown = yield* Effect.flip(share(producer.capsuleId, "url", "address"))
      expect(unknown.message).toBe("outputs[0].name: The Output url is private.")
      expect(yield* sql`SELECT id FROM output_shares`).toHaveLength(1)
      yield* share(producer.capsuleId, "plain", "plain")

      // The other Workspace can see that the Output is a secret, but not which secret. The other Workspace can also no
      // longer accept an offer that was made earlier.
      const late = yield* Effect.flip(shares.approve(receiver.context, early.id, receiver.workspaceId))
      expect(late.code).toBe("failed_precondition")
      expect(late.message).toBe(
        "outputs[0]: The Output word is private: it repeats a secret. It was public when it was offered. Ask the other Workspace for a new share."
      )
      // Simulates an approval that somebody gave when the Output was public.
      const hide = (sensitive: number) =>
        sql`UPDATE outputs SET sensitive = ${sensitive} WHERE name = 'short' AND capsule_id = ${producer.capsuleId}`
      yield* hide(0)
      yield* shares.approve(receiver.context, early.id, receiver.workspaceId)
      yield* hide(1)
      yield* commit("receiving-consumer", consuming)
      const created = yield* (yield* InstallPlans).create(
        receiver.context,
        receiver.workspaceId,
        yield* requestOf("receiving-consumer"),
        freshKey()
      )
      const { capsuleId } = yield* driven(created.value.id)
      if (capsuleId === undefined) return yield* Effect.die("no Capsule")
      const dependency = (yield* Dependencies).create(receiver.context, capsuleId, {
        producerCapsuleId: producer.capsuleId,
        mode: "published_output",
        outputs: [{ from: "word", to: "a", required: true }]
      })
      expect((yield* Effect.flip(dependency)).message).toBe(
        "outputs[0].from: The Output word is private: it repeats a secret."
      )
      // Simulates a request that read the Output while it was still public.
      yield* hide(0)
      yield* dependency
      yield* hide(1)
      const told = (yield* replanned(capsuleId)).error?.message
      expect(told).toContain("The Output word is private: it repeats a secret.")
      expect(told).not.toContain("var.db")
    })
  )

  tests.live("a plan created under an earlier privacy rule is superseded when the service starts", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { capsuleId, plan } = yield* planned("output-earlier", repeating(), { variables })
      yield* Effect.orDie(sql`UPDATE run_plans SET secret_rule = NULL WHERE run_id = ${plan.id}`)
      yield* (yield* RunLedger).supersedeOutdated
      expect((yield* (yield* Runs).read(plan.id)).status).toBe("superseded")
      const fresh = yield* replanned(capsuleId)
      expect(fresh.status).toBe("waiting_approval")
      yield* (yield* RunLedger).supersedeOutdated
      expect((yield* settled(fresh.id)).status).toBe("waiting_approval")
    })
  )
})
