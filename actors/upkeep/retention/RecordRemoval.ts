import { Clock, Context, Duration, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { periodOfKind, RetainedKindName, retention, RetentionPolicy } from "../../../schema/records/Retention.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { makeCooldown } from "../../base/Cooldown.ts"
import { type LookedAt, recordCandidates, removableNow, type RemovableRecords } from "./RecordCandidates.ts"
import { removeRecords } from "./RecordDeletion.ts"
import type { KeepReason, RetainedKind } from "./RetainedKind.ts"
import { retainedKinds } from "./RetainedKinds.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** The number of records that the current pass has removed so far. */
export const TallyRow = table("retention_tallies", {
  workspace_id: WorkspaceId,
  kind: RetainedKindName,
  records: Schema.Int,
  bytes: Schema.Int
})
type TallyRow = RowOf<typeof TallyRow.columns>

/** Pause between steps, so that other writers can run. */
const pause = "5 millis"
/** Maximum number of steps per turn. The limit leaves time for other cleanup tasks. */
const stepsOfTurn = 100
/** Interval between passes. Each pass writes an audit event, so the interval is long. */
const cooldown = Duration.toMillis("1 day")

/** Records of one kind that are kept although their retention period has ended. */
export interface KeptRecords {
  readonly kind: RetainedKindName
  readonly reason: KeepReason
  readonly records: number
}

export interface RecordSurvey {
  readonly removable: ReadonlyArray<RemovableRecords>
  readonly kept: ReadonlyArray<KeptRecords>
}

/** The progress of a pass over all kinds of record. */
interface Pass {
  kind: number
  after: LookedAt | undefined
}

const sumOf = (numbers: ReadonlyArray<number>) => numbers.reduce((sum, number) => sum + number, 0)

const inTotal = (parts: ReadonlyArray<RemovableRecords>): ReadonlyArray<RemovableRecords> =>
  [...Map.groupBy(parts, ({ kind, workspaceId }) => `${kind} ${workspaceId}`).values()].flatMap((same) =>
    same.slice(0, 1).map(({ kind, workspaceId }) => ({
      kind,
      workspaceId,
      records: sumOf(same.map(({ records }) => records)),
      bytes: sumOf(same.map(({ bytes }) => bytes))
    }))
  )

/**
 * Removes records whose retention period has ended and that are no longer needed (see `RetainedKinds`). Each step is a short
 * transaction that removes a few records of one kind and counts them. At the end of a pass, the counts are written as one
 * audit event per Workspace. After a crash, the next process continues the pass and its counts.
 */
export class RecordRemoval extends Context.Service<
  RecordRemoval,
  {
    /**
     * Returns the records that a removal would remove now, grouped by kind and Workspace, and the records that it would
     * keep, grouped by kind and reason.
     */
    readonly survey: Effect.Effect<RecordSurvey>
    /** Removes all removable records and returns them, grouped by kind and Workspace. */
    readonly removeAll: Effect.Effect<ReadonlyArray<RemovableRecords>>
    /** Removes a limited number of records. Called by the background cleanup. */
    readonly removeSome: Effect.Effect<void>
  }
>()("svc/actors/upkeep/retention/RecordRemoval") {
  static readonly layer = Layer.effect(
    RecordRemoval,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const killPoint = yield* KillPoint
      const { periods } = yield* RetentionPolicy

      const before = ({ name }: RetainedKind) =>
        Effect.map(Clock.currentTimeMillis, (millis) => {
          const period = periodOfKind[name]
          const after = period === "planFile" ? undefined : periods[period]
          return new Date(millis - Duration.toMillis(after ?? retention[period].after)).toISOString()
        })

      const count = Effect.fnUntraced(function* (removed: ReadonlyArray<RemovableRecords>) {
        for (const { bytes, kind, records, workspaceId } of removed) {
          yield* sql`INSERT INTO retention_tallies ${TallyRow.values(sql, { workspace_id: workspaceId, kind, records, bytes })}
            ON CONFLICT (workspace_id, kind) DO UPDATE SET records = retention_tallies.records + excluded.records,
              bytes = retention_tallies.bytes + excluded.bytes`
        }
      })

      /** Writes the counts of the pass, as one audit event per Workspace. */
      const conclude = Effect.gen(function* () {
        const tallies = yield* TallyRow.rows(sql)`SELECT * FROM retention_tallies ORDER BY workspace_id, kind`
        for (const [workspaceId, of] of Map.groupBy(tallies, ({ workspace_id }) => workspace_id)) {
          yield* audit.append({
            workspaceId,
            actor: serviceContext.actor,
            action: "retention.remove",
            target: { kind: "workspace", id: workspaceId },
            data: {
              ...Object.fromEntries(of.map(({ kind, records }) => [kind, records])),
              bytes: sumOf(of.map(({ bytes }) => bytes))
            }
          })
        }
        yield* sql`DELETE FROM retention_tallies`
      }).pipe(transaction(sql), Effect.withSpan("RecordRemoval.conclude"))

      /** Removes one batch. Returns `undefined` at the end of the pass. */
      const step = Effect.fnUntraced(function* (
        pass: Pass
      ): Effect.fn.Return<ReadonlyArray<RemovableRecords> | undefined> {
        const kind = retainedKinds[pass.kind]
        if (kind === undefined) return undefined
        const until = yield* before(kind)
        // Reads before it writes: most checks find nothing, and an empty commit would still delay other writers.
        const { ids, next } = yield* Effect.orDie(recordCandidates(read, kind, until, pass.after))
        const { isOver, removed } =
          ids.length === 0
            ? { removed: [], isOver: true }
            : yield* removeRecords(sql, kind, until, ids).pipe(
                Effect.tap((step) => count(step.removed)),
                transaction(sql)
              )
        if (ids.length > 0) yield* killPoint("retention.removed")
        if (isOver) pass.after = next
        if (isOver && next === undefined) pass.kind += 1
        return removed
      })

      const isCounted = Effect.orDie(
        Effect.map(read`SELECT 1 AS one FROM retention_tallies LIMIT 1`, (rows) => rows.length > 0)
      )
      const end = Effect.gen(function* () {
        if (!(yield* isCounted)) return
        yield* killPoint("retention.passed")
        yield* conclude
      })

      const surveyOf = Effect.fnUntraced(function* (kind: RetainedKind) {
        const until = yield* before(kind)
        const removable: Array<RemovableRecords> = []
        const kept = new Map<KeepReason, number>()
        let after: LookedAt | undefined
        do {
          const found = yield* recordCandidates(read, kind, until, after)
          for (const [reason, records] of found.kept) kept.set(reason, (kept.get(reason) ?? 0) + records)
          const sizes = found.ids.length === 0 ? [] : yield* removableNow(read, kind, until, found.ids)
          for (const { own_bytes, part_bytes, workspace_id } of sizes) {
            removable.push({ kind: kind.name, workspaceId: workspace_id, records: 1, bytes: own_bytes + part_bytes })
          }
          after = found.next
          yield* Effect.sleep(pause)
        } while (after !== undefined)
        return { removable, kept: [...kept].map(([reason, records]) => ({ kind: kind.name, reason, records })) }
      }, Effect.orDie)

      const survey = Effect.map(Effect.forEach(retainedKinds, surveyOf), (surveys) => ({
        removable: inTotal(surveys.flatMap(({ removable }) => removable)),
        kept: surveys.flatMap(({ kept }) => kept)
      })).pipe(Effect.withSpan("RecordRemoval.survey"))

      /** Completes one pass, with only short pauses between steps. */
      const passOver = Effect.gen(function* () {
        const pass: Pass = { kind: 0, after: undefined }
        const removed: Array<RemovableRecords> = []
        for (;;) {
          const found = yield* step(pass)
          if (found === undefined) return inTotal(removed)
          removed.push(...found)
          yield* Effect.sleep(pause)
        }
      })

      const removeAll = Effect.gen(function* () {
        const removed: Array<RemovableRecords> = []
        // Repeats until a pass finds nothing, because removing one record may make another record removable.
        for (let found = yield* passOver; found.length > 0; found = yield* passOver) removed.push(...found)
        yield* end
        return inTotal(removed)
      }).pipe(Effect.withSpan("RecordRemoval.removeAll"))

      let background: Pass = { kind: 0, after: undefined }
      const turn = Effect.gen(function* () {
        const pass = background
        for (let steps = 0; steps < stepsOfTurn; steps++) {
          if ((yield* step(pass)) === undefined) {
            yield* end
            if (background === pass) background = { kind: 0, after: undefined }
            return true
          }
          yield* Effect.sleep(pause)
        }
        return false
      })
      const afterCooldown = makeCooldown(cooldown)
      const removeSome = afterCooldown(turn).pipe(Effect.withSpan("RecordRemoval.removeSome"))

      return RecordRemoval.of({ survey, removeAll, removeSome })
    })
  )
}
