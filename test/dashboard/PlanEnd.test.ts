import { expect, test } from "bun:test"
import { planEndOf } from "../../src/dashboard/screens/run/PlanEnd.ts"

const at = "2026-01-01T00:00:00.000Z"
const before = Date.parse(at) - 1
const waiting = {
  status: "waiting_approval",
  expiresAt: at,
  executionAuthorityEpoch: 2,
  baseStateGeneration: 5
} as const
const capsule = { status: "active", executionAuthorityEpoch: 2, currentStateGeneration: 5 } as const
const seen = { capsule, isApplied: false, now: before }
const approved = { ...waiting, status: "succeeded", approvedAt: at } as const

test("a waiting or approved plan has not ended", () => {
  expect(planEndOf(waiting, seen)).toBeUndefined()
  expect(planEndOf(approved, seen)).toBeUndefined()
  expect(planEndOf(waiting, { ...seen, capsule: undefined })).toBeUndefined()
})

test("the status of a plan determines why it has ended", () => {
  expect(planEndOf({ ...waiting, status: "superseded" }, seen)).toBe("superseded")
  expect(planEndOf({ ...waiting, status: "expired" }, seen)).toBe("expired")
  expect(planEndOf({ ...waiting, status: "failed" }, seen)).toBe("failed")
  expect(planEndOf({ ...waiting, status: "cancelled" }, seen)).toBe("discarded")
  expect(planEndOf({ ...approved, status: "cancelled" }, seen)).toBe("withdrawn")
  expect(planEndOf(approved, { ...seen, isApplied: true })).toBe("applied")
})

test("a waiting plan expires after its deadline, but an approved plan does not", () => {
  expect(planEndOf(waiting, { ...seen, now: Date.parse(at) })).toBe("expired")
  expect(planEndOf(approved, { ...seen, now: Date.parse(at) })).toBeUndefined()
})

test("a plan ends when its Capsule has ended or changed, unless the Capsule was read before the plan", () => {
  expect(planEndOf(waiting, { ...seen, capsule: { ...capsule, status: "released" } })).toBe("capsule_ended")
  expect(planEndOf(waiting, { ...seen, capsule: { ...capsule, executionAuthorityEpoch: 3 } })).toBe("moved")
  expect(planEndOf(waiting, { ...seen, capsule: { ...capsule, currentStateGeneration: 6 } })).toBe("moved")
  expect(planEndOf(waiting, { ...seen, capsule: { ...capsule, currentStateGeneration: 4 } })).toBeUndefined()
})
