import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { driftText, planText } from "../../../../src/cli/remote/PlanText.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const moduleOf = (command: string) => ({
  "main.tf": `resource "terraform_data" "a" {
    provisioner "local-exec" {
      when    = destroy
      command = "${command}"
    }
  }`
})

describe.skipIf(Bun.which("terraform") === null)("Newer commits", () => {
  tests.live(
    "a destroy or drift check uses the deployed commit, and reports a newer commit until that commit is applied",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const { capsule } = yield* active("newer", moduleOf("exit 1"))
        const deployed = capsule.adoptedSourceRevision?.resolvedCommit
        const destroyPlan = Effect.flatMap(capsules.DestroyPlan(capsule.id, { context }), ({ value }) =>
          settled(value.id)
        )
        const early = yield* destroyPlan
        expect(early.newerCommit).toBeUndefined()
        const failedEarly = yield* applied(early)
        expect(failedEarly.error?.message).not.toContain("newer commit")

        const newest = yield* commit("newer", moduleOf("true"))
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        const newer = { ref: "newer", resolvedCommit: newest }
        const drift = yield* settled((yield* capsules.DriftCheck(capsule.id, { context })).id)
        expect(drift).toMatchObject({ status: "succeeded", resolvedCommit: deployed, newerCommit: newer })
        const plan = yield* destroyPlan
        expect(plan).toMatchObject({ status: "waiting_approval", resolvedCommit: deployed, newerCommit: newer })
        for (const shown of [planText(plan, "newer", (_, text) => text), driftText(drift, (_, text) => text)])
          expect(shown).toContain(`newer is at the newer commit ${newest.slice(0, 7)}`)
        const failed = yield* applied(plan)
        expect(failed.status).toBe("failed")
        expect(failed.error?.message).toContain(`newer is at the newer commit ${newest.slice(0, 12)}`)
        expect(failed.error?.message).toContain("plan and apply it first")

        const update = yield* replanned(capsule.id)
        expect(update.newerCommit).toBeUndefined()
        expect((yield* applied(update)).status).toBe("succeeded")
        const last = yield* destroyPlan
        expect(last.newerCommit).toBeUndefined()
        expect((yield* applied(last)).status).toBe("succeeded")
      })
  )
})
