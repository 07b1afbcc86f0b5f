import { expect, test } from "bun:test"
import { givenUpAfter, verdictOn } from "../../../../actors/running/agent/LeaseVerdict.ts"
import { seconds } from "../../../../actors/base/MonotonicNow.ts"
import { RunId } from "../../../../schema/records/Ids.ts"

const lease = {
  runId: RunId.make("run_00000000000000000000000000"),
  fence: 1,
  agentId: "agt_1",
  kind: "apply" as const,
  leaseSeconds: 2700,
  isAccepted: true,
  isUnreachable: false,
  isResumed: false,
  heardAt: 0n
}
const plan = { kind: "plan" as const, leaseSeconds: 60 }

test.each([
  ["an offer within its time", { isAccepted: false }, 30, "nothing"],
  ["an offer that nobody accepted", { isAccepted: false }, 31, "offer_again"],
  ["an apply for half a minute", {}, 30, "nothing"],
  ["an apply for longer", {}, 31, "unreachable"],
  ["one that is called unreachable already", { isUnreachable: true }, 31, "nothing"],
  ["an apply for longer than a plan", {}, 61, "give_up_unstarted"],
  ["an apply within lease and margin", {}, 2787, "give_up_unstarted"],
  ["an apply after both", {}, 2788, "give_up"],
  ["a plan for half a minute", plan, 31, "unreachable"],
  ["a plan for a minute", plan, 61, "give_up"],
  ["a drift check for a minute", { ...plan, kind: "drift_check" as const }, 61, "give_up"]
] as const)("%s", (_, given, silent, verdict) => {
  expect(verdictOn({ ...lease, ...given }, seconds(silent))).toBe(verdict)
})

test("an apply whose tool has not started is abandoned as early as a plan", () => {
  expect(givenUpAfter("apply", false, 2700)).toBe(seconds(60))
  expect(givenUpAfter("apply", true, 2700)).toBe(seconds(2787))
  expect(givenUpAfter("plan", true, 2700)).toBe(seconds(60))
})
