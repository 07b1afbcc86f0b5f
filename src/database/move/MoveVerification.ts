import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { readAuditKey } from "../../../actors/base/audit/AuditLink.ts"
import { verifyAudit } from "../../../actors/base/audit/AuditVerification.ts"
import { masterKeysInUse } from "../../../actors/base/vault/DataKeys.ts"
import type { Keyring } from "../../../actors/base/vault/MasterKey.ts"
import { integrityFaults } from "../../../actors/base/vault/SealedPlaces.ts"
import { MoveRefused } from "./MoveRefused.ts"

/** Fails if a master key that the secrets of the database need is missing. */
export const checkKeys = Effect.fn("checkKeys")(function* (keyring: Keyring) {
  const unknown = (yield* masterKeysInUse).filter(({ id }) => !keyring.keys.some((key) => key.id === id))
  if (unknown.length > 0) {
    return yield* new MoveRefused({
      message: `The secrets of the database need the master key ${unknown.map(({ id }) => id).join(", ")}, which these settings do not give.`
    })
  }
})

const keyFault = "The master key does not open the key of the audit chains."

/** Checks every chain of audit events. */
const auditFaults = Effect.fnUntraced(function* (keyring: Keyring) {
  const key = yield* Effect.option(readAuditKey(keyring))
  if (Option.isNone(key)) return { chains: 0, faults: [keyFault] }
  const { chains, faults } = yield* verifyAudit(key.value, undefined)
  return {
    chains: chains.length,
    faults: faults.map(({ message, position, workspaceId }) => {
      const at = position === undefined ? "" : ` at position ${position}`
      return `The audit chain of ${workspaceId ?? "the installation"}${at}: ${message}`
    })
  }
})

/** Opens every sealed value and checks every chain of audit events. */
const inspected = Effect.fnUntraced(function* (keyring: Keyring) {
  // A database that no server has used yet has no keys or chains to check.
  if ((yield* masterKeysInUse).length === 0) return { chains: 0, faults: [] }
  const sealed = yield* integrityFaults(keyring)
  const { chains, faults } = yield* auditFaults(keyring)
  return { chains, faults: [...sealed.map((place) => `The sealed value ${place} does not open.`), ...faults] }
})

/**
 * Opens every sealed value in the copy, and checks the audit chains in the copy. Fails if faults exist only in the copy.
 * Returns the faults that also exist in the source.
 */
export const verifyCopy = Effect.fn("verifyCopy")(function* (
  databases: { readonly from: SqlClient.SqlClient; readonly to: SqlClient.SqlClient },
  keyring: Keyring
) {
  const within = (sql: SqlClient.SqlClient) => Effect.provideService(inspected(keyring), SqlClient.SqlClient, sql)
  const copied = yield* within(databases.to)
  const known = copied.faults.length === 0 ? [] : (yield* within(databases.from)).faults
  const fresh = copied.faults.filter((fault) => !known.includes(fault))
  if (fresh.length > 0) {
    return yield* new MoveRefused({
      message: `The copy has faults that the original does not have: ${fresh.join(" ")}`
    })
  }
  return copied
})
