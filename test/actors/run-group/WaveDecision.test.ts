import { describe, expect, test } from "bun:test"
import {
  type Member,
  membersOf,
  nextSteps,
  type Standing,
  stateOf,
  wavesOf
} from "../../../actors/run-group/WaveDecision.ts"

const edge = (producer: string, consumer: string) => ({ producer, consumer })
const member = (capsuleId: string, standing: Standing, isBehind = true): Member => ({ capsuleId, standing, isBehind })

/** What comes next for `b`, which takes from `a`. */
const nextOfConsumer = (producer: Standing, consumer: Standing = "unplanned", isBehind = true) =>
  nextSteps([member("a", producer), member("b", consumer, isBehind)], [edge("a", "b")]).get("b")

describe("what comes next for a Capsule of an update", () => {
  test("a consumer is planned after its producer was applied or left out, and not before", () => {
    const wait = { kind: "wait", for: ["a"] } as const
    for (const standing of ["unplanned", "planning", "waiting_approval", "approved", "applying", "outdated"] as const) {
      expect(nextOfConsumer(standing)).toEqual(wait)
    }
    for (const standing of ["failed", "cancelled"] as const) expect(nextOfConsumer(standing)).toEqual(wait)
    for (const standing of ["applied", "left_out"] as const) expect(nextOfConsumer(standing)).toEqual({ kind: "plan" })
  })

  test("one that is not behind is left out", () => {
    expect(nextOfConsumer("applied", "unplanned", false)).toEqual({ kind: "leave_out" })
  })

  test("one whose plan was voided is planned again, and one that is under way or over is not", () => {
    expect(nextOfConsumer("applied", "outdated")).toEqual({ kind: "plan" })
    for (const standing of ["planning", "waiting_approval", "approved", "applying", "applied", "failed"] as const) {
      expect(nextOfConsumer("applied", standing)).toEqual({ kind: "none" })
    }
  })

  test("a failure keeps only its own consumers waiting", () => {
    const steps = nextSteps(
      [member("a", "failed"), member("b", "unplanned"), member("c", "unplanned")],
      [edge("a", "b")]
    )
    expect(steps.get("b")).toEqual({ kind: "wait", for: ["a"] })
    expect(steps.get("c")).toEqual({ kind: "plan" })
  })

  test("a producer outside of the update keeps nobody waiting", () => {
    expect(nextSteps([member("b", "unplanned")], [edge("a", "b")]).get("b")).toEqual({ kind: "plan" })
  })
})

test("a Capsule's wave comes after the last of those that it takes from", () => {
  const edges = [edge("a", "b"), edge("b", "d"), edge("a", "d"), edge("outside", "a")]
  expect(Object.fromEntries(wavesOf(["d", "c", "b", "a"], edges))).toEqual({ a: 1, b: 2, c: 1, d: 3 })
})

test("an update has those that are behind and what takes from them, as far as it can be updated", () => {
  const edges = [edge("a", "b"), edge("b", "c"), edge("a", "x"), edge("x", "y")]
  expect([...membersOf(["a"], new Set(["a", "b", "c", "y"]), edges)].toSorted()).toEqual(["a", "b", "c"])
})

test("Capsules stand together as what moves, then what needs a person, then what went wrong", () => {
  expect(stateOf(["planning", "waiting_approval", "failed"])).toBe("running")
  expect(stateOf(["approved", "failed"])).toBe("waiting_approval")
  expect(stateOf(["failed", "cancelled", "waiting"])).toBe("failed")
  expect(stateOf(["cancelled", "waiting"])).toBe("cancelled")
  expect(stateOf(["waiting", "applied"])).toBe("waiting")
  expect(stateOf(["applied", "left_out"])).toBe("succeeded")
})
