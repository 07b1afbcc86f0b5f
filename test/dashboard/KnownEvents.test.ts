import { expect, test } from "bun:test"
import { saysAlready } from "../../src/dashboard/screens/run/KnownEvents.ts"
import type { RunStatus } from "../../src/dashboard/api/Types.ts"

test.each<[RunStatus | undefined, ReadonlyArray<string>, boolean]>([
  ["waiting_approval", ["run.queued", "run.started", "plan.summary", "run.waiting_approval"], true],
  ["succeeded", ["run.waiting_approval", "run.approved"], true],
  ["failed", ["run.started", "diagnostic", "run.failed", "diagnostic"], true],
  // The status does not reflect these events: the plan may have been approved after it was read, or only one of two
  // approvers has approved it.
  ["waiting_approval", ["run.waiting_approval", "run.approved"], false],
  ["waiting_approval", ["run.superseded"], false],
  // The status of a Run in progress alone does not show that events arrived, because events change more than the status.
  ["running", ["run.started"], false],
  ["queued", ["run.queued"], false],
  ["succeeded", ["state.saved"], false],
  [undefined, ["run.succeeded"], false],
  ["succeeded", [], false]
])("a Run with the status %p already reflects the events %p: %p", (status, kinds, says) => {
  expect(
    saysAlready(
      status === undefined ? undefined : { status },
      kinds.map((kind) => ({ kind }))
    )
  ).toBe(says)
})
