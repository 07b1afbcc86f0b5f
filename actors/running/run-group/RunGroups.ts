import { Context, Effect, Layer, Queue, Result, Semaphore } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { type ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { type CapsuleId, RunGroupId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { type CommandContext, serviceContext } from "../../../schema/commands/Command.ts"
import { Commits } from "../../base/database/Commits.ts"
import { inParts } from "../../base/database/RowParts.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { newId, now } from "../../base/Identity.ts"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { type GroupMember, groupMembers } from "./GroupMembers.ts"
import { isOver } from "./GroupProjection.ts"
import { RunGroupMemberRow, RunGroupRow } from "./RunGroupRow.ts"
import { decodeStarter, encodeStarter, holdOf, starterOf } from "./UpdateHold.ts"
import { nextSteps, updateMembers, wavesOf } from "./WaveDecision.ts"
import { type ChangesOf, Flag, rowShape } from "../../base/database/Table.ts"

const OpenUpdate = rowShape({ id: RunGroupId, is_due: Flag })

/**
 * Finds updates whose next step may be due. Searching after every commit would make every command 5% slower, so svc searches
 * only while an update is open.
 * - `opening`: runs an effect that may open an update in the outermost transaction
 * - `due`: returns the open updates, oldest first; does not read the database if no update was open at the last search and
 *   `opening` has not been called since
 */
const dueUpdates = (sql: SqlClient.SqlClient, read: SqlClient.SqlClient) => {
  let openings = 0
  let without: number | undefined
  const count = Effect.sync(() => {
    openings++
  })
  const look = Effect.suspend(() => {
    const since = openings
    return Effect.map(
      Effect.orDie(OpenUpdate.rows(read)`SELECT g.id, g.moved <> g.seen
            OR (g.held_by_pause = 1 AND w.automation_paused_at IS NULL AND w.archived_at IS NULL) AS is_due
          FROM run_groups g JOIN workspaces w ON w.id = g.workspace_id
          WHERE g.finished_at IS NULL AND g.type = 'update' ORDER BY g.created_at, g.id`),
      (open) => {
        if (open.length === 0) without = since
        return open.filter((update) => update.is_due === 1)
      }
    )
  })
  return {
    // Increments the counter before and after the effect, because a search while the effect is running may miss the update.
    opening: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.ensuring(Effect.andThen(count, transaction(sql)(effect)), count),
    due: Effect.suspend(() => (openings === without ? Effect.succeed([]) : look))
  }
}

/** A Capsule of the group whose plan was refused. */
export interface Refused {
  readonly capsuleId: CapsuleId
  readonly error: ApiError
}

const leftOut = {
  code: "inputs_unchanged",
  message: "Nothing that it takes from the updated Capsules has changed, so there is nothing to update."
}

/**
 * Manages the updates of a Workspace, and is the only writer of `run_groups` and `run_group_members`. Decides the next steps
 * from rows, after each commit that changes a Run or Capsule of the group and after a restart.
 */
export class RunGroups extends Context.Service<
  RunGroups,
  {
    /**
     * Starts an update of all stale Capsules (or those in `only`) and of their consumers, and plans the first wave. Replaces
     * the Workspace's open update, if any. If no Capsule could be planned, fails with the first error.
     */
    readonly startUpdate: (
      context: CommandContext,
      workspaceId: WorkspaceId,
      only?: ReadonlyArray<CapsuleId>
    ) => Effect.Effect<{ readonly id: RunGroupId; readonly refused: ReadonlyArray<Refused> }, ApiError>
    /** Creates a group that does nothing but list Runs. */
    readonly startCheck: (workspaceId: WorkspaceId) => Effect.Effect<RunGroupId>
    readonly discard: (id: RunGroupId) => Effect.Effect<void>
    /** Stops planning and voids unapplied plans. Running applies continue. */
    readonly cancel: (
      context: CommandContext,
      id: RunGroupId,
      reason: string | undefined
    ) => Effect.Effect<void, ApiError>
    /** Takes the next steps of every open update. */
    readonly advanceAll: Effect.Effect<void>
    /** Runs updates until interrupted. */
    readonly follow: Effect.Effect<never>
  }
>()("svc/actors/running/run-group/RunGroups") {
  static readonly layer = Layer.effect(
    RunGroups,
    Effect.suspend(() => make)
  )
}

const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // Uses the read connection, because every statement on the write connection notifies commit listeners.
  const read = yield* ReadSql
  const commits = yield* Commits
  const audit = yield* Audit
  const ledger = yield* RunLedger
  const capsuleCommand = yield* CapsuleCommands
  const runCommand = yield* RunCommands
  const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)
  const withSql = Effect.provideService(SqlClient.SqlClient, sql)
  const exclusive = yield* ExclusiveWork
  const deciding = yield* Semaphore.make(1)
  // Takes a lock, because two concurrent decisions about a group, even on two servers, would plan a Capsule twice.
  const oneAtATime = <A, E, R>(decision: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    deciding.withPermits(1)(exclusive.locked("run-group decisions")(decision))
  const { due, opening } = dueUpdates(sql, read)

  const find = Effect.fnUntraced(function* (id: RunGroupId) {
    const [row] = yield* Effect.orDie(RunGroupRow.rows(sql)`SELECT * FROM run_groups WHERE id = ${id}`)
    return row
  })

  const set = (id: RunGroupId, columns: ChangesOf<typeof RunGroupRow>) =>
    Effect.orDie(sql`UPDATE run_groups SET ${RunGroupRow.changes(sql, columns)} WHERE id = ${id}`)

  const setMember = (groupId: RunGroupId, capsuleId: CapsuleId, columns: ChangesOf<typeof RunGroupMemberRow>) =>
    Effect.orDie(sql`UPDATE run_group_members SET ${RunGroupMemberRow.changes(sql, columns)}
      WHERE group_id = ${groupId} AND capsule_id = ${capsuleId}`)

  const audited = (
    context: CommandContext,
    group: { readonly id: RunGroupId; readonly workspace_id: WorkspaceId },
    action: string,
    data: object
  ) =>
    audit.append({
      workspaceId: group.workspace_id,
      actor: context.actor,
      action,
      target: { kind: "run_group", id: group.id },
      data: { ...data },
      requestId: context.requestId
    })

  /** Decides the next step from the current rows. Records final decisions. */
  const look = Effect.fnUntraced(function* (groupId: RunGroupId) {
    const group = yield* find(groupId)
    if (group === undefined || group.type !== "update" || group.finished_at !== null) return undefined
    const { edges, members } = yield* withSql(groupMembers(group))
    const waves = wavesOf(
      members.map(({ capsuleId }) => capsuleId),
      edges
    )
    for (const { capsuleId, wave } of members) {
      const own = waves.get(capsuleId)
      if (own !== undefined && own !== wave) yield* setMember(groupId, capsuleId, { wave: own })
    }
    if (isOver(group, members)) {
      yield* set(groupId, { finished_at: yield* now, seen: group.moved, held_reason: null, held_by_pause: 0 })
      const of = (standing: GroupMember["standing"]) => members.filter((member) => member.standing === standing).length
      yield* audited(serviceContext, group, "run_group.finish", { applied: of("applied"), leftOut: of("left_out") })
      return undefined
    }
    const steps = group.cancelled_at === null ? nextSteps(members, edges) : new Map()
    const leaving = members.filter(({ capsuleId }) => steps.get(capsuleId)?.kind === "leave_out")
    for (const { capsuleId } of leaving) yield* setMember(groupId, capsuleId, { decision: "left_out", ...leftOut })
    const planning = members.filter(({ capsuleId }) => steps.get(capsuleId)?.kind === "plan")
    return { group, members, planning, hasLeft: leaving.length > 0 }
  }, transaction(sql))

  /** Voids all plans that a cancelled group could still apply. Each step can be repeated. */
  const wind = Effect.fnUntraced(function* (group: RunGroupRow, members: ReadonlyArray<GroupMember>) {
    const context =
      group.cancelled_by === null ? serviceContext : yield* Effect.orDie(decodeStarter(group.cancelled_by))
    const reason = group.cancel_reason ?? "The update was cancelled."
    for (const { planRunId, standing } of members) {
      if (planRunId === undefined) continue
      if (standing === "planning" || standing === "waiting_approval") {
        // Ignores an error, because the plan may have ended in the meantime.
        yield* Effect.ignore(runCommand.Cancel(planRunId, { context, reason }))
      } else if (standing === "approved") {
        yield* ledger.supersedePlan(planRunId, reason).pipe(transaction(sql))
      }
    }
  })

  /**
   * Takes the next steps of a group. `byPerson` is true if a person has just requested the steps, so that automation rules
   * do not apply. Returns the Capsules whose plan was refused.
   */
  const advance = Effect.fn("RunGroups.advance")(function* (groupId: RunGroupId, byPerson: boolean) {
    const refused: Array<Refused> = []
    for (;;) {
      const looked = yield* look(groupId)
      if (looked === undefined) return refused
      const { group, hasLeft, members, planning } = looked
      if (hasLeft) continue
      if (group.cancelled_at !== null) yield* wind(group, members)
      let hold = byPerson || planning.length === 0 ? undefined : yield* withSql(holdOf(group))
      if (hold === undefined) {
        const context = yield* starterOf(group)
        for (const { capsuleId } of planning) {
          const asked = capsuleCommand.Plan(capsuleId, { context, groupId: groupId, automatic: !byPerson })
          const outcome = yield* Effect.result(asked)
          if (Result.isSuccess(outcome)) continue
          // Automation was paused, or the person who started the update was removed, before the Capsule's turn. The update
          // waits and records no refusal.
          hold = byPerson ? undefined : yield* withSql(holdOf(group))
          if (hold !== undefined) break
          const { code, message } = outcome.failure
          refused.push({ capsuleId: capsuleId, error: outcome.failure })
          // A refusal is not recorded if the queue was full, because a full queue is not a problem with the Capsule. The
          // next decision tries again.
          if (code !== "rate_limited") yield* setMember(groupId, capsuleId, { decision: "refused", code, message })
        }
      }
      yield* set(groupId, {
        seen: group.moved,
        held_reason: hold?.reason ?? null,
        held_by_pause: hold?.byPause === true ? 1 : 0
      })
      return refused
    }
  })

  const advanceEach = Effect.fnUntraced(function* (groups: ReadonlyArray<{ readonly id: RunGroupId }>) {
    for (const { id } of groups) {
      yield* oneAtATime(advance(id, false)).pipe(
        Effect.catchCause((cause) => Effect.logError(`The update ${id} could not go on`, cause))
      )
    }
  })

  const advanceAll = Effect.gen(function* () {
    const open = yield* Effect.orDie(RunGroupRow.some(sql, "id")`SELECT id FROM run_groups
      WHERE finished_at IS NULL AND type = 'update' ORDER BY created_at, id`)
    yield* advanceEach(open)
  }).pipe(Effect.withSpan("RunGroups.advanceAll"))

  const follow = Effect.gen(function* () {
    const signals = yield* Queue.sliding<void>(1)
    const stop = commits.listen(() => Queue.offerUnsafe(signals, undefined))
    yield* Effect.addFinalizer(() => Effect.sync(stop))
    yield* advanceAll
    return yield* Queue.take(signals).pipe(Effect.andThen(due), Effect.flatMap(advanceEach), Effect.forever)
  }).pipe(Effect.scoped)

  const startCheck = Effect.fn("RunGroups.startCheck")(function* (workspaceId: WorkspaceId) {
    const id = yield* newId(RunGroupId, "rgrp").pipe(withRandom)
    const row = { id, workspace_id: workspaceId, type: "drift_check" as const, created_at: yield* now }
    yield* Effect.orDie(sql`INSERT INTO run_groups ${RunGroupRow.values(sql, row)}`)
    return id
  }, transaction(sql))

  /** Removes a group that could not start, and reopens the updates that it replaced. */
  const discard = Effect.fnUntraced(function* (id: RunGroupId) {
    const open = { cancelled_at: null, cancelled_by: null, cancel_reason: null, replaced_by: null }
    yield* Effect.orDie(
      sql`UPDATE run_groups SET ${RunGroupRow.changes(sql, open)}, moved = moved + 1 WHERE replaced_by = ${id}`
    )
    yield* Effect.orDie(sql`DELETE FROM run_group_members WHERE group_id = ${id}`)
    yield* Effect.orDie(sql`DELETE FROM run_groups WHERE id = ${id}`)
  }, opening)

  const insertUpdate = Effect.fnUntraced(function* (
    context: CommandContext,
    workspaceId: WorkspaceId,
    only: ReadonlyArray<CapsuleId> | undefined
  ) {
    const { ordered, waves } = yield* updateMembers(sql, workspaceId, only)
    if (ordered.length === 0) {
      return yield* failedPrecondition(
        only === undefined ? "No Capsule is stale." : "None of the named Capsules of this Workspace is stale."
      )
    }
    const id = yield* newId(RunGroupId, "rgrp").pipe(withRandom)
    const { actor, actorKey } = context
    const started_by = encodeStarter({ actor, actorKey })
    const row = { id, workspace_id: workspaceId, type: "update" as const, created_at: yield* now, started_by }
    yield* Effect.orDie(sql`INSERT INTO run_groups ${RunGroupRow.values(sql, row)}`)
    const members = ordered.map((capsule_id) => ({ group_id: id, capsule_id, wave: waves.get(capsule_id) ?? 1 }))
    yield* Effect.orDie(
      inParts(members, (some) => sql`INSERT INTO run_group_members ${RunGroupMemberRow.several(sql, some)}`)
    )
    // At most one update per Workspace may be open, because two updates would void each other's plans forever.
    const older = {
      cancelled_at: row.created_at,
      cancelled_by: started_by,
      cancel_reason: "A newer update of the Workspace took its place.",
      replaced_by: id
    }
    yield* Effect.orDie(sql`UPDATE run_groups SET ${RunGroupRow.changes(sql, older)}, moved = moved + 1 WHERE workspace_id = ${workspaceId}
      AND type = 'update' AND finished_at IS NULL AND cancelled_at IS NULL AND id <> ${id}`)
    return id
  }, opening)

  const startUpdate = Effect.fn("RunGroups.startUpdate")(function* (
    context: CommandContext,
    workspaceId: WorkspaceId,
    only?: ReadonlyArray<CapsuleId>
  ) {
    const id = yield* insertUpdate(context, workspaceId, only)
    const refused = yield* advance(id, true)
    const made = yield* Effect.orDie(sql`SELECT 1 AS one FROM runs WHERE run_group_id = ${id} LIMIT 1`)
    const [first] = refused
    if (made.length === 0 && first !== undefined) {
      yield* discard(id)
      return yield* first.error
    }
    yield* audited(context, { id, workspace_id: workspaceId }, "run_group.start", {}).pipe(transaction(sql))
    return { id, refused }
  }, oneAtATime)

  const cancel = Effect.fn("RunGroups.cancel")(function* (
    context: CommandContext,
    id: RunGroupId,
    reason: string | undefined
  ) {
    const { actor, actorKey } = context
    yield* Effect.gen(function* () {
      const group = yield* find(id)
      if (group === undefined) return yield* notFound("Run group")
      if (group.type !== "update") {
        return yield* failedPrecondition(
          "Only an update can be cancelled as a whole. Cancel the Runs of a check one by one."
        )
      }
      if (group.finished_at !== null || group.cancelled_at !== null) {
        return yield* failedPrecondition("The update is over already and cannot be cancelled.")
      }
      yield* set(id, {
        cancelled_at: yield* now,
        cancelled_by: encodeStarter({ actor, actorKey }),
        cancel_reason: reason ?? "The update was cancelled.",
        moved: group.moved + 1
      })
      yield* audited(context, group, "run_group.cancel", reason === undefined ? {} : { reason })
    }).pipe(transaction(sql))
    yield* advance(id, true)
  }, oneAtATime)

  return RunGroups.of({ startUpdate, startCheck, discard, cancel, advanceAll, follow })
})
