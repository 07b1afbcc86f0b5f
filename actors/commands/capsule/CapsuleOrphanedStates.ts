import { Context, Effect, Layer } from "effect"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId, OrphanedStateId } from "../../../schema/records/Ids.ts"
import type { OrphanedState } from "../../../schema/records/OrphanedState.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { OrphanedStateRow, ListedOrphanedState } from "../../ledger/state/OrphanedStates.ts"
import { adoptionFacts, toOrphanedState } from "./OrphanedStateReads.ts"

/** Operations that people request on states left behind by a Capsule's applies. */
export class CapsuleOrphanedStates extends Context.Service<
  CapsuleOrphanedStates,
  {
    readonly list: (
      id: CapsuleId,
      filter: { readonly runId?: string | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<OrphanedState>, ApiError>
    readonly read: (id: CapsuleId, leftOverStateId: OrphanedStateId) => Effect.Effect<OrphanedState, ApiError>
  }
>()("svc/actors/commands/capsule/CapsuleOrphanedStates") {
  static readonly layer = Layer.effect(
    CapsuleOrphanedStates,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const cursors = yield* Cursors

      const projected = Effect.fnUntraced(function* (id: CapsuleId, rows: ReadonlyArray<ListedOrphanedState>) {
        const [capsule] = yield* Effect.orDie(CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE id = ${id}`)
        if (capsule === undefined) return yield* notFound("Capsule")
        const factsOf = yield* adoptionFacts(sql, capsule)
        return rows.map((row) => toOrphanedState(row, factsOf(row)))
      })

      return CapsuleOrphanedStates.of({
        list: Effect.fn("CapsuleOrphanedStates.list")(function* (id, { runId }, page) {
          const list = {
            route: "leftOverStates.list",
            newestFirst: true,
            conditions: [sql`capsule_id = ${id}`, ...(runId === undefined ? [] : [sql`run_id = ${runId}`])],
            filter: [id, runId]
          }
          const rows = yield* pageOfRows(ListedOrphanedState, sql, cursors, list, page)
          return { ...rows, items: yield* projected(id, rows.items) }
        }),
        read: Effect.fn("CapsuleOrphanedStates.read")(function* (id, leftOverStateId) {
          const rows = yield* Effect.orDie(OrphanedStateRow.rows(sql)`SELECT * FROM left_over_states
            WHERE id = ${leftOverStateId} AND capsule_id = ${id}`)
          const [leftOver] = yield* projected(id, rows)
          return leftOver ?? (yield* notFound("Left-over state"))
        })
      })
    })
  )
}
