import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../database/Table.ts"
import { AuditChainRow, type AuditScope, installationScope } from "./AuditChainRow.ts"
import { type AuditKey, chainText, type LinkedEvent, linkText } from "./AuditLink.ts"

type Chain = Omit<AuditChainRow, "seal">

/** Returns the `WHERE` condition for the events of a chain. */
export const eventsOf = (sql: SqlClient.SqlClient, scope: AuditScope) =>
  scope === installationScope ? sql`workspace_id IS NULL` : sql`workspace_id = ${scope}`

export const readChain = (scope: AuditScope) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.map(AuditChainRow.rows(sql)`SELECT * FROM audit_chains WHERE scope = ${scope}`, ([chain]) => chain)
  )

/** Writes the head of a chain. */
export const writeChain = (key: AuditKey, chain: Chain) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.flatMap(key.seal(chainText(chain)), (seal) => {
      const { chains, mac, position, pruned_mac, pruned_position, scope } = chain
      const row = { position, mac, pruned_position, pruned_mac, chains, seal }
      return sql`UPDATE audit_chains SET ${AuditChainRow.changes(sql, row)} WHERE scope = ${scope}`
    })
  )

const Count = rowShape({ count: Schema.Int })

/** Counts the Workspaces that have a chain. */
export const countChains = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM audit_chains WHERE scope <> ${installationScope}`
  return row?.count ?? 0
})

/** Returns true if the row of a chain has not been modified since it was written. */
export const isSealed = (key: AuditKey, chain: AuditChainRow): Effect.Effect<boolean> =>
  Effect.map(key.seal(chainText(chain)), (seal) => seal === chain.seal)

const Last = rowShape({ position: Schema.NullOr(Schema.Int) })

/**
 * Starts the chain of a Workspace or of the installation. If the chain exists but its row is missing, leaves the chain's
 * events unchanged: new events then do not link to them, which reveals the missing row.
 */
export const startChain = Effect.fnUntraced(function* (key: AuditKey, scope: AuditScope, chains: number | null) {
  const sql = yield* SqlClient.SqlClient
  const [last] = yield* Last.rows(sql)`SELECT MAX(position) AS position FROM audit_events
    WHERE ${eventsOf(sql, scope)}`
  const chain: Chain = {
    scope,
    position: last?.position ?? 0,
    mac: "",
    pruned_position: 0,
    pruned_mac: "",
    chains
  }
  yield* sql`INSERT INTO audit_chains ${AuditChainRow.values(sql, { ...chain, seal: yield* key.seal(chainText(chain)) })}`
  const installation = scope === installationScope ? undefined : yield* readChain(installationScope)
  if (installation !== undefined && installation.chains !== null) {
    yield* writeChain(key, { ...installation, chains: installation.chains + 1 })
  }
  return chain
})

/** Computes the position and digest of the next link. The caller writes both with the event, and then updates the chain. */
export const nextLink = (key: AuditKey, chain: Chain, event: LinkedEvent) => {
  const position = chain.position + 1
  return Effect.map(key.link(linkText(chain.scope, position, chain.mac, event)), (mac) => ({ position, mac }))
}
