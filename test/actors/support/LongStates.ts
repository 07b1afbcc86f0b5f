import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { statePlace, StateVersions } from "../../../actors/ledger/state/StateVersions.ts"
import type { StateVersionRow } from "../../../actors/ledger/state/StateVersionRow.ts"
import { partBytes } from "../../../actors/base/vault/SealedParts.ts"
import { Vault } from "../../../actors/base/vault/Vault.ts"

/**
 * Pads a stored state with whitespace until svc stores it in several sealed parts. Returns the padded text. The state itself is
 * unchanged.
 */
export const lengthened = Effect.fnUntraced(function* (row: StateVersionRow, bytes = 2 * partBytes) {
  const sql = yield* SqlClient.SqlClient
  const vault = yield* Vault
  const text = new TextDecoder().decode(Redacted.value(yield* (yield* StateVersions).open(row)))
  const long = new TextEncoder().encode(`{${" ".repeat(bytes)}${text.trimStart().slice(1)}`)
  const state = yield* vault.seal(statePlace(row), Redacted.make(long))
  yield* sql`UPDATE state_versions SET state = ${state}, size_bytes = ${long.length} WHERE id = ${row.id}`
  return state
})
