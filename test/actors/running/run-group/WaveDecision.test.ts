import { describe, expect, test } from "bun:test"
import { Brand } from "effect"
import {
  type Member,
  membersOf,
  nextSteps,
  type Standing,
  stateOf,
  type WaveEdge,
  wavesOf
} from "../../../../actors/running/run-group/WaveDecision.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"

// Arbitrary strings can be ids here, because the decisions only compare them.
const capsule = Brand.nominal<CapsuleId>()
const edge = (producer: string, consumer: string): WaveEdge => ({
  producer: capsule(producer),
  consumer: capsule(consumer)
})
const member = (name: string, standing: Standing, isBehind = true): Member => ({
  capsuleId: capsule(name),
  standing,
  isBehind
})

/** Returns the next step for `b`, which consumes `a`. */
const nextOfConsumer = (producer: Standing, consumer: Standing = "unplanned", isBehind = true) =>
  nextSteps([member("a", producer), member("b", consumer, isBehind)], [edge("a", "b")]).get(capsule("b"))

describe("Next steps", () => {
  test("an update plans a consumer only after its producer was applied or skipped", () => {
    const wait = { kind: "wait", for: [capsule("a")] } as const
    for (const standing of ["unplanned", "planning", "waiting_approval", "approved", "applying", "outdated"] as const) {
      expect(nextOfConsumer(standing)).toEqual(wait)
    }
    for (const standing of ["failed", "cancelled"] as const) expect(nextOfConsumer(standing)).toEqual(wait)
    for (const standing of ["applied", "left_out"] as const) expect(nextOfConsumer(standing)).toEqual({ kind: "plan" })
  })

  test("an update skips a Capsule that is up to date", () => {
    expect(nextOfConsumer("applied", "unplanned", false)).toEqual({ kind: "leave_out" })
  })

  test("an update replans a Capsule whose plan was voided, but not a Capsule that is in progress, applied or failed", () => {
    expect(nextOfConsumer("applied", "outdated")).toEqual({ kind: "plan" })
    for (const standing of ["planning", "waiting_approval", "approved", "applying", "applied", "failed"] as const) {
      expect(nextOfConsumer("applied", standing)).toEqual({ kind: "none" })
    }
  })

  test("a failure delays only the consumers of the failed Capsule", () => {
    const steps = nextSteps(
      [member("a", "failed"), member("b", "unplanned"), member("c", "unplanned")],
      [edge("a", "b")]
    )
    expect(steps.get(capsule("b"))).toEqual({ kind: "wait", for: [capsule("a")] })
    expect(steps.get(capsule("c"))).toEqual({ kind: "plan" })
  })

  test("a producer outside the update does not delay its consumers", () => {
    expect(nextSteps([member("b", "unplanned")], [edge("a", "b")]).get(capsule("b"))).toEqual({ kind: "plan" })
  })
})

test("a Capsule is in the wave that follows the wave of its last producer", () => {
  const edges = [edge("a", "b"), edge("b", "d"), edge("a", "d"), edge("outside", "a")]
  expect(Object.fromEntries(wavesOf(["d", "c", "b", "a"].map(capsule), edges))).toEqual({ a: 1, b: 2, c: 1, d: 3 })
})

test("an update includes stale Capsules and their consumers, but stops at Capsules that cannot be updated", () => {
  const edges = [edge("a", "b"), edge("b", "c"), edge("a", "x"), edge("x", "y")]
  const members = membersOf([capsule("a")], new Set(["a", "b", "c", "y"].map(capsule)), edges)
  expect<ReadonlyArray<string>>([...members].toSorted()).toEqual(["a", "b", "c"])
})

test("an update lists its most urgent Capsules first: running, then waiting, then failed", () => {
  expect(stateOf(["planning", "waiting_approval", "failed"])).toBe("running")
  expect(stateOf(["approved", "failed"])).toBe("waiting_approval")
  expect(stateOf(["failed", "cancelled", "waiting"])).toBe("failed")
  expect(stateOf(["cancelled", "waiting"])).toBe("cancelled")
  expect(stateOf(["waiting", "applied"])).toBe("waiting")
  expect(stateOf(["applied", "left_out"])).toBe("succeeded")
})
