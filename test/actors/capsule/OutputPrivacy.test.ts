import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { Dependencies } from "../../../actors/dependency/Dependencies.ts"
import { RunLedger } from "../../../actors/run/RunLedger.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import { suite } from "../../support/Effect.ts"
import { active, applied, planned, replanned, settled } from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

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
const outputsOf = Effect.fnUntraced(function* (id: Parameters<Capsules["Service"]["outputs"]>[0]) {
  return (yield* (yield* Capsules).outputs(id)).map(({ name }) => name)
})

describe.skipIf(Bun.which("terraform") === null)("Outputs that repeat a secret", () => {
  tests.live("stay private, and the review says so and why before it is approved", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("output-privacy", repeating(), { variables })
      const change = (name: string, origin: string) => ({
        name,
        actions: ["create"],
        sensitive: true,
        reason: "holds_secret",
        origins: [origin]
      })
      const reviewed = plan.outputChanges?.toSorted((left, right) => left.name.localeCompare(right.name))
      expect(reviewed).toEqual([
        change("names", "var.db key 1"),
        { name: "plain", actions: ["create"], sensitive: false, after: "nothing secret" },
        change("short", "var.db.password"),
        change("url", "var.db.port")
      ] as typeof reviewed)
      expect((yield* applied(plan)).status).toBe("succeeded")
      expect(yield* outputsOf(capsuleId)).toEqual(["plain"])

      // Nothing changes, and the review says it all the same.
      const again = yield* replanned(capsuleId)
      expect(again.outputChanges?.map(({ actions, name, reason }) => [name, actions[0], reason]).toSorted()).toEqual([
        ["names", "no-op", "holds_secret"],
        ["short", "no-op", "holds_secret"],
        ["url", "no-op", "holds_secret"]
      ])
      expect(JSON.stringify(again)).not.toContain("kq7zx")
    })
  )

  tests.live("are told to a Capsule that needs them, with the reason", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const producer = yield* active("output-producer", repeating(), { variables })
      const consumer = yield* active("output-consumer", {
        "main.tf": `variable "a" {
            type    = string
            default = ""
          }
          resource "terraform_data" "a" { input = var.a }`
      })
      yield* (yield* Dependencies).create(context, consumer.capsule.id, {
        producerCapsuleId: producer.capsule.id,
        mode: "published_output",
        outputs: [{ from: "short", to: "a", required: true }]
      })
      const refused = yield* replanned(consumer.capsule.id)
      expect(refused.error?.code).toBe("missing_input")
      expect(refused.error?.message).toContain("The Output short is private: it repeats var.db.password.")
    })
  )

  tests.live("are reviewed anew: a plan of an earlier rule is superseded when the service starts", () =>
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
