import { expect, test } from "bun:test"
import { Schema } from "effect"
import type { GroupMember } from "../../../../actors/running/run-group/GroupMembers.ts"
import { toRunGroup } from "../../../../actors/running/run-group/GroupProjection.ts"
import type { RunGroupRow } from "../../../../actors/running/run-group/RunGroupRow.ts"
import { RunGroupId, WorkspaceId } from "../../../../schema/records/Ids.ts"
import { Run } from "../../../../schema/records/Run.ts"
import { baseRun } from "../../../browser/support/records/Runs.ts"
import { namedCapsule } from "../../../support/NamedIds.ts"

const at = "2026-01-01T00:10:00.000Z"
const row: RunGroupRow = {
  id: RunGroupId.make("rgrp_0000000000000001"),
  workspace_id: WorkspaceId.make("ws_0000000000000001"),
  type: "update",
  created_at: "2026-01-01T00:00:00.000Z",
  finished_at: null,
  started_by: null,
  cancelled_at: null,
  cancelled_by: null,
  cancel_reason: null,
  replaced_by: null,
  held_reason: null,
  held_by_pause: 0,
  moved: 0,
  seen: 0
}
const member = (standing: GroupMember["standing"]): GroupMember => ({
  capsuleId: namedCapsule(1),
  name: "one",
  wave: 1,
  standing,
  isBehind: true,
  planRunId: undefined,
  applyRunId: undefined,
  reason: undefined
})
const run = Schema.decodeUnknownSync(Run)(
  baseRun({ id: "run_0000000000000101", type: "plan", status: "failed", finishedAt: at })
)
const shown = (group: Partial<RunGroupRow>, standing: GroupMember["standing"]) =>
  toRunGroup({ ...row, ...group }, [run], { edges: [], members: [member(standing)] }).runGroup

test("an update ends when no Capsule can continue, but not while a failed Capsule may be planned again", () => {
  expect(shown({}, "failed")).toMatchObject({ status: "failed" })
  expect(shown({}, "failed")).not.toHaveProperty("finishedAt")
  expect(shown({}, "cancelled")).not.toHaveProperty("finishedAt")
  expect(shown({}, "applied")).toMatchObject({ status: "succeeded", finishedAt: at })
  expect(shown({ cancelled_at: at }, "failed")).toMatchObject({ status: "cancelled", finishedAt: at })
  const ended = "2026-01-01T00:20:00.000Z"
  expect(shown({ finished_at: ended }, "left_out")).toMatchObject({ finishedAt: ended })
})
