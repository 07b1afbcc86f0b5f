import { Clock, Context, Duration, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import type { Timestamp } from "../../../schema/records/Primitives.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../database/ReadSql.ts"
import { transaction } from "../database/Transaction.ts"
import { KillPoint } from "../KillPoint.ts"
import { makeCooldown } from "../Cooldown.ts"
import { Audit } from "./Audit.ts"
import { eventsOf, readChain, writeChain } from "./AuditChain.ts"
import { AuditChainRow, type AuditScope, workspaceOf } from "./AuditChainRow.ts"
import { AuditKeys } from "./AuditLink.ts"
import { AuditRow } from "./AuditRow.ts"

/** The time for which the operator keeps audit events; `undefined` means forever. */
export const AuditRetention = Context.Reference<Duration.Duration | undefined>("svc/actors/base/audit/AuditRetention", {
  defaultValue: () => undefined
})

/**
 * Maximum number of events removed per transaction. SQLite overwrites deleted pages, so a larger batch would delay writers.
 */
const eventsAtOnce = 200
/** Pause between steps, to let other writers in. */
const pause = "5 millis"
/** Maximum number of steps per turn of the cleanup, which also has other jobs to do. */
const stepsOfTurn = 50
/** Delay after which a chain with nothing to remove is checked again. */
const cooldown = Duration.toMillis("1 hour")

/** The events of one chain whose retention period is over. */
export interface RemovableEvents {
  readonly workspaceId: WorkspaceId | null
  readonly events: number
}

/**
 * Removes the oldest audit events of each chain, if the operator has configured a retention period. The row of the chain keeps
 * the position and digest of the last removed event, where verification starts. Each step is a short transaction with its own
 * audit event, so a crash between steps is harmless.
 */
export class AuditRemoval extends Context.Service<
  AuditRemoval,
  {
    /** Returns the events that `removeAll` would remove now, per chain. */
    readonly survey: Effect.Effect<ReadonlyArray<RemovableEvents>>
    /** Removes all removable events and returns them, per chain. */
    readonly removeAll: Effect.Effect<ReadonlyArray<RemovableEvents>>
    /** Removes a limited number of events. Called by the background cleanup. */
    readonly removeSome: Effect.Effect<void>
  }
>()("svc/actors/base/audit/AuditRemoval") {
  static readonly layer = Layer.effect(
    AuditRemoval,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const key = yield* AuditKeys
      const keep = yield* AuditRetention
      const killPoint = yield* KillPoint

      const before = Effect.map(Clock.currentTimeMillis, (millis) =>
        keep === undefined ? undefined : new Date(millis - Duration.toMillis(keep)).toISOString()
      )

      /**
       * Returns the oldest events of a chain after a position, up to the first event that must be kept, because only the
       * beginning of a chain can be removed.
       */
      const oldest = Effect.fnUntraced(function* (
        from: SqlClient.SqlClient,
        scope: AuditScope,
        after: number,
        until: string
      ) {
        const rows = yield* AuditRow.some(
          from,
          "position",
          "mac",
          "created_at"
        )`SELECT position, mac, created_at FROM audit_events
          WHERE ${eventsOf(from, scope)} AND position > ${after} ORDER BY position LIMIT ${eventsAtOnce}`
        const young = rows.findIndex(({ created_at }: { readonly created_at: Timestamp }) => created_at >= until)
        return young === -1 ? rows : rows.slice(0, young)
      })

      /** Removes one batch and returns its size. */
      const removeStep = Effect.fn("AuditRemoval.step")(
        function* (scope: AuditScope, until: string) {
          const chain = yield* readChain(scope)
          if (chain === undefined) return 0
          const rows = yield* oldest(sql, scope, chain.pruned_position, until)
          const last = rows.at(-1)
          if (last === undefined || last.position === null || last.mac === null) return 0
          yield* sql`DELETE FROM audit_events WHERE ${eventsOf(sql, scope)} AND position <= ${last.position}`
          yield* killPoint("audit_removal.deleted")
          yield* writeChain(key, { ...chain, pruned_position: last.position, pruned_mac: last.mac })
          yield* audit.append({
            workspaceId: workspaceOf(scope),
            actor: serviceContext.actor,
            action: "audit_event.remove",
            target: { kind: "audit_chain", id: scope === "" ? "installation" : scope },
            data: { events: rows.length, lastPosition: last.position, createdBefore: until }
          })
          return rows.length
        },
        transaction(sql),
        Effect.provideService(SqlClient.SqlClient, sql)
      )

      const chains = Effect.orDie(AuditChainRow.rows(read)`SELECT * FROM audit_chains ORDER BY scope`)

      const survey = Effect.gen(function* () {
        const until = yield* before
        if (until === undefined) return []
        const found: Array<RemovableEvents> = []
        for (const { pruned_position, scope } of yield* chains) {
          let events = 0
          for (let after: number | null | undefined = pruned_position; typeof after === "number"; ) {
            const rows: Effect.Success<ReturnType<typeof oldest>> = yield* oldest(read, scope, after, until)
            events += rows.length
            after = rows.length < eventsAtOnce ? undefined : rows.at(-1)?.position
          }
          if (events > 0) found.push({ workspaceId: workspaceOf(scope), events })
        }
        return found
      }).pipe(Effect.orDie, Effect.withSpan("AuditRemoval.survey"))

      /** Processes the chains in at most `steps` steps. `isOver` is true if nothing is left to remove. */
      const remove = Effect.fnUntraced(function* (steps: number) {
        const until = yield* before
        const removed: Array<RemovableEvents> = []
        if (until === undefined) return { removed, isOver: true }
        let left = steps
        for (const { pruned_position, scope } of yield* chains) {
          // Checks without a transaction first: most chains have nothing to remove, and an empty commit would still delay
          // writers.
          if ((yield* Effect.orDie(oldest(read, scope, pruned_position, until))).length === 0) continue
          let events = 0
          for (let gone = eventsAtOnce; gone === eventsAtOnce && left > 0; left--) {
            gone = yield* removeStep(scope, until)
            yield* killPoint("audit_removal.removed")
            events += gone
            yield* Effect.sleep(pause)
          }
          if (events > 0) removed.push({ workspaceId: workspaceOf(scope), events })
        }
        return { removed, isOver: left > 0 }
      })

      const removeAll = Effect.map(remove(Number.POSITIVE_INFINITY), ({ removed }) => removed).pipe(
        Effect.withSpan("AuditRemoval.removeAll")
      )

      const afterCooldown = makeCooldown(cooldown)
      const turn = Effect.map(remove(stepsOfTurn), ({ isOver }) => isOver)
      const removeSome = (keep === undefined ? Effect.void : afterCooldown(turn)).pipe(
        Effect.withSpan("AuditRemoval.removeSome")
      )

      return AuditRemoval.of({ survey, removeAll, removeSome })
    })
  ).pipe(Layer.provide(AuditKeys.layer))
}
