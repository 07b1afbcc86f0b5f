import { afterAll, describe, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { parseState } from "../../../../runner/execution/StateFile.ts"
import { suite } from "../../../support/Effect.ts"
import { expectIndexed } from "../../../support/IndexedState.ts"
import { active, applied, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState } from "../../support/OrphanedStateList.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const moduleOf = (...names: ReadonlyArray<string>) => ({
  "main.tf": `${names.map((name) => `resource "terraform_data" "${name}" { input = "${name}" }`).join("\n")}
    output "count" { value = ${names.length} }`
})

describe.skipIf(Bun.which("terraform") === null)("Restored states", () => {
  tests.live(
    "a plan after a restore shows the resources missing from the restored state, and its apply creates them",
    () =>
      Effect.gen(function* () {
        const { commit, context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { apply, capsule } = yield* active("restored-by-tool", moduleOf("first"))
        expect(yield* expectIndexed(capsule.id)).toEqual(new Map([["terraform_data.first", apply.id]]))
        const backup = yield* capsules.backup(context, workspaceId, capsule.id)
        yield* commit("restored-by-tool", moduleOf("first", "second"))
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, {})).id)
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")
        const second = yield* currentState(capsule.id)
        expect((yield* expectIndexed(capsule.id)).get("terraform_data.first")).toBe(apply.id)

        const asked = yield* (yield* CapsuleBackups).restorePlan(context, workspaceId, backup.id, {}, undefined)
        const review = yield* settled(asked.value.id)
        expect(review.restore?.current?.resourceCount).toBe(2)
        expect(review.restore?.restored.resourceCount).toBe(1)
        expect((yield* applied(review)).status).toBe("succeeded")
        const restored = yield* currentState(capsule.id)
        expect(yield* expectIndexed(capsule.id)).toEqual(new Map([["terraform_data.first", apply.id]]))
        const bytes = Redacted.value(yield* (yield* StateVersions).open(restored))
        expect(parseState(bytes)).toMatchObject({
          value: { serial: restored.serial, lineage: second.lineage, resourceCount: 1 }
        })
        expect(restored.serial).toBeGreaterThan(second.serial)

        // The restored commit matches the restored state. The newest commit declares more than the state contains.
        const same = yield* settled((yield* capsuleCommands.ReconcilePlan(capsule.id, { context })).value.id)
        expect(same.resourceChanges?.filter(({ actions }) => !actions.includes("no-op"))).toEqual([])
        const plan = yield* replanned(capsule.id)
        expect(plan.resourceChanges?.map(({ actions, address }) => [address, actions])).toEqual([
          ["terraform_data.second", ["create"]]
        ])
        const again = yield* applied(plan)
        expect(again.status).toBe("succeeded")
        expect((yield* expectIndexed(capsule.id)).get("terraform_data.second")).toBe(again.id)
        const last = yield* currentState(capsule.id)
        expect(last.serial).toBeGreaterThan(restored.serial)
        expect((yield* capsules.outputs(capsule.id)).map(({ value }) => value)).toEqual([2])
        expect(yield* capsules.read(capsule.id)).toMatchObject({ status: "active", runtimeSafety: "safe" })
      }),
    120_000
  )
})
