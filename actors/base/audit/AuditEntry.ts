import { Context, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { AuditActor } from "../../../schema/records/AuditEvent.ts"
import { AuditEventId, type CapsuleId, type RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { transaction } from "../database/Transaction.ts"
import { newId, now } from "../Identity.ts"
import { countChains, nextLink, readChain, startChain, writeChain } from "./AuditChain.ts"
import { type AuditScope, installationScope } from "./AuditChainRow.ts"
import type { AuditKey, LinkedEvent } from "./AuditLink.ts"
import { AuditDataJson, AuditRow } from "./AuditRow.ts"

/** Names, ids and numbers that explain an action. Never contains the value of a variable, Output, credential or token. */
export type AuditData = Readonly<Record<string, string | number | boolean | null | ReadonlyArray<string>>>

export interface AuditEntry {
  /** `null` for events of the installation or of an account. */
  readonly workspaceId: WorkspaceId | null
  readonly actor: AuditActor
  /** The name of the action, with dots, such as `run.approve`. */
  readonly action: string
  readonly target: { readonly kind: string; readonly id: string }
  readonly capsuleId?: CapsuleId | undefined
  readonly runId?: RunId | undefined
  readonly data?: AuditData | undefined
  readonly requestId?: string | undefined
}

const eventOf = (entry: AuditEntry) =>
  Effect.zipWith(
    newId(AuditEventId, "act"),
    now,
    (id, created_at): LinkedEvent => ({
      id,
      workspace_id: entry.workspaceId,
      actor_kind: entry.actor.kind,
      actor_subject: entry.actor.subject ?? null,
      actor_token_id: entry.actor.tokenId ?? null,
      action: entry.action,
      target_kind: entry.target.kind,
      target_id: entry.target.id,
      capsule_id: entry.capsuleId ?? null,
      run_id: entry.runId ?? null,
      data: AuditDataJson.write(entry.data ?? {}),
      request_id: entry.requestId ?? null,
      created_at
    })
  )

const appendLinked = Effect.fnUntraced(function* (key: AuditKey, entry: AuditEntry) {
  const sql = yield* SqlClient.SqlClient
  const scope: AuditScope = entry.workspaceId ?? installationScope
  const chain =
    (yield* readChain(scope)) ??
    (yield* startChain(key, scope, scope === installationScope ? yield* countChains : null))
  const event = yield* eventOf(entry)
  const link = yield* nextLink(key, chain, event)
  yield* sql`INSERT INTO audit_events ${AuditRow.values(sql, { ...event, ...link })}`
  yield* writeChain(key, { ...chain, ...link })
}, Effect.orDie)

/**
 * Appends an entry to its chain, in the caller's transaction or in a new one. Entries of one transaction are written one
 * after another, so that each of them gets a different position.
 */
export const appendAudit = (key: AuditKey, entry: AuditEntry) =>
  Effect.contextWith((context: Context.Context<SqlClient.SqlClient>) => {
    const sql = Context.get(context, SqlClient.SqlClient)
    const isWithin = Context.getOrUndefined(context, sql.transactionService) !== undefined
    return isWithin ? appendLinked(key, entry) : transaction(sql)(appendLinked(key, entry))
  })

/**
 * Writes an entry without a position. Use this function only if the database's chains have not been started, or if their key
 * is not available.
 */
export const appendUnlinked = Effect.fn("Audit.appendUnlinked")(function* (entry: AuditEntry) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`INSERT INTO audit_events ${AuditRow.values(sql, yield* eventOf(entry))}`
}, Effect.orDie)
