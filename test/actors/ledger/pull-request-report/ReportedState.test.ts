import { expect, test } from "bun:test"
import {
  behindText,
  type CapsuleFacts,
  capsuleVerdict,
  risksOf,
  undoneBy
} from "../../../../actors/ledger/pull-request-report/ReportedState.ts"
import type { CapsuleVerdict } from "../../../../schema/records/PullRequest.ts"
import type { RunStatus } from "../../../../schema/records/Run.ts"

const plan = (status: RunStatus, changes = true) => ({ status, changes })

const none: CapsuleFacts = {
  speculative: undefined,
  isRefused: false,
  isApproved: false,
  isMerged: false,
  plan: undefined,
  apply: undefined
}
const merged = (facts: Partial<CapsuleFacts>): CapsuleFacts => ({ ...none, isMerged: true, ...facts })
const laneOf = (status: RunStatus, differs = false) => ({ ...plan(status), differs })

test.each<[string, CapsuleFacts, CapsuleVerdict]>([
  ["no plan yet", none, "planning"],
  ["a head that may not be planned", { ...none, isRefused: true }, "refused"],
  ["a queued plan", { ...none, speculative: plan("queued") }, "planning"],
  ["a running plan", { ...none, speculative: plan("running") }, "planning"],
  ["a failed plan", { ...none, speculative: plan("failed") }, "failed"],
  ["a plan of an older head", { ...none, speculative: plan("superseded") }, "superseded"],
  ["a cancelled plan", { ...none, speculative: plan("cancelled") }, "superseded"],
  ["a plan", { ...none, speculative: plan("succeeded") }, "planned"],
  ["an approved change", { ...none, speculative: plan("succeeded"), isApproved: true }, "approved"],
  [
    "a queued merge of the approved change",
    { ...none, speculative: plan("succeeded"), queued: "approved" },
    "approved"
  ],
  ["a queued merge of another change", { ...none, speculative: plan("succeeded"), queued: "differs" }, "differs"],
  [
    "a queued merge that nobody approved",
    { ...none, speculative: plan("succeeded"), isApproved: true, queued: "unapproved" },
    "needs_approval"
  ],
  ["a plan without changes", { ...none, speculative: plan("succeeded", false) }, "unchanged"],
  ["a merge that is not planned yet", merged({ speculative: plan("succeeded") }), "planning"],
  ["a plan of the lane", merged({ plan: laneOf("running") }), "planning"],
  ["a failed plan of the lane", merged({ plan: laneOf("failed") }), "failed"],
  ["a waiting plan of the lane", merged({ plan: laneOf("waiting_approval") }), "needs_approval"],
  ["a plan of the lane that differs", merged({ plan: laneOf("waiting_approval", true) }), "differs"],
  ["a superseded plan of the lane", merged({ plan: laneOf("superseded") }), "superseded"],
  ["an approved plan of the lane", merged({ plan: laneOf("succeeded") }), "approved"],
  ["an apply in progress", merged({ plan: laneOf("succeeded"), apply: "running" }), "approved"],
  ["an apply", merged({ plan: laneOf("succeeded"), apply: "succeeded" }), "applied"],
  ["a failed apply", merged({ plan: laneOf("succeeded"), apply: "failed" }), "failed"],
  ["a cancelled apply", merged({ plan: laneOf("succeeded"), apply: "cancelled" }), "failed"]
])("judges %s", (_title, facts, verdict) => {
  expect(capsuleVerdict(facts)).toBe(verdict)
})

test("a report counts removals, replacements and forgotten objects as risks", () => {
  const of = (...actions: ReadonlyArray<string>) => ({ address: actions.join("+"), actions })
  expect(
    risksOf([of("create"), of("update"), of("delete"), of("delete", "create"), of("create", "delete"), of("forget")])
  ).toEqual([
    { kind: "destroys", address: "delete" },
    { kind: "replaces", address: "delete+create" },
    { kind: "replaces", address: "create+delete" },
    { kind: "forgets", address: "forget" }
  ])
})

test("a report lists the files of the base that a stale branch would revert, and shows how old the base is", () => {
  const base = { ref: "main", resolvedCommit: "c", standing: "stale", behind: 3, undoneFiles: ["main.tf"] } as const
  expect(undoneBy(base)).toEqual([{ kind: "undoes", address: "main.tf" }])
  expect(undoneBy({ ...base, standing: "behind" })).toEqual([])
  expect(undoneBy(undefined)).toEqual([])
  expect(behindText([undefined, base, { ...base, behind: 1 }])).toBe("3 commits behind")
  expect(behindText([{ ...base, behind: 1 }])).toBe("1 commit behind")
  expect(behindText([{ ref: "main", resolvedCommit: "c", standing: "current", behind: 0 }])).toBeUndefined()
})
