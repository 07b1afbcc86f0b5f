import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Layer } from "effect"
import { CapsuleOrphanedStates } from "../../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { suite } from "../../../support/Effect.ts"
import { freshKey, replanned, settled } from "../../../support/Journey.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModules, pureRunner } from "../../support/PureRunner.ts"
import { guardOf, adopt, succeeds, withOrphanedState, written } from "../../support/OrphanedStateDecisions.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

describe("Concurrent decisions", () => {
  tests.live("when several people adopt the same left-over state, exactly one succeeds", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const leftOvers = yield* CapsuleOrphanedStates
      const capsuleCommands = yield* CapsuleCommands
      const { capsuleId, record } = yield* withOrphanedState("race-adopt")
      const request = yield* guardOf(capsuleId)
      const adopting = Effect.suspend(() =>
        capsuleCommands.AdoptOrphanedState(capsuleId, {
          context,
          leftOverStateId: record.id,
          request,
          idempotency: freshKey()
        })
      )
      const answers = yield* Effect.all(
        [
          succeeds(adopting),
          succeeds(adopting),
          succeeds(adopting),
          succeeds(capsuleCommands.DiscardOrphanedState(capsuleId, { context, leftOverStateId: record.id }))
        ],
        { concurrency: "unbounded" }
      )
      expect(answers.filter((succeeded) => succeeded)).toHaveLength(1)
      expect((yield* (yield* Capsules).read(capsuleId)).currentStateGeneration).toBe(
        (yield* leftOvers.read(capsuleId, record.id)).status === "adopted" ? 2 : 1
      )
    })
  )

  tests.live("an adoption and an apply never both start from the same state", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      for (const first of ["adopt", "apply"] as const) {
        const { capsuleId, record } = yield* withOrphanedState(`against-apply-${first}`)
        const plan = yield* replanned(capsuleId)
        yield* runCommands.Approve(plan.id, { context, acknowledged: ["left_over_state"] })
        const adopting = succeeds(adopt(capsuleId, record.id))
        const applies = succeeds(runs.apply(context, plan.id, undefined))
        const asked = first === "adopt" ? ([adopting, applies] as const) : ([applies, adopting] as const)
        const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
        expect(answers.filter((succeeded) => succeeded)).toHaveLength(1)
        yield* Effect.forEach((yield* runs.list(plan.workspaceId, { capsuleId }, { limit: 100 })).items, ({ id }) =>
          settled(id)
        )
        expect((yield* (yield* Capsules).read(capsuleId)).currentStateGeneration).toBe(2)
      }
    })
  )
})

describe("Interrupted adoptions", () => {
  tests.live(
    "an adoption writes nothing if it is killed before its commit, and is complete if it is killed after its commit",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const leftOvers = yield* CapsuleCommands
        const { capsuleId, record } = yield* withOrphanedState("killed", { value: "a" })
        const request = yield* guardOf(capsuleId)
        const key = freshKey()
        const asked = leftOvers.AdoptOrphanedState(capsuleId, {
          context,
          leftOverStateId: record.id,
          request,
          idempotency: key
        })
        const before = yield* written(capsuleId)
        kills.at.set("left_over.adopting", processEnd)
        expect(Exit.isFailure(yield* Effect.exit(asked))).toBe(true)
        expect(yield* written(capsuleId)).toEqual(before)
        kills.at.set("left_over.adopted", processEnd)
        expect(Exit.isFailure(yield* Effect.exit(asked))).toBe(true)
        const after = yield* written(capsuleId)
        expect([after.states.length, after.audit.length, after.receipts.length]).toEqual([
          before.states.length + 1,
          before.audit.length + 1,
          before.receipts.length + 1
        ])
        expect((yield* asked).replayed).toBe(true)
        expect(yield* written(capsuleId)).toEqual(after)
      })
  )
})
