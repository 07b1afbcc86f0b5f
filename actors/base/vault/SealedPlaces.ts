import { Effect, Option, Ref, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { makeDataKeys } from "./DataKeys.ts"
import type { Keyring } from "./MasterKey.ts"
import type { SealContext } from "./Sealing.ts"
import { openEnvelope } from "./Vault.ts"
import { rowShape } from "../database/Table.ts"

/** A column with sealed values. The fields are SQL expressions that compute the location of a row's sealed value. */
interface SealedColumn {
  readonly table: string
  readonly column: string
  readonly rowId: string
  readonly workspaceId: string
  readonly version?: string
  /** The join to the record that holds the Workspace, if the column's own table has no Workspace column. */
  readonly joined?: string
  /** A condition that matches rows without a value, if the column is never null. */
  readonly except?: string
}

const own = (table: string, column: string, rowId = "id"): SealedColumn => ({
  table,
  column,
  rowId: `r.${rowId}`,
  workspaceId: "r.workspace_id"
})

const ofRun = (table: string, column: string): SealedColumn => ({
  table,
  column,
  rowId: "r.run_id",
  workspaceId: "u.workspace_id",
  joined: "JOIN runs u ON u.id = r.run_id"
})

const ofNobody = (table: string, column: string, rowId: string): SealedColumn => ({
  table,
  column,
  rowId: `r.${rowId}`,
  workspaceId: "NULL"
})

/** All columns with sealed values. A test compares this list with everything that is sealed during a complete scenario. */
export const sealedColumns: ReadonlyArray<SealedColumn> = [
  own("connections", "sealed_values"),
  {
    table: "former_connection_values",
    column: "sealed_values",
    rowId: "r.connection_id || ' ' || r.version",
    workspaceId: "c.workspace_id",
    joined: "JOIN connections c ON c.id = r.connection_id"
  },
  own("connections", "sealed_tokens"),
  {
    table: "former_connection_tokens",
    column: "sealed_tokens",
    rowId: "r.connection_id || ' ' || r.token_generation",
    workspaceId: "c.workspace_id",
    joined: "JOIN connections c ON c.id = r.connection_id"
  },
  own("connection_authorizations", "sealed_verifier", "state_hash"),
  { ...own("sources", "hook_secret"), except: "r.removed_at IS NOT NULL AND r.hook_secret = ''" },
  own("sources", "former_hook_secret"),
  own("install_plans", "private_variables"),
  own("install_configs", "private_variables"),
  { ...own("state_versions", "state"), version: "r.generation" },
  { ...own("state_versions", "sealed_secrets"), version: "r.generation" },
  own("left_over_states", "state"),
  own("left_over_states", "sealed_secrets"),
  own("state_uploads", "state"),
  own("state_uploads", "sealed_secrets"),
  own("outputs", "sealed_value"),
  own("backups", "archive"),
  own("generated_secrets", "sealed_value"),
  own("run_deliveries", "sealed_values", "run_id"),
  ofRun("run_plans", "plan_file"),
  ofRun("run_plans", "sealed_secrets"),
  ofRun("run_checkpoints", "state"),
  ofNobody("oidc_signing_keys", "private_jwk", "kid"),
  ofNobody("passkeys", "public_key", "id"),
  ofNobody("mails", "content", "id"),
  ofNobody("totp_factors", "secret", "subject"),
  ofNobody("agent_server_keys", "sealed_keys", "id"),
  own("notice_endpoints", "address"),
  own("notice_endpoints", "secret"),
  own("notice_endpoints", "former_secret")
]

const Place = rowShape({
  rowId: Schema.String,
  workspaceId: Schema.NullOr(Schema.String),
  version: Schema.NullOr(Schema.Int)
})
const Sealed = rowShape({ envelope: Schema.String })

/**
 * Decrypts every sealed value, and returns the locations of values that cannot be decrypted because they were changed, were
 * moved from another record, or lost their data key. Reads one value at a time and writes nothing.
 */
export const integrityFaults = Effect.fn("integrityFaults")(function* (keyring: Keyring) {
  const sql = yield* SqlClient.SqlClient
  const dataKeys = yield* makeDataKeys(yield* Ref.make(keyring))
  const faults: Array<string> = []
  for (const { column, except = "FALSE", joined = "", rowId, table, version = "NULL", workspaceId } of sealedColumns) {
    const key = sql.literal(rowId)
    const rows = sql.literal(`FROM ${table} r ${joined} WHERE r.${column} IS NOT NULL AND NOT (${except})`)
    const places = yield* Place.rows(sql)`SELECT ${key} AS "rowId", ${sql.literal(workspaceId)} AS "workspaceId",
        ${sql.literal(version)} AS version ${rows} ORDER BY 1`
    for (const place of places) {
      const context: SealContext = { table, column, ...place, version: place.version ?? undefined }
      const present = Effect.map(
        Sealed.rows(sql)`SELECT ${sql.literal(`r.${column}`)} AS envelope ${rows} AND ${key} = ${place.rowId}`,
        ([found]) => found?.envelope
      )
      const envelope = yield* present
      if (envelope === undefined) continue
      const opened = yield* Effect.option(openEnvelope(dataKeys, context, envelope))
      // Reads the row again, because a value sealed in parts may have been replaced in the meantime.
      if (Option.isNone(opened) && (yield* present) === envelope) faults.push(`${table}.${column} of ${place.rowId}`)
    }
  }
  return faults
})
