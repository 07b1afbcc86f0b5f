import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { sealedColumns } from "../../../actors/base/vault/SealedPlaces.ts"
import { Vault } from "../../../actors/base/vault/Vault.ts"
import { archivedParts } from "../../support/ArchivedParts.ts"

/** Finds the tables and columns whose decrypted values contain any of these strings. */
export const wordsInSealed = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const found: Array<string> = []
  let opened = 0
  for (const { column, except = "FALSE", joined = "", rowId, table, version = "NULL", workspaceId } of sealedColumns) {
    const rows = yield* sql<{ rowId: string; workspaceId: string | null; version: number | null; sealed: string }>`
      SELECT ${sql.literal(rowId)} AS "rowId", ${sql.literal(workspaceId)} AS "workspaceId",
        ${sql.literal(version)} AS version, r.${sql.literal(column)} AS sealed
      FROM ${sql.literal(`${table} r ${joined}`)} WHERE r.${sql.literal(column)} IS NOT NULL
        AND NOT (${sql.literal(except)})`
    for (const { sealed, ...place } of rows) {
      const { rowId: id, version: number, workspaceId: workspace } = place
      const context = { table, column, rowId: id, workspaceId: workspace, version: number ?? undefined }
      const bytes = Buffer.from(Redacted.value(yield* vault.open(context, sealed)))
      opened += 1
      for (const word of words) {
        if ([bytes, ...archivedParts(bytes)].some((part) => part.includes(word)))
          found.push(`${table}.${column}: ${word}`)
      }
    }
  }
  return { opened, found }
})
