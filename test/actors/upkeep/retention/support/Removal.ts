import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { RecordRemoval } from "../../../../../actors/upkeep/retention/RecordRemoval.ts"
import { retainedKinds } from "../../../../../actors/upkeep/retention/RetainedKinds.ts"
import { danglingRows } from "../../../../support/Dialect.ts"
import { longAgo, of } from "./RetainedWorld.ts"

export const young = new Date().toISOString()
export const pending = { type: "plan", approved_at: longAgo(), approved_by: of("usr", "a") }

export const idsOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ id: string }>`SELECT id FROM ${sql(table)} ORDER BY id`
  return rows.map(({ id }) => id)
}, Effect.orDie)

export const dangling = Effect.flatMap(SqlClient.SqlClient, (sql) => Effect.orDie(danglingRows(sql)))

/** The reasons why the survey keeps records of this kind. */
export const reasonsOf = Effect.fnUntraced(function* (kind: string) {
  const removal = yield* RecordRemoval
  const { kept } = yield* removal.survey
  return kept
    .filter((each) => each.kind === kind)
    .map(({ reason }) => reason)
    .toSorted()
})
export const allReasons = (kind: string) =>
  [...new Set(retainedKinds.find(({ name }) => name === kind)?.needs.map(({ reason }) => reason))].toSorted()
