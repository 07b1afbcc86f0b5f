import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import { type RestoredRules, restoredRules } from "../../access/approval/RestoredRules.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { restoredConnections } from "../../inputs/connection/RestoredConnections.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { restoredShares } from "../../ledger/output-share/OutputShareRow.ts"
import { restoredAgents } from "../../running/agent-pool/RestoredAgents.ts"
import { restoredAssignments, restoredProvisions } from "../../running/agent-pool/RestoredPools.ts"
import { restoredMemberships } from "../../ledger/workspace/MembershipRow.ts"
import { type ReviewItem, ReviewKind } from "../../base/RestoredRecords.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Restored records that the operator must confirm. */
export const RestoreReviewRow = table("restore_review", {
  record_id: Schema.String,
  kind: ReviewKind,
  previous_status: Schema.String,
  restored_at: Timestamp,
  decision: Schema.NullOr(Schema.Literals(["confirmed", "removed"])),
  decided_at: Schema.NullOr(Timestamp)
})
type RestoreReviewRow = RowOf<typeof RestoreReviewRow.columns>

export type ReviewDecision = "confirmed" | "removed"

const allKinds = Effect.all([
  restoredMemberships,
  restoredConnections,
  restoredShares,
  restoredAgents,
  restoredAssignments,
  restoredProvisions
])

/** Returns all records that are waiting for the operator's review, in a useful order. */
export const pendingReview = Effect.flatMap(allKinds, (kinds) =>
  Effect.map(
    Effect.forEach(kinds, ({ pending }) => pending),
    (lists) => lists.flat()
  )
)

/**
 * Returns true if any record is waiting for review. If nothing was ever restored, the check costs almost nothing. Reads
 * through `sql`.
 */
export const awaitsReview = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql`SELECT 1 AS one FROM restore_review r WHERE r.decision IS NULL AND (
        EXISTS (SELECT 1 FROM memberships m WHERE m.id = r.record_id AND m.status = 'unconfirmed')
        OR EXISTS (SELECT 1 FROM connections c WHERE c.id = r.record_id AND c.status = 'unconfirmed')
        OR r.kind IN ('agent_pool_assignment', 'agent_pool_provision')
        OR EXISTS (SELECT 1 FROM agents a WHERE a.id = r.record_id AND a.revoked_at IS NOT NULL)
        OR EXISTS (SELECT 1 FROM output_shares s WHERE s.id = r.record_id AND s.status = 'unconfirmed')) LIMIT 1`,
    (rows) => rows.length > 0
  )

/** Suspends all restored authority until an operator has reviewed it. Runs in the caller's transaction. */
export const holdRestored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const restored_at = yield* now
  for (const { hold, kind } of yield* allKinds) {
    for (const { id, previousStatus } of yield* hold) {
      yield* sql`INSERT INTO restore_review ${RestoreReviewRow.values(sql, {
        record_id: id,
        kind,
        previous_status: previousStatus,
        restored_at,
        decision: null,
        decided_at: null
      })} ON CONFLICT (record_id) DO UPDATE SET previous_status = excluded.previous_status,
        restored_at = excluded.restored_at, decision = NULL, decided_at = NULL`
    }
  }
}).pipe(Effect.orDie, Effect.withSpan("holdRestored"))

/**
 * The operator's review after a restore. Memberships, Connections, shares, agents and pool permissions that ended after the
 * backup would otherwise be valid again, so each is suspended until the operator confirms it.
 */
export class RestoreReview extends Context.Service<
  RestoreReview,
  {
    readonly list: Effect.Effect<ReadonlyArray<ReviewItem>>
    /**
     * Returns the restored approval rules and teams. They take effect immediately, because nobody can use them until a
     * membership has been confirmed.
     */
    readonly rules: Effect.Effect<ReadonlyArray<RestoredRules>>
    /**
     * Confirms or removes the given records, or all that are waiting for review, and returns them. Runs in one transaction:
     * if a given record is not waiting for review, fails with `not_found` and changes nothing.
     */
    readonly decide: (
      decision: ReviewDecision,
      ids: ReadonlyArray<string> | "all"
    ) => Effect.Effect<ReadonlyArray<ReviewItem>, ApiError>
  }
>()("svc/actors/upkeep/restore/RestoreReview") {
  static readonly layer = Layer.effect(
    RestoreReview,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const audit = yield* Audit
      const kinds = yield* allKinds
      const capsules = yield* CapsuleLedger
      const list = Effect.provideService(pendingReview, SqlClient.SqlClient, sql)

      const chosen = Effect.fnUntraced(function* (ids: ReadonlyArray<string> | "all") {
        const waiting = yield* list
        if (ids === "all") return waiting
        return yield* Effect.forEach([...new Set(ids)], (id) => {
          const item = waiting.find((candidate) => candidate.id === id)
          return item === undefined ? notFound(`A record ${id} that waits for a review was`) : Effect.succeed(item)
        })
      })

      return RestoreReview.of({
        list,
        rules: Effect.provideService(restoredRules, SqlClient.SqlClient, sql),
        decide: Effect.fn("RestoreReview.decide")(function* (decision, ids) {
          const items = yield* chosen(ids)
          for (const item of items) {
            const records = kinds.find(({ kind }) => kind === item.kind)
            if (records === undefined) continue
            const decided =
              decision === "confirmed" ? records.confirm(item.id, item.previousStatus) : records.remove(item.id)
            yield* Effect.provideService(decided, CapsuleLedger, capsules)
            yield* Effect.orDie(sql`UPDATE restore_review SET ${RestoreReviewRow.changes(sql, { decision, decided_at: yield* now })}
              WHERE record_id = ${item.id}`)
            yield* audit.append({
              workspaceId: item.workspaceId,
              actor: serviceContext.actor,
              action: `restore.${decision}`,
              target: { kind: item.kind, id: item.id },
              data: { previousStatus: item.previousStatus }
            })
          }
          return items
        }, transaction(sql))
      })
    })
  )
}
