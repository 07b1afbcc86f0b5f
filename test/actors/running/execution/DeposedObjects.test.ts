import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { planText } from "../../../../src/cli/remote/PlanText.ts"
import { painter } from "../../../../src/cli/remote/TerminalText.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, bound, demoConnection, demoModule, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const db = (name: string, more = "") => ({
  "main.tf": demoModule(`resource "demo_note" "db" {
    name    = "${name}"
    content = "c"
    ${more}
    lifecycle { create_before_destroy = true }
  }`)
})

describe.skipIf(Bun.which("terraform") === null)("Deposed objects", () => {
  tests.live("an object that a replacement could not destroy appears as deposed, separately from the live object", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const connection = yield* demoConnection("token-deposed")
      const { capsule } = yield* active("deposed", db("one", `fail = "destroy"`), {
        options: { providerBindings: [bound(connection.id)] }
      })
      yield* commit("deposed", db("two"))
      yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
      expect((yield* applied(yield* replanned(capsule.id))).status).toBe("failed")

      const { items } = yield* (yield* StateResources).list(capsule.id, {}, { limit: 10 })
      expect(items.map(({ address, deposed = "" }) => `${address} ${deposed !== ""}`)).toEqual([
        "demo_note.db false",
        "demo_note.db true"
      ])
      const key = items[1]?.deposed
      const plan = yield* replanned(capsule.id)
      expect(plan.resourceChanges?.map(({ actions, address, deposed }) => [address, actions, deposed])).toEqual([
        ["demo_note.db", ["delete"], key]
      ])
      expect(planText(plan, "plan", painter(false))).toContain(`- demo_note.db (deposed object ${key})`)
      const destroy = yield* settled((yield* (yield* CapsuleCommands).DestroyPlan(capsule.id, { context })).value.id)
      expect(destroy.resourceChanges?.map(({ deposed }) => deposed).toSorted()).toEqual([key, undefined])
    })
  )
})
