import { expect, test } from "bun:test"
import type { Run } from "../../src/dashboard/api/Types.ts"
import { storyOf } from "../../src/dashboard/screens/run/Story.ts"

const at = (minute: number) => `2026-01-01T00:0${minute}:00.000Z`

const plan: Run = {
  id: "run_1",
  workspaceId: "ws_1",
  type: "plan",
  status: "waiting_approval",
  trigger: "user",
  attempt: 1,
  requiresApproval: true,
  createdBy: "usr_a",
  createdAt: at(0),
  queuedAt: at(0)
}
const told = { events: [], approvals: [], apply: undefined, comments: [] }
const kinds = (lines: ReturnType<typeof storyOf>) => lines.map(({ kind }) => kind)

test("a plan's story goes from the queue to its apply, with the comments in between", () => {
  const lines = storyOf({
    run: { ...plan, status: "succeeded", approvedAt: at(5), approvedBy: "usr_b", finishedAt: at(5) },
    events: [{ kind: "run.waiting_approval", at: at(1) }],
    approvals: [
      { approver: "usr_b", kind: "person", createdAt: at(3), comment: "Fine." },
      { approver: "service", kind: "automation", createdAt: at(5) }
    ],
    apply: { id: "run_2", createdAt: at(6), createdBy: "usr_c" },
    comments: [
      { id: "cmt_1", runId: "run_1", author: "usr_c", text: "Why?", createdAt: at(2) },
      { id: "cmt_2", runId: "run_1", author: "usr_c", createdAt: at(7), removedAt: at(8) }
    ]
  })
  expect(kinds(lines)).toEqual(["queued", "planned", "comment", "approved", "approved", "applied", "comment"])
  expect(lines[3]).toEqual({ kind: "approved", at: at(3), subject: "usr_b", reason: "Fine." })
  expect(lines[4]).toEqual({ kind: "approved", at: at(5), subject: undefined, reason: undefined })
  expect(lines[5]).toEqual({ kind: "applied", at: at(6), subject: "usr_c", runId: "run_2" })
})

test("a plan's story ends with the decision, the person who made it and the reason", () => {
  const endedBy = { kind: "discarded", subject: "usr_b", at: at(4), reason: "Not now." } as const
  const lines = storyOf({ ...told, run: { ...plan, status: "cancelled", endedBy, finishedAt: at(4) } })
  expect(lines.at(-1)).toEqual(endedBy)
})

test("a plan's story takes an approval from the Run if an earlier release recorded it, and shows a failure with its message", () => {
  const approved = {
    ...plan,
    status: "succeeded" as const,
    approvedAt: at(2),
    approvedBy: "usr_b",
    approvalComment: "Go"
  }
  expect(storyOf({ ...told, run: approved }).at(-1)).toEqual({
    kind: "approved",
    at: at(2),
    subject: "usr_b",
    reason: "Go"
  })
  const failed = { ...plan, status: "failed" as const, finishedAt: at(3), error: { code: "x", message: "Broken." } }
  expect(storyOf({ ...told, run: failed }).at(-1)).toEqual({ kind: "failed", at: at(3), reason: "Broken." })
})
