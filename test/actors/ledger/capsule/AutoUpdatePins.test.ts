import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { endsWith, isPinned, pinOf } from "../../../../actors/ledger/capsule/AutoUpdatePins.ts"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { world } from "../../../src/http/support/World.ts"
import { suite } from "../../../support/Effect.ts"
import { ledgers } from "../../support/GuardedPlane.ts"

const tests = suite(ledgers)
afterAll(tests.dispose)

const rows = Effect.gen(function* () {
  const capsule = yield* (yield* CapsuleLedger).find(world.capsuleId)
  const run = yield* (yield* RunLedger).find(world.runId)
  return capsule === undefined || run === undefined ? yield* Effect.die("no rows") : { capsule, run }
})

const lane = { at: "2026-01-02T00:00:00.000Z", commit: "1".repeat(40) }

tests.live("only the apply of a rollback plan pins its Capsule", () =>
  Effect.gen(function* () {
    const { run } = yield* rows
    const choices = { generation: 3, resumeOnNewCommit: true }
    const plan = { ...run, spec: JSON.stringify({ rollback: choices }) }
    const apply = { ...run, type: "apply" as const, purpose: "rollback" as const, created_by: world.ada }
    expect(pinOf(apply, plan, lane)).toEqual({
      pinned_run_id: plan.id,
      pinned_by: world.ada,
      pinned_at: lane.at,
      pinned_reason: "Rolled back to the state of generation 3.",
      pinned_commit: lane.commit,
      pin_ends_on_commit: 1
    })
    expect(pinOf({ ...apply, type: "plan" }, plan, lane)).toEqual({})
    expect(pinOf({ ...apply, purpose: null }, plan, lane)).toEqual({})
    expect(pinOf(apply, undefined, lane)).toEqual({})
  })
)

tests.live("a newer commit releases a pin only if the person who pinned the Capsule allowed this", () =>
  Effect.gen(function* () {
    const { capsule } = yield* rows
    const pinned = { ...capsule, pinned_at: lane.at, pinned_commit: lane.commit, pin_ends_on_commit: 1 as const }
    expect([isPinned(capsule), isPinned(pinned)]).toEqual([false, true])
    expect(endsWith(pinned, "2".repeat(40))).toBe(true)
    expect(endsWith(pinned, lane.commit)).toBe(false)
    expect(endsWith({ ...pinned, pin_ends_on_commit: 0 as const }, "2".repeat(40))).toBe(false)
  })
)
