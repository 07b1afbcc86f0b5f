import { describe, expect, test } from "bun:test"
import { activityByDay, foldRepeated, syncsWithoutNews } from "../../src/dashboard/app/ActivityLines.ts"
import { markOf } from "../../src/dashboard/app/ActivityMarks.ts"
import type { AuditEvent } from "../../src/dashboard/api/Types.ts"

const event = (id: number, action: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  id: `act_${id}`,
  workspaceId: "ws_1",
  actor: { kind: "user", subject: "usr_1" },
  action,
  target: { kind: "source", id: "src_1" },
  data: {},
  createdAt: new Date(2026, 5, 12, 12, 0, -id).toISOString(),
  ...more
})

const shape = (lines: ReturnType<typeof foldRepeated>) =>
  lines.map((line) => (line.kind === "event" ? line.event.id : `${line.kind} ${line.events.map(({ id }) => id)}`))

describe("Activity lines", () => {
  test("activity lines fold one person's consecutive repeated actions", () => {
    const events = [
      event(1, "source.sync"),
      event(2, "source.sync"),
      event(3, "source.sync", { actor: { kind: "user", subject: "usr_2" } }),
      event(4, "source.update"),
      event(5, "source.sync"),
      event(6, "source.sync"),
      event(7, "source.sync")
    ]
    expect(shape(foldRepeated(events))).toEqual([
      "repeated act_1,act_2",
      "act_3",
      "act_4",
      "repeated act_5,act_6,act_7"
    ])
  })

  test("activity lines never fold comments or different kinds of record", () => {
    const said = { data: { comment: "Looks right." } }
    expect(
      shape(
        foldRepeated([
          event(1, "run.approve"),
          event(2, "run.approve", said),
          event(3, "run.approve"),
          event(4, "run.approve", { target: { kind: "run", id: "run_1" } })
        ])
      )
    ).toEqual(["act_1", "act_2", "act_3", "act_4"])
  })

  test("activity lines group the syncs of a day that found nothing new into one subdued line at the end of that day", () => {
    const sync = (
      id: string,
      minute: number,
      sourceSnapshotId: string,
      status: "failed" | "succeeded" = "succeeded"
    ) => ({
      id,
      type: "source_sync" as const,
      status,
      sourceId: "src_1",
      sourceSnapshotId,
      createdAt: new Date(2026, 5, 12, 11, minute).toISOString()
    })
    const runs = [
      sync("run_4", 4, "snap_2"),
      sync("run_3", 3, "snap_1"),
      sync("run_2", 2, "snap_1"),
      sync("run_1", 1, "snap_1"),
      sync("run_0", 0, "snap_2", "failed"),
      // A sync of another Source with the same snapshot does not count as an earlier sync of this Source.
      { ...sync("run_5", 5, "snap_1"), sourceId: "src_2" }
    ]
    expect([...syncsWithoutNews(runs)].toSorted()).toEqual(["run_2", "run_3"])
    const events = [
      event(1, "source.sync", { runId: "run_4" }),
      event(2, "source.sync", { runId: "run_3" }),
      event(3, "source.create"),
      event(4, "source.sync", { runId: "run_2" }),
      event(5, "source.sync", { runId: "run_1" }),
      event(6, "source.sync", { runId: "run_unknown", createdAt: new Date(2026, 5, 11, 23).toISOString() })
    ]
    expect(activityByDay(events, runs).map(({ day, lines }) => [day, shape(lines)])).toEqual([
      ["2026-06-12", ["act_1", "act_3", "act_5", "quiet act_2,act_4"]],
      ["2026-06-11", ["act_6"]]
    ])
  })

  test("activity lines highlight removals and unknown actions", () => {
    expect(markOf({ action: "token.revoke" })).toEqual({ icon: "connection", tone: "bad" })
    expect(markOf({ action: "run.approve" }).tone).toBe("good")
    expect(markOf({ action: "something.new" })).toEqual({ icon: "activity", tone: "plain" })
  })
})
