import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { active, freshKey, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const module = (body: string) => ({
  "main.tf": `${body}
    output "name" { value = terraform_data.a.output }`
})
const producerModule = module(`resource "terraform_data" "a" { input = "producer" }`)
const consumerModule = module(`
    variable "from" { default = "nobody" }
    resource "terraform_data" "a" { input = var.from }`)

describe.skipIf(Bun.which("terraform") === null)("Workspace Runs", () => {
  tests.live("a group plans producers first, and lists the Capsules that cannot be planned", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const runs = yield* Runs
      const sql = yield* SqlClient.SqlClient
      expect((yield* Effect.flip(capsules.driftCheckAll(context, workspaceId))).code).toBe("failed_precondition")

      const { capsule: consumer } = yield* active("consumer", consumerModule)
      const { capsule: producer } = yield* active("producer", producerModule)
      const { capsule: lost } = yield* active("lost", producerModule)
      expect((yield* Effect.flip(capsules.planUpdate(context, workspaceId))).message).toBe("No Capsule is stale.")
      yield* (yield* Dependencies).create(context, consumer.id, {
        producerCapsuleId: producer.id,
        mode: "published_output",
        outputs: [{ from: "name", to: "from", required: false }]
      })

      const check = yield* capsules.driftCheckAll(context, workspaceId)
      expect(check.runs.map(({ capsuleId }) => capsuleId)).toEqual([producer.id, consumer.id, lost.id])
      expect(check.skipped).toEqual([])
      for (const { id } of check.runs) expect((yield* settled(id)).status).toBe("succeeded")
      expect((yield* runs.group(check.runGroup.id)).runGroup).toMatchObject({
        type: "drift_check",
        status: "succeeded",
        runIds: check.runs.map(({ id }) => id)
      })

      // A lane without snapshots cannot be planned.
      yield* sql`UPDATE capsules SET status = 'stale' WHERE id IN (${consumer.id}, ${lost.id})`
      yield* sql`UPDATE capsules SET tracked_ref = 'refs/heads/nowhere' WHERE id = ${lost.id}`
      const update = yield* capsules.planUpdate(context, workspaceId)
      expect(update.runs.map(({ capsuleId }) => capsuleId)).toEqual([consumer.id])
      expect(update.skipped).toMatchObject([{ capsuleId: lost.id, code: "failed_precondition" }])
      expect(update.runGroup.runIds).toEqual(update.runs.map(({ id }) => id))
      for (const { id } of update.runs) yield* settled(id)

      const groups = sql`SELECT COUNT(*) AS n FROM run_groups`
      const [before] = yield* groups
      yield* sql`UPDATE capsules SET status = 'active' WHERE id = ${consumer.id}`
      expect((yield* Effect.flip(capsules.planUpdate(context, workspaceId))).message).toContain("no snapshot")
      expect((yield* groups)[0]).toEqual(before)

      const unseen = yield* Effect.flip(
        runs.approveGroup(context, update.runGroup.id, { planDigests: ["sha256:other"] })
      )
      expect(unseen.code).toBe("guard_conflict")
      const planId = update.runs[0]?.id ?? (yield* Effect.die("no plan"))
      yield* sql`UPDATE runs SET status = 'running' WHERE id = ${planId}`
      expect((yield* Effect.flip(runs.approveGroup(context, update.runGroup.id, {}))).code).toBe("run_conflict")
      yield* sql`UPDATE runs SET status = 'waiting_approval' WHERE id = ${planId}`
      const { planDigest = "" } = yield* settled(planId)
      const approved = yield* runs.approveGroup(context, update.runGroup.id, { planDigests: [planDigest] })
      expect(approved.runs.map(({ status }) => status)).toEqual(["succeeded"])
      for (const run of approved.runs) {
        expect(run.approvedBy).toBeDefined()
        const apply = yield* runs.apply(context, run.id, freshKey())
        expect((yield* settled(apply.value.id)).status).toBe("succeeded")
      }
    })
  )
})
