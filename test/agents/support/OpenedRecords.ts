import { inflateRawSync } from "node:zlib"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { sealedColumns } from "../../../actors/vault/SealedPlaces.ts"
import { Vault } from "../../../actors/vault/Vault.ts"

const centralEntry = 0x02014b50
const deflated = 8

/** What is in a plan file, which is an archive; nothing for anything else. */
const archived = (bytes: Buffer): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  for (
    let at = bytes.indexOf("PK\u0001\u0002", 0, "latin1");
    at !== -1;
    at = bytes.indexOf("PK\u0001\u0002", at + 4, "latin1")
  ) {
    if (bytes.readUInt32LE(at) !== centralEntry) continue
    const [method, size, offset] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 20),
      bytes.readUInt32LE(at + 42)
    ]
    const from = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
    const part = bytes.subarray(from, from + size)
    parts.push(method === deflated ? inflateRawSync(part) : part)
  }
  return parts
}

/** Which of these words stand in what the control plane has sealed, once it is opened; by table and column. */
export const wordsInSealed = Effect.fnUntraced(function* (words: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const found: Array<string> = []
  let opened = 0
  for (const { column, joined = "", rowId, table, version = "NULL", workspaceId } of sealedColumns) {
    const rows = yield* sql<{ rowId: string; workspaceId: string | null; version: number | null; sealed: string }>`
      SELECT ${sql.literal(rowId)} AS "rowId", ${sql.literal(workspaceId)} AS "workspaceId",
        ${sql.literal(version)} AS version, r.${sql.literal(column)} AS sealed
      FROM ${sql.literal(`${table} r ${joined}`)} WHERE r.${sql.literal(column)} IS NOT NULL`
    for (const { sealed, ...place } of rows) {
      const { rowId: id, version: number, workspaceId: workspace } = place
      const context = { table, column, rowId: id, workspaceId: workspace, version: number ?? undefined }
      const bytes = Buffer.from(Redacted.value(yield* vault.open(context, sealed)))
      opened += 1
      for (const word of words) {
        if ([bytes, ...archived(bytes)].some((part) => part.includes(word))) found.push(`${table}.${column}: ${word}`)
      }
    }
  }
  return { opened, found }
})
