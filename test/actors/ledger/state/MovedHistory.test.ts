import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { ResourceHistory } from "../../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"

setDefaultTimeout(120_000)

const tests = suite(testPlane())
afterAll(tests.dispose)

const data = (name: string, input: string, more = "") => `resource "terraform_data" "${name}" {
  input = "${input}"
  ${more}
}
`
const inModule = { "m/main.tf": data("x", "1") }

describe.skipIf(Bun.which("terraform") === null)("Moved resources", () => {
  tests.live("comparing states shows a moved resource as moved, and the resource keeps its history", () =>
    Effect.gen(function* () {
      const { commit, context } = yield* TestPlane
      const { capsule } = yield* active("moved", {
        ...inModule,
        "main.tf": `module "old" { source = "./m" }\n${data("c", "1")}${data("a", "a")}`
      })
      yield* commit("moved", {
        ...inModule,
        "main.tf": `module "new" {
          source   = "./m"
          for_each = toset(["k"])
        }
        moved {
          from = module.old
          to   = module.new["k"]
        }
        moved {
          from = terraform_data.a
          to   = terraform_data.b
        }
        ${data("c", "2", "count = 1")}${data("b", "a")}`
      })
      yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
      const apply = yield* applied(yield* replanned(capsule.id))
      expect(apply.status).toBe("succeeded")
      const { stateVersionId } = apply
      if (stateVersionId === undefined) return yield* Effect.die("no StateVersion")
      const resources = yield* StateResources
      const { difference } = yield* resources.difference(stateVersionId, undefined, { limit: 100 })
      const shown = difference.resources.map(({ address, change, changedAttributes, previousAddress }) => ({
        address,
        change,
        ...(previousAddress === undefined ? {} : { previousAddress }),
        ...(changedAttributes === undefined ? {} : { changedAttributes })
      }))
      const moves = [
        {
          address: `module.new["k"].terraform_data.x`,
          change: "moved",
          previousAddress: "module.old.terraform_data.x"
        },
        { address: "terraform_data.b", change: "moved", previousAddress: "terraform_data.a" },
        {
          address: "terraform_data.c[0]",
          change: "moved",
          previousAddress: "terraform_data.c",
          changedAttributes: ["input", "output"]
        }
      ]
      expect(shown as ReadonlyArray<unknown>).toEqual(moves)

      const changesOf = Effect.fnUntraced(function* (address: string) {
        const { items } = yield* (yield* ResourceHistory).history(capsule.id, { address }, { limit: 10 })
        return items.map(({ change, previousAddress = "" }) => `${change} ${previousAddress}`.trim())
      })
      expect(yield* changesOf(`module.new["k"].terraform_data.x`)).toEqual([
        "moved module.old.terraform_data.x",
        "added"
      ])
      expect(yield* changesOf("module.old.terraform_data.x")).toEqual(["moved module.old.terraform_data.x", "added"])
      expect(yield* changesOf("terraform_data.b")).toEqual(["moved terraform_data.a", "added"])

      // The next state is compared with the moved object. A new object at the former address counts as a different object.
      yield* commit("moved", {
        ...inModule,
        "main.tf": `module "new" {
          source   = "./m"
          for_each = toset(["k"])
        }
        ${data("c", "3", "count = 1")}${data("b", "b")}${data("a", "another")}`
      })
      yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
      const next = yield* applied(yield* replanned(capsule.id))
      expect(yield* changesOf("terraform_data.b")).toEqual(["changed", "moved terraform_data.a", "added"])
      expect(yield* changesOf("terraform_data.a")).toEqual(["added"])
      const first = (yield* (yield* Capsules).stateVersions(capsule.id, { limit: 10 })).items.at(-1)
      if (next.stateVersionId === undefined || first === undefined) return yield* Effect.die("no StateVersions")
      const whole = yield* resources.difference(next.stateVersionId, first.id, { limit: 100 })
      expect(whole.difference.resources.map(({ address, change }) => `${change} ${address}`)).toEqual([
        `moved module.new["k"].terraform_data.x`,
        "added terraform_data.a",
        "moved terraform_data.b",
        "moved terraform_data.c[0]"
      ])
      // The reverse comparison shows the object moving back.
      const back = yield* resources.difference(first.id, next.stateVersionId, { limit: 100 })
      expect(back.difference.resources.map(({ address, change }) => `${change} ${address}`)).toEqual([
        "moved module.old.terraform_data.x",
        "moved terraform_data.a",
        "removed terraform_data.a",
        "moved terraform_data.c"
      ])
    })
  )
})
