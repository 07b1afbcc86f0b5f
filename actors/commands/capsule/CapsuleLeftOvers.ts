import { Context, Effect, Layer } from "effect"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId, LeftOverStateId } from "../../../schema/records/Ids.ts"
import type { LeftOverState } from "../../../schema/records/LeftOverState.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { LeftOverStateRow, ListedLeftOver } from "../../ledger/state/LeftOverStates.ts"
import { adoptionFacts, toLeftOver } from "./LeftOverReads.ts"

/** Operations for people on the states that a Capsule's applies left behind. */
export class CapsuleLeftOvers extends Context.Service<
  CapsuleLeftOvers,
  {
    readonly list: (
      id: CapsuleId,
      filter: { readonly runId?: string | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<LeftOverState>, ApiError>
    readonly read: (id: CapsuleId, leftOverStateId: LeftOverStateId) => Effect.Effect<LeftOverState, ApiError>
  }
>()("svc/actors/commands/capsule/CapsuleLeftOvers") {
  static readonly layer = Layer.effect(
    CapsuleLeftOvers,
    Effect.gen(function* () {
      const sql = yield* ReadSql
      const cursors = yield* Cursors

      const projected = Effect.fnUntraced(function* (id: CapsuleId, rows: ReadonlyArray<ListedLeftOver>) {
        const [capsule] = yield* Effect.orDie(CapsuleRow.rows(sql)`SELECT * FROM capsules WHERE id = ${id}`)
        if (capsule === undefined) return yield* notFound("Capsule")
        const factsOf = yield* adoptionFacts(sql, capsule)
        return rows.map((row) => toLeftOver(row, factsOf(row)))
      })

      return CapsuleLeftOvers.of({
        list: Effect.fn("CapsuleLeftOvers.list")(function* (id, { runId }, page) {
          const list = {
            route: "leftOverStates.list",
            newestFirst: true,
            conditions: [sql`capsule_id = ${id}`, ...(runId === undefined ? [] : [sql`run_id = ${runId}`])],
            filter: [id, runId]
          }
          const rows = yield* pageOfRows(ListedLeftOver, sql, cursors, list, page)
          return { ...rows, items: yield* projected(id, rows.items) }
        }),
        read: Effect.fn("CapsuleLeftOvers.read")(function* (id, leftOverStateId) {
          const rows = yield* Effect.orDie(LeftOverStateRow.rows(sql)`SELECT * FROM left_over_states
            WHERE id = ${leftOverStateId} AND capsule_id = ${id}`)
          const [leftOver] = yield* projected(id, rows)
          return leftOver ?? (yield* notFound("LeftOverState"))
        })
      })
    })
  )
}
