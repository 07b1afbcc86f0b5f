import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { AuditHead } from "../../../schema/records/AuditHead.ts"
import type { AuditEventId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { rowShape } from "../database/Table.ts"
import { eventsOf, isSealed, readChain } from "./AuditChain.ts"
import { AuditChainRow, type AuditScope, installationScope, workspaceOf } from "./AuditChainRow.ts"
import { type AuditKey, linkText } from "./AuditLink.ts"
import { AuditRow } from "./AuditRow.ts"

const eventsAtOnce = 1000

/** A mismatch in a chain. `position` is the first affected position. */
export interface AuditFault {
  readonly workspaceId: WorkspaceId | null
  readonly position?: number
  readonly eventId?: AuditEventId
  readonly message: string
}

export interface VerifiedChain {
  readonly workspaceId: WorkspaceId | null
  /** Position of the newest event. */
  readonly position: number
  /** Position of the newest event that retention removed; 0 if none was removed. */
  readonly prunedPosition: number
}

export interface AuditVerdict {
  readonly chains: ReadonlyArray<VerifiedChain>
  readonly faults: ReadonlyArray<AuditFault>
}

const faultOf = (scope: AuditScope, message: string, at: { position?: number; eventId?: AuditEventId } = {}) =>
  ({ workspaceId: workspaceOf(scope), ...at, message }) satisfies AuditFault

/** Returns the fault to report if something other than svc has changed the row of a chain. */
const changedEnd = (scope: AuditScope) =>
  faultOf(scope, "The stored end of the chain was changed: its newest events may have been removed.")

/**
 * Verifies a chain from its beginning, or from the last event that retention removed. Includes events that are written
 * during the verification, and does not report events that retention removes in the meantime.
 */
const verifyChain = Effect.fn("AuditVerification.chain")(function* (key: AuditKey, first: AuditChainRow) {
  const sql = yield* SqlClient.SqlClient
  const { scope } = first
  let position = first.pruned_position
  let mac = first.pruned_mac
  for (;;) {
    const events = yield* AuditRow.rows(sql)`SELECT * FROM audit_events
      WHERE ${eventsOf(sql, scope)} AND position > ${position} ORDER BY position LIMIT ${eventsAtOnce}`
    const chain = yield* readChain(scope)
    if (chain === undefined || !(yield* isSealed(key, chain))) return { fault: changedEnd(scope), chain: first }
    if (chain.pruned_position > position) {
      position = chain.pruned_position
      mac = chain.pruned_mac
      continue
    }
    for (const event of events) {
      if (event.position !== position + 1) {
        const message = `No event has position ${position + 1}: it was removed or moved.`
        return { fault: faultOf(scope, message, { position: position + 1 }), chain }
      }
      position += 1
      if ((yield* key.link(linkText(scope, position, mac, event))) !== event.mac) {
        const message = "The event was changed, moved or inserted, or the one before it was."
        return { fault: faultOf(scope, message, { position, eventId: event.id }), chain }
      }
      mac = event.mac
    }
    if (events.length === eventsAtOnce || position < chain.position) {
      if (events.length > 0) continue
      const message = `The chain ends at position ${position} instead of ${chain.position}: its newest events were removed.`
      return { fault: faultOf(scope, message, { position: position + 1 }), chain }
    }
    return position === chain.position && mac === chain.mac
      ? { chain }
      : { fault: faultOf(scope, "Events follow the end of the chain.", { position: chain.position + 1 }), chain }
  }
})

const Scope = rowShape({ workspace_id: AuditRow.columns.workspace_id })
const Unplaced = rowShape({ count: Schema.Int, first: Schema.NullOr(AuditRow.columns.id) })

/** Reports events outside any chain, and chains that have been removed. */
const rosterFaults = Effect.fn("AuditVerification.roster")(function* (
  key: AuditKey,
  scopes: ReadonlyArray<AuditScope>,
  chains: ReadonlyArray<AuditChainRow>
) {
  const sql = yield* SqlClient.SqlClient
  const faults: Array<AuditFault> = []
  const installation = chains.find(({ scope }) => scope === installationScope)
  if (installation === undefined) {
    faults.push(faultOf(installationScope, "The chain of the installation has no stored end."))
  } else if (!(yield* isSealed(key, installation))) {
    faults.push(changedEnd(installationScope))
  } else if (installation.chains === null) {
    faults.push(faultOf(installationScope, "The chains have not begun: a start of the server completes them."))
  } else if (installation.chains !== chains.length - 1) {
    const message = `${chains.length - 1} Workspaces have a chain, and ${installation.chains} had one: the history of a whole Workspace was removed or added.`
    faults.push(faultOf(installationScope, message))
  }
  for (const scope of scopes) {
    if (scope === installationScope || chains.some((chain) => chain.scope === scope)) continue
    faults.push(faultOf(scope, "The chain has no stored end."))
  }
  const [unplaced] = yield* Unplaced.rows(sql)`SELECT COUNT(*) AS count, MIN(id) AS first FROM audit_events
    WHERE position IS NULL`
  if (unplaced !== undefined && unplaced.first !== null) {
    const message = `${unplaced.count} events have no place in a chain: nothing vouches for them.`
    faults.push(faultOf(installationScope, message, { eventId: unplaced.first }))
  }
  return faults
})

const Mac = rowShape({ mac: AuditRow.columns.mac })

/** Compares an exported head with this database. If retention has removed the head's event, nothing can be proven. */
const headFaults = Effect.fn("AuditVerification.head")(function* (head: AuditHead) {
  const sql = yield* SqlClient.SqlClient
  const faults: Array<AuditFault> = []
  for (const { mac, position, workspaceId } of head.chains) {
    const scope: AuditScope = workspaceId ?? installationScope
    const [event] = yield* Mac.rows(sql)`SELECT mac FROM audit_events
      WHERE ${eventsOf(sql, scope)} AND position = ${position}`
    const chain = yield* readChain(scope)
    if (position === 0 || (chain !== undefined && chain.pruned_position > position)) continue
    const end = chain?.position ?? 0
    if (end < position) {
      const message = `The database ends at position ${end}, before the exported head at ${position}: it is an older copy, or its newest events were removed.`
      faults.push(faultOf(scope, message, { position: end + 1 }))
    } else if ((chain?.pruned_position === position ? chain.pruned_mac : event?.mac) !== mac) {
      const message = `The history up to position ${position} is not that of the exported head.`
      faults.push(faultOf(scope, message, { position }))
    }
  }
  return faults
})

/** Returns the fault for a head from another installation, because such a head proves nothing about this one. */
const foreignHead = (key: AuditKey, installationId: string | undefined, head: AuditHead): AuditFault | undefined => {
  if (head.installationId !== undefined && installationId !== undefined && head.installationId !== installationId) {
    return faultOf(
      installationScope,
      `The head is of the installation ${head.installationId}, and the database of ${installationId}.`
    )
  }
  return head.keyId === key.id
    ? undefined
    : faultOf(
        installationScope,
        `The head was made with the key ${head.keyId}, and the database has ${key.id}: its chains were restarted.`
      )
}

/**
 * Verifies every chain of the database, and compares the database with an exported head. Reads in pages and writes nothing, so it
 * can run while a server is running.
 */
export const verifyAudit = Effect.fn("verifyAudit")(function* (
  key: AuditKey,
  compared: { readonly head: AuditHead; readonly installationId: string | undefined } | undefined
): Effect.fn.Return<AuditVerdict, never, SqlClient.SqlClient> {
  const sql = yield* SqlClient.SqlClient
  return yield* Effect.gen(function* () {
    // Read the events before the chains, so that a chain that a server starts in the meantime is included.
    const present = yield* Scope.rows(sql)`SELECT DISTINCT workspace_id FROM audit_events`
    const scopes = present.map(({ workspace_id }): AuditScope => workspace_id ?? installationScope)
    const rows = yield* AuditChainRow.rows(sql)`SELECT * FROM audit_chains ORDER BY scope`
    const walked = yield* Effect.forEach(rows, (row) => verifyChain(key, row))
    const faults = walked.flatMap(({ fault }) => (fault === undefined ? [] : [fault]))
    const inRoster = yield* rosterFaults(key, scopes, rows)
    faults.push(...inRoster)
    if (compared !== undefined) {
      const foreign = foreignHead(key, compared.installationId, compared.head)
      const inHead = foreign === undefined ? yield* headFaults(compared.head) : [foreign]
      faults.push(...inHead)
    }
    const chains = walked.map(({ chain }) => ({
      workspaceId: workspaceOf(chain.scope),
      position: chain.position,
      prunedPosition: chain.pruned_position
    }))
    return { chains, faults }
  }).pipe(Effect.orDie)
})
