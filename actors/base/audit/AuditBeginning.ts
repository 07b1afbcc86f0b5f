import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../database/Table.ts"
import { transaction } from "../database/Transaction.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { countChains, isSealed, nextLink, readChain, startChain, writeChain } from "./AuditChain.ts"
import { type AuditChainRow, type AuditScope, installationScope } from "./AuditChainRow.ts"
import { appendAudit } from "./AuditEntry.ts"
import type { AuditKey } from "./AuditLink.ts"
import { AuditRow } from "./AuditRow.ts"

/** Number of events per transaction. If the history is long, the first startup needs many transactions. */
const eventsAtOnce = 500

const Count = rowShape({ count: Schema.Int })

/** Assigns positions to a batch of events from earlier releases. Returns the size of the batch. */
const adoptSome = Effect.fn("AuditBeginning.adoptSome")(function* (key: AuditKey) {
  const sql = yield* SqlClient.SqlClient
  const events = yield* AuditRow.rows(sql)`SELECT * FROM audit_events WHERE position IS NULL
    ORDER BY created_at, id LIMIT ${eventsAtOnce}`
  const chains = new Map<AuditScope, Omit<AuditChainRow, "seal">>()
  for (const event of events) {
    const scope: AuditScope = event.workspace_id ?? installationScope
    const chain = chains.get(scope) ?? (yield* readChain(scope)) ?? (yield* startChain(key, scope, null))
    const link = yield* nextLink(key, chain, event)
    yield* sql`UPDATE audit_events SET ${AuditRow.changes(sql, link)} WHERE id = ${event.id}`
    chains.set(scope, { ...chain, ...link })
  }
  yield* Effect.forEach(chains.values(), (chain) => writeChain(key, chain), { discard: true })
  return events.length
})

const isUntouched = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const linked = yield* sql`SELECT 1 AS one FROM audit_events WHERE position IS NOT NULL LIMIT 1`
  const chains = yield* sql`SELECT 1 AS one FROM audit_chains LIMIT 1`
  return linked.length + chains.length === 0
})

const damaged = Effect.logError(
  "The chain of the installation's audit events was changed in the database; see svc audit verify."
)

const isComplete = (chain: AuditChainRow | undefined) => chain !== undefined && chain.chains !== null

/**
 * Starts the installation's chain, unless another server has started it. Returns `false` if the database was changed without
 * svc.
 */
const start = Effect.fn("AuditBeginning.start")(function* (key: AuditKey) {
  const present = yield* readChain(installationScope)
  if (present !== undefined) return isComplete(present) || (yield* isSealed(key, present))
  if (!(yield* isUntouched)) return false
  yield* startChain(key, installationScope, null)
  return true
})

/** Completes the migration, unless another server has completed it. Appends an event if there are events from an earlier release. */
const finish = Effect.fn("AuditBeginning.finish")(function* (key: AuditKey) {
  const sql = yield* SqlClient.SqlClient
  const chain = yield* readChain(installationScope)
  if (isComplete(chain)) return
  if (chain !== undefined) yield* writeChain(key, { ...chain, chains: yield* countChains })
  const [linked] = yield* Count.rows(sql)`SELECT COUNT(*) AS count FROM audit_events`
  if (linked === undefined || linked.count === 0) return
  yield* appendAudit(key, {
    workspaceId: null,
    actor: serviceContext.actor,
    action: "audit_chain.begin",
    target: { kind: "installation", id: "audit_chain" },
    data: { events: linked.count }
  })
})

/**
 * Starts the chains of a database that has no chains, and links the events of earlier releases in chronological order. These
 * links prove only the current content of the database. Resumes after a crash. After the migration, svc never assigns
 * positions to events without one, and the verification reports such events.
 */
export const beginChains = Effect.fn("Audit.beginChains")(function* (key: AuditKey) {
  const inTransaction = transaction(yield* SqlClient.SqlClient)
  if (isComplete(yield* readChain(installationScope))) return
  if (!(yield* inTransaction(start(key)))) return yield* damaged
  while ((yield* inTransaction(adoptSome(key))) > 0);
  yield* inTransaction(finish(key))
}, Effect.orDie)
