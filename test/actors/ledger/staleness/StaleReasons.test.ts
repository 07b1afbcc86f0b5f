import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { StaleReasons } from "../../../../actors/ledger/staleness/StaleReasons.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import { restoredShares } from "../../../../actors/ledger/output-share/OutputShareRow.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"
import { attentionOf } from "../../../../src/http/handlers/Attention.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, planned, replanned, settled } from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const modules = pureModules()
const tests = suite(testPlane({ runner: pureRunner(modules) }))
afterAll(tests.dispose)

const capsuleOf = Effect.fnUntraced(function* (id: CapsuleId) {
  const { staleReasons, status } = yield* (yield* Capsules).read(id)
  return { staleReasons, status }
})

const renewed = Effect.fnUntraced(function* (id: CapsuleId) {
  const apply = yield* applied(yield* replanned(id))
  expect(apply.status).toBe("succeeded")
})

/** Plans and applies the producer with different values for its own inputs. */
const reconfigured = Effect.fnUntraced(function* (id: CapsuleId, variables: Readonly<Record<string, string>>) {
  const { context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { installConfigReAdoption } = yield* capsules.read(id)
  const request = {
    variablePatch: { set: variables },
    expected: { authorityGuard: installConfigReAdoption.authorityGuard }
  }
  const asked = yield* capsuleCommands.ConfigurationPlan(id, { context, request, idempotency: freshKey() })
  const apply = yield* applied(yield* settled(asked.value.planRunId))
  expect(apply.status).toBe("succeeded")
})

describe("Stale reasons", () => {
  tests.live(
    "a consumer becomes stale when an Output that it uses, whether secret or not, changes or is withdrawn",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const dependencies = yield* Dependencies
        const { capsule: producer } = yield* active("values", pureModule)
        const { capsule: consumer } = yield* active("taker", pureModule)
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [], status: "active" })
        const input = (output: string) => ({ kind: "input" as const, producerCapsuleId: producer.id, output })

        const waiting = yield* replanned(consumer.id)
        const dependency = yield* dependencies.create(context, consumer.id, {
          producerCapsuleId: producer.id,
          mode: "variable_injection",
          outputs: [
            { from: "value", to: "a", required: true },
            { from: "secret", to: "key", required: true }
          ]
        })
        // The consumer's last plan and apply did not use these values.
        expect(yield* capsuleOf(consumer.id)).toEqual({
          staleReasons: [input("value"), input("secret")],
          status: "stale"
        })
        expect((yield* (yield* Runs).read(waiting.id)).status).toBe("superseded")
        const [needed] = attentionOf({ needingAttention: yield* capsules.needingAttention(workspaceId) })
        expect(needed).toMatchObject({ kind: "stale", capsuleId: consumer.id, staleReasons: [{ kind: "input" }, {}] })
        yield* reconfigured(producer.id, { a: "one", key: "first" })
        yield* renewed(consumer.id)
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [], status: "active" })

        // Applying the producer without changing an Output does not make any consumer stale.
        const kept = yield* replanned(consumer.id)
        yield* renewed(producer.id)
        expect((yield* capsuleOf(consumer.id)).status).toBe("active")
        expect((yield* (yield* Runs).read(kept.id)).status).toBe("waiting_approval")

        yield* reconfigured(producer.id, { a: "two" })
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [input("value")], status: "stale" })
        expect((yield* (yield* Runs).read(kept.id)).status).toBe("superseded")
        yield* reconfigured(producer.id, { key: "second" })
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual([input("value"), input("secret")])
        // Restores the values that the consumers received in their last applies, so no consumer is stale.
        yield* reconfigured(producer.id, { a: "one", key: "first" })
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [], status: "active" })

        // A disabled Capsule keeps its reasons, and becomes stale once it is enabled.
        yield* capsuleCommands.Update(consumer.id, { context, status: "disabled" })
        yield* reconfigured(producer.id, { a: "three" })
        expect((yield* capsuleOf(consumer.id)).status).toBe("disabled")
        yield* capsuleCommands.Update(consumer.id, { context, status: "active" })
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [input("value")], status: "stale" })

        // The deployed state still contains the value of a removed dependency.
        yield* renewed(consumer.id)
        yield* dependencies.remove(context, dependency.id)
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual([input("value"), input("secret")])
        yield* renewed(consumer.id)
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [], status: "active" })
      })
  )

  tests.live(
    "a remote_state dependency tracks all Outputs of its producer, and rows from an older release are compared once",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const { capsule: producer } = yield* active("whole", pureModule)
        const { capsule: consumer } = yield* active("reader", pureModule)
        yield* (yield* Dependencies).create(context, consumer.id, {
          producerCapsuleId: producer.id,
          mode: "remote_state",
          outputs: []
        })
        const reasons = [{ kind: "input" as const, producerCapsuleId: producer.id }]
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual(reasons)
        yield* renewed(consumer.id)
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual([])
        yield* reconfigured(producer.id, { key: "other" })
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual(reasons)

        yield* renewed(consumer.id)
        yield* sql`DELETE FROM consumed_inputs`
        yield* sql`UPDATE capsules SET inputs_compared = 0`
        yield* (yield* StaleReasons).compareUnread
        expect((yield* capsuleOf(consumer.id)).staleReasons).toEqual(reasons)
      })
  )

  tests.live(
    "enabling a Capsule restores its error status, or marks it stale if its inputs changed in the meantime",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const { capsule } = yield* active("switched", pureModule)
        const switched = Effect.fnUntraced(function* <R>(meanwhile: Effect.Effect<unknown, unknown, R>) {
          yield* capsuleCommands.Update(capsule.id, { context, status: "disabled" })
          yield* Effect.orDie(meanwhile)
          return (yield* capsuleCommands.Update(capsule.id, { context, status: "active" })).status
        })
        expect(yield* switched(Effect.void)).toBe("active")
        modules.faults.set(capsule.id, "apply_fails_late")
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("failed")
        expect(yield* switched(Effect.void)).toBe("error")
        expect((yield* capsules.read(capsule.id)).runtimeSafety).toBe("unknown")
        yield* renewed(capsule.id)
        expect(yield* switched(newCommit(capsule.id))).toBe("stale")
      })
  )

  tests.live("removing a producer that was never applied voids the plans that depend on it", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsuleId: producer } = yield* planned("unborn", pureModule)
      const { capsule: consumer } = yield* active("expectant", pureModule)
      yield* (yield* Dependencies).create(context, consumer.id, {
        producerCapsuleId: producer,
        mode: "variable_injection",
        outputs: [{ from: "value", to: "a", required: false }]
      })
      const waiting = yield* replanned(consumer.id)
      yield* capsules.Remove(producer, { context })
      expect((yield* (yield* Runs).read(waiting.id)).status).toBe("superseded")
    })
  )

  tests.live(
    "a share restored from a backup delivers no Outputs until it is confirmed, and then delivers all of them immediately",
    () =>
      Effect.gen(function* () {
        const plane = yield* TestPlane
        const { context, workspaceId } = plane
        const shares = yield* OutputShares
        const runs = yield* Runs
        const other = yield* newOwner("giver")
        const elsewhere = Effect.provideService(TestPlane, TestPlane.of({ ...plane, ...other }))
        const { capsule: producer } = yield* active("given", pureModule).pipe(elsewhere)
        const { capsule: consumer } = yield* active("guest", pureModule)
        const share = yield* shares.create(other.context, {
          fromWorkspaceId: other.workspaceId,
          toWorkspaceId: workspaceId,
          producerCapsuleId: producer.id,
          outputs: [{ name: "value", alias: "hello" }]
        })
        yield* shares.approve(context, share.id, workspaceId)
        yield* (yield* Dependencies).create(context, consumer.id, {
          producerCapsuleId: producer.id,
          mode: "published_output",
          outputs: [{ from: "hello", to: "a", required: false }]
        })
        yield* renewed(consumer.id)
        const restored = yield* restoredShares
        const staleReasons = yield* StaleReasons

        expect(yield* restored.hold).toMatchObject([{ id: share.id, previousStatus: "active" }])
        yield* staleReasons.compareUnread
        const input = { kind: "input" as const, producerCapsuleId: producer.id, output: "hello" }
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [input], status: "stale" })
        const waiting = yield* replanned(consumer.id)

        yield* restored.confirm(share.id, "active")
        yield* staleReasons.compareUnread
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [], status: "active" })
        expect((yield* runs.read(waiting.id)).status).toBe("superseded")

        yield* restored.hold
        yield* restored.remove(share.id)
        yield* staleReasons.compareUnread
        expect(yield* capsuleOf(consumer.id)).toEqual({ staleReasons: [input], status: "stale" })
      })
  )
})
