import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SecretText } from "../../../runner/redaction/SecretText.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { type ConnectionSecrets, ConnectionStore, decodeSecrets, encodeSecrets } from "./ConnectionStore.ts"
import { type ConnectionTokenPair, ConnectionTokens, decodeTokens, encodeTokens } from "./ConnectionTokens.ts"
import { ConnectionRow } from "./ConnectionRow.ts"
import { type RowOf, rowShape, table } from "../../base/database/Table.ts"
import { ConnectionId, RunId, type WorkspaceId } from "../../../schema/records/Ids.ts"

/** The Connection values that each Run received. */
export const ConnectionHoldRow = table(
  "connection_holds",
  {
    run_id: RunId,
    connection_id: ConnectionId,
    version: Schema.Int,
    token_generation: Schema.Int
  },
  ["token_generation"]
)
type ConnectionHoldRow = RowOf<typeof ConnectionHoldRow.columns>

/** Sealed values that have been replaced by newer ones. */
export const FormerValuesRow = table("former_connection_values", {
  connection_id: ConnectionId,
  version: Schema.Int,
  sealed_values: Schema.String
})
type FormerValuesRow = RowOf<typeof FormerValuesRow.columns>

/** Sealed tokens that have been replaced by newer ones. */
export const FormerTokensRow = table("former_connection_tokens", {
  connection_id: ConnectionId,
  token_generation: Schema.Int,
  sealed_tokens: Schema.String
})
type FormerTokensRow = RowOf<typeof FormerTokensRow.columns>

const { workspace_id } = ConnectionRow.columns
const FormerValues = rowShape({ ...FormerValuesRow.columns, workspace_id })
const FormerTokens = rowShape({ ...FormerTokensRow.columns, workspace_id })

const place = (id: string, workspaceId: WorkspaceId | null, version: number) => ({
  table: "former_connection_values",
  column: "sealed_values",
  workspaceId,
  rowId: `${id} ${version}`
})

const textsOf = ({ files, values }: ConnectionSecrets): ReadonlyArray<SecretText> => [
  ...Object.entries(values).map(([name, text]) => ({ origin: `env.${name}`, value: Redacted.make(text) })),
  ...files.map(({ content, name }) => ({ origin: `file.${name}`, value: Redacted.make(content) }))
]

const tokenPlace = (id: string, workspaceId: WorkspaceId | null, generation: number) => ({
  table: "former_connection_tokens",
  column: "sealed_tokens",
  workspaceId,
  rowId: `${id} ${generation}`
})

const tokenTexts = ({ accessToken, refreshToken }: ConnectionTokenPair): ReadonlyArray<SecretText> => [
  { origin: "oauth.access_token", value: Redacted.make(accessToken) },
  ...(refreshToken === undefined ? [] : [{ origin: "oauth.refresh_token", value: Redacted.make(refreshToken) }])
]

/**
 * Records the Connection values that each Run received, and keeps values that a rotation has replaced. A Run that received old
 * values may print them, so they are redacted until it finishes. The only writer of `connection_holds`,
 * `former_connection_values` and `former_connection_tokens`.
 */
export class CredentialsInUse extends Context.Service<
  CredentialsInUse,
  {
    /** Records that a Run receives exactly these values. Call it in the transaction that read the row. */
    readonly hold: (runId: RunId, row: ConnectionRow) => Effect.Effect<void>
    /**
     * Keeps values that are being replaced for as long as Runs have them. Call it in the transaction that replaces the
     * values.
     */
    readonly keep: (row: ConnectionRow, secrets: Redacted.Redacted<ConnectionSecrets>) => Effect.Effect<void>
    /** Like `keep`, for tokens. */
    readonly keepTokens: (row: ConnectionRow) => Effect.Effect<void>
    /** Returns texts to redact: replaced values that a Run may still have, and also the tokens that Runs never receive. */
    readonly former: (connectionId: ConnectionId) => Effect.Effect<ReadonlyArray<SecretText>>
    /**
     * Returns texts to redact: values that have replaced the Run's values since it started. Both old and new values are
     * redacted from the Run's output.
     */
    readonly renewedSince: (runId: RunId) => Effect.Effect<ReadonlyArray<SecretText>>
    /**
     * Returns true if a Run received values that exist only in a pool. svc cannot recognise these values in the Run's
     * output.
     */
    readonly holdsUnknown: (runId: RunId) => Effect.Effect<boolean>
    /** Deletes values that no Run needs any more. */
    readonly release: Effect.Effect<void>
  }
>()("svc/actors/inputs/connection/CredentialsInUse") {
  static readonly layer = Layer.effect(
    CredentialsInUse,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault
      const connections = yield* ConnectionStore
      const tokens = yield* ConnectionTokens

      const hold = Effect.fnUntraced(function* (runId: RunId, row: ConnectionRow) {
        const { id, token_generation, version } = row
        const held = { run_id: runId, connection_id: id, version, token_generation }
        yield* sql`INSERT INTO connection_holds ${ConnectionHoldRow.values(sql, held)} ON CONFLICT DO NOTHING`
      }, Effect.orDie)

      const keep = Effect.fn("CredentialsInUse.keep")(function* (
        row: ConnectionRow,
        secrets: Redacted.Redacted<ConnectionSecrets>
      ) {
        // Also finds Runs that received older values, because all later values are redacted from their output as well.
        const holders = yield* sql`SELECT 1 AS one FROM connection_holds h JOIN runs r ON r.id = h.run_id
          WHERE h.connection_id = ${row.id} AND r.status = 'running' LIMIT 1`
        if (holders.length === 0) return
        yield* sql`INSERT INTO former_connection_values ${FormerValuesRow.values(sql, {
          connection_id: row.id,
          version: row.version,
          sealed_values: yield* vault.seal(
            place(row.id, row.workspace_id, row.version),
            Redacted.make(encodeSecrets(Redacted.value(secrets)))
          )
        })} ON CONFLICT DO NOTHING`
      }, Effect.orDie)

      const keepTokens = Effect.fn("CredentialsInUse.keepTokens")(function* (row: ConnectionRow) {
        const replaced = yield* tokens.read(row)
        if (Option.isNone(replaced)) return
        const holders = yield* sql`SELECT 1 AS one FROM connection_holds h JOIN runs r ON r.id = h.run_id
          WHERE h.connection_id = ${row.id} AND r.status = 'running' LIMIT 1`
        if (holders.length === 0) return
        yield* sql`INSERT INTO former_connection_tokens ${FormerTokensRow.values(sql, {
          connection_id: row.id,
          token_generation: row.token_generation,
          sealed_tokens: yield* vault.seal(
            tokenPlace(row.id, row.workspace_id, row.token_generation),
            Redacted.make(encodeTokens(Redacted.value(replaced.value)))
          )
        })}`
      }, Effect.orDie)

      const presentTokens = Effect.fnUntraced(function* (row: ConnectionRow | undefined) {
        const present = row === undefined ? Option.none() : yield* tokens.read(row)
        return Option.isNone(present) ? [] : tokenTexts(Redacted.value(present.value))
      })

      const formerTokens = Effect.fnUntraced(function* (connectionId: ConnectionId) {
        const rows = yield* FormerTokens.rows(sql)`SELECT f.*, c.workspace_id FROM former_connection_tokens f
          JOIN connections c ON c.id = f.connection_id WHERE f.connection_id = ${connectionId}`
        const texts = yield* Effect.forEach(rows, (row) =>
          vault.openText(tokenPlace(row.connection_id, row.workspace_id, row.token_generation), row.sealed_tokens).pipe(
            Effect.flatMap((text) => decodeTokens(Redacted.value(text))),
            Effect.map(tokenTexts)
          )
        )
        return texts.flat()
      })

      const former = Effect.fn("CredentialsInUse.former")(function* (connectionId: ConnectionId) {
        const rows = yield* FormerValues.rows(sql)`SELECT f.*, c.workspace_id FROM former_connection_values f
          JOIN connections c ON c.id = f.connection_id WHERE f.connection_id = ${connectionId}`
        const texts = yield* Effect.forEach(rows, (row) =>
          vault.openText(place(row.connection_id, row.workspace_id, row.version), row.sealed_values).pipe(
            Effect.flatMap((text) => decodeSecrets(Redacted.value(text))),
            Effect.map(textsOf)
          )
        )
        const present = yield* presentTokens(yield* connections.find(connectionId))
        return [...texts.flat(), ...(yield* formerTokens(connectionId)), ...present]
      }, Effect.orDie)

      const renewedSince = Effect.fn("CredentialsInUse.renewedSince")(function* (runId: RunId) {
        const renewed = yield* ConnectionRow.some(sql, "id")`SELECT DISTINCT c.id FROM connection_holds h
          JOIN connections c ON c.id = h.connection_id
            AND (c.version > h.version OR c.token_generation > h.token_generation) WHERE h.run_id = ${runId}`
        const texts = yield* Effect.forEach(renewed, ({ id }) =>
          Effect.gen(function* () {
            const row = yield* connections.find(id)
            if (row === undefined) return []
            const values = textsOf(Redacted.value(yield* connections.secrets(row)))
            // The former values include the last values and tokens of a revoked Connection.
            return [...values, ...(yield* presentTokens(row)), ...(yield* former(id))]
          })
        )
        return texts.flat()
      }, Effect.orDie)

      const holdsUnknown = Effect.fnUntraced(function* (runId: RunId) {
        const rows = yield* sql`SELECT 1 AS one FROM connection_holds h
          JOIN connections c ON c.id = h.connection_id AND c.provided_name IS NOT NULL
          WHERE h.run_id = ${runId} LIMIT 1`
        return rows.length > 0
      }, Effect.orDie)

      const release = Effect.gen(function* () {
        yield* sql`DELETE FROM connection_holds WHERE NOT EXISTS (SELECT 1 FROM runs r
          WHERE r.id = connection_holds.run_id AND r.status IN ('queued', 'running'))`
        yield* sql`DELETE FROM former_connection_values WHERE NOT EXISTS (SELECT 1 FROM connection_holds h
          WHERE h.connection_id = former_connection_values.connection_id AND h.version <= former_connection_values.version)`
        yield* sql`DELETE FROM former_connection_tokens WHERE NOT EXISTS (SELECT 1 FROM connection_holds h
          WHERE h.connection_id = former_connection_tokens.connection_id
            AND h.token_generation <= former_connection_tokens.token_generation)`
      }).pipe(transaction(sql))

      return CredentialsInUse.of({ hold, keep, keepTokens, former, renewedSince, holdsUnknown, release })
    })
  )
}
