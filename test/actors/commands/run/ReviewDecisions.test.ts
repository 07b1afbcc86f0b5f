import { expect, test } from "bun:test"
import { approvalRefusal, cancelStep } from "../../../../actors/commands/run/ReviewDecisions.ts"
import { RunStatus, RunType } from "../../../../schema/records/Run.ts"

const at = "2026-01-02T00:00:00.000Z"
const digest = `sha256:${"a".repeat(64)}`

type Plan = Parameters<typeof approvalRefusal>[0]

const waiting: Plan = {
  type: "plan",
  purpose: null,
  status: "waiting_approval",
  plan_digest: digest,
  approved_at: null,
  expires_at: "2026-01-02T00:00:00.001Z"
}

test("an approved plan whose approvals have lapsed accepts another approval until it expires", () => {
  const approved = { ...waiting, status: "succeeded", approved_at: at } as const
  expect(approvalRefusal(approved, digest, at)?.code).toBe("failed_precondition")
  expect(approvalRefusal(approved, digest, at, true)).toBeUndefined()
  expect(approvalRefusal({ ...approved, expires_at: at }, digest, at, true)?.code).toBe("failed_precondition")
})

test("a waiting plan can be approved with or without its digest", () => {
  expect(approvalRefusal(waiting, digest, at)).toBeUndefined()
  expect(approvalRefusal(waiting, undefined, at)).toBeUndefined()
  expect(approvalRefusal({ ...waiting, type: "destroy_plan", expires_at: null }, digest, at)).toBeUndefined()
})

test("only a plan can be approved", () => {
  const approvable = RunType.literals.filter((type) => approvalRefusal({ ...waiting, type }, digest, at) === undefined)
  expect(approvable.toSorted()).toEqual(["destroy_plan", "plan", "restore"])
})

test("a speculative plan can never be approved, and the error explains how to approve its change", () => {
  for (const status of RunStatus.literals) {
    const refusal = approvalRefusal({ ...waiting, purpose: "speculative", status, approved_at: at }, digest, at, true)
    expect([status, refusal?.code]).toEqual([status, "failed_precondition"])
    expect(refusal?.message).toContain("change-approvals")
  }
})

test("approving a plan that has changed since it was read is a conflict, even if the plan could not be approved for other reasons", () => {
  const read = `sha256:${"b".repeat(64)}`
  expect(approvalRefusal(waiting, read, at)?.code).toBe("guard_conflict")
  expect(approvalRefusal({ ...waiting, plan_digest: null }, read, at)?.code).toBe("guard_conflict")
  expect(approvalRefusal({ ...waiting, status: "superseded" }, read, at)?.code).toBe("guard_conflict")
})

test.each([
  ["has expired", { expires_at: at }],
  ["is approved already", { status: "succeeded", approved_at: at }],
  ...RunStatus.literals
    .filter((status) => status !== "waiting_approval")
    .map((status): readonly [string, Partial<Plan>] => [`is ${status}`, { status }])
] satisfies ReadonlyArray<readonly [string, Partial<Plan>]>)(
  "a plan that %s cannot be approved",
  (words, different) => {
    const refusal = approvalRefusal({ ...waiting, ...different }, digest, at)
    expect(refusal?.code).toBe("failed_precondition")
    expect(refusal?.message).toContain(words)
  }
)

test("depending on the status of the Run, a cancellation withdraws a plan, requests a stop, revokes an approval, or comes too late", () => {
  const steps = RunStatus.literals.map((status) => [
    status,
    [cancelStep({ status, approved_at: null }), cancelStep({ status, approved_at: at })]
  ])
  expect(Object.fromEntries(steps)).toEqual({
    queued: ["withdraw", "withdraw"],
    running: ["request", "request"],
    waiting_approval: ["withdraw", "withdraw"],
    succeeded: ["ended", "withdraw_approval"],
    failed: ["ended", "ended"],
    cancelled: ["ended", "ended"],
    superseded: ["ended", "ended"],
    expired: ["ended", "ended"]
  })
})
