import type { Run, RunStatus } from "../../../schema/records/Run.ts"
import { RunGroup } from "../../../schema/records/RunGroup.ts"
import type { RunWave, WaveMember, WaveMemberState } from "../../../schema/records/RunWaves.ts"
import { present, RunRow, toRun } from "../../ledger/run/RunRow.ts"
import { type GroupMember, groupMembers } from "./GroupMembers.ts"
import { RunGroupRow } from "./RunGroupRow.ts"
import { nextSteps, type Standing, stateOf, type WaveEdge } from "./WaveDecision.ts"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { notFound } from "../../../schema/errors/ApiError.ts"
import type { RunGroupId } from "../../../schema/records/Ids.ts"
import { RunQueue } from "../queue/RunQueue.ts"
import { withCommitDescriptions } from "../../ledger/source/CommitDescriptions.ts"

type Status = RunGroup["status"]

const statusOfRuns = (statuses: ReadonlyArray<RunStatus>): Status => {
  if (statuses.some((status) => status === "queued" || status === "running")) return "running"
  if (statuses.includes("waiting_approval")) return "waiting_approval"
  if (statuses.includes("failed")) return "failed"
  return statuses.length > 0 && statuses.every((status) => status === "cancelled") ? "cancelled" : "succeeded"
}

const shownState = (standing: Standing): WaveMemberState =>
  standing === "unplanned" || standing === "outdated" ? "waiting" : standing

const wavesOfGroup = (members: ReadonlyArray<GroupMember>, edges: ReadonlyArray<WaveEdge>): ReadonlyArray<RunWave> => {
  const byId = new Map(members.map((member) => [member.capsuleId, member]))
  const steps = nextSteps(members, edges)
  const shown = (member: GroupMember): WaveMember => {
    const step = steps.get(member.capsuleId)
    const producers = step?.kind === "wait" ? step.for : []
    const waitsFor = producers.flatMap((id) => {
      const producer = byId.get(id)
      return producer === undefined
        ? []
        : [{ capsuleId: id, name: producer.name, state: shownState(producer.standing) }]
    })
    return {
      capsuleId: member.capsuleId,
      name: member.name,
      state: shownState(member.standing),
      ...present({
        planRunId: member.planRunId,
        applyRunId: member.applyRunId,
        waitsFor: waitsFor.length === 0 ? undefined : waitsFor,
        reason: member.reason
      })
    }
  }
  return [...new Set(members.map(({ wave }) => wave))].map((wave) => {
    const capsules = members.filter((member) => member.wave === wave).map(shown)
    return { wave, state: stateOf(capsules.map(({ state }) => state)), capsules }
  })
}

const statusOfMembers = (group: RunGroupRow, members: ReadonlyArray<GroupMember>): Status => {
  const state = stateOf(members.map(({ standing }) => shownState(standing)))
  if (state === "running") return state
  if (group.cancelled_at !== null) return "cancelled"
  // If a member is not waiting for other members, it continues soon, unless the group is on hold.
  return state === "waiting" ? (group.held_reason === null ? "running" : "waiting_approval") : state
}

/** Returns true if nothing in the group can continue, either automatically or after a decision about its Runs. */
export const isOver = (group: Pick<RunGroupRow, "cancelled_at">, members: ReadonlyArray<GroupMember>): boolean =>
  group.cancelled_at === null
    ? members.every(({ standing }) => standing === "applied" || standing === "left_out")
    : members.every(
        ({ standing }) =>
          standing === "applied" || standing === "left_out" || standing === "failed" || standing === "cancelled"
      )

/** Returns the group. Its Runs are in creation order, so producers come before their consumers. */
export const toRunGroup = (
  row: RunGroupRow,
  runs: ReadonlyArray<Run>,
  { edges, members }: { readonly members: ReadonlyArray<GroupMember>; readonly edges: ReadonlyArray<WaveEdge> }
) => {
  // Groups of checks and updates from earlier releases have no waves.
  const status = members.length === 0 ? statusOfRuns(runs.map((run) => run.status)) : statusOfMembers(row, members)
  const last = runs.reduce((latest, run) => ((run.finishedAt ?? "") > latest ? (run.finishedAt ?? "") : latest), "")
  // The group has no end time until it is over, because a failed or cancelled member may be planned again.
  const finishedAt = row.finished_at ?? (members.length === 0 || isOver(row, members) ? last : "")
  const isOpen = status === "running" || status === "waiting_approval"
  return {
    runGroup: RunGroup.make({
      id: row.id,
      workspaceId: row.workspace_id,
      type: row.type,
      status,
      runIds: runs.map((run) => run.id),
      createdAt: row.created_at,
      ...present({
        waves: members.length === 0 ? undefined : wavesOfGroup(members, edges),
        heldReason: row.finished_at === null ? row.held_reason : undefined,
        cancelReason: row.cancel_reason,
        replacedBy: row.replaced_by ?? undefined,
        finishedAt: isOpen || finishedAt === "" ? undefined : finishedAt
      })
    }),
    runs
  }
}

/** Returns a group and its Runs, with their current status. */
export const readGroup = Effect.fn("readGroup")(function* (id: RunGroupId) {
  const sql = yield* SqlClient.SqlClient
  const queue = yield* RunQueue
  const [group] = yield* Effect.orDie(RunGroupRow.rows(sql)`SELECT * FROM run_groups WHERE id = ${id}`)
  if (group === undefined) return yield* notFound("Run group")
  const rows = yield* Effect.orDie(
    RunRow.rows(sql)`SELECT * FROM runs WHERE run_group_id = ${id} ORDER BY created_at, id`
  )
  const places = yield* queue.places(rows)
  const runs = yield* withCommitDescriptions(
    sql,
    rows.map((row) => toRun(row, places.get(row.id)))
  )
  return toRunGroup(group, runs, yield* groupMembers(group))
})
