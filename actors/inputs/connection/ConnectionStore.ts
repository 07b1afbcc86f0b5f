import { Context, Effect, Layer, Option, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import {
  Connection,
  type ConnectionKind,
  type ConnectionStatus,
  ProposedOrigin
} from "../../../schema/records/Connection.ts"
import type { CredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import type { ConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import type { ConnectionId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { now } from "../../base/Identity.ts"
import type { ProvidedBy } from "../../../schema/agent/ProvidedName.ts"
import { present } from "../../ledger/run/RunRow.ts"
import { Vault } from "../../base/vault/Vault.ts"
import { providedOf } from "./PoolCredentials.ts"
import {
  ConnectionRow,
  type ListedConnection,
  NamesJson,
  OAuthFaultJson,
  OAuthJson,
  OriginsJson,
  ProposedOriginsJson,
  SettingsJson,
  UseJson
} from "./ConnectionRow.ts"
import { markReportsOfConnection } from "../../ledger/pull-request-report/ReportMarks.ts"

const decodeProposed = Schema.decodeUnknownOption(ProposedOrigin)

/** Returns the origins that the Connection may be sent to; empty until they are confirmed. */
export const originsOf = (row: Pick<ConnectionRow, "origins">): ReadonlyArray<CredentialOrigin> =>
  row.origins === null ? [] : OriginsJson.read(row.origins)

/**
 * Returns the proposed origins. Omits hosts that cannot be written as an origin, such as hosts with an asterisk, because
 * they cannot be confirmed.
 */
export const proposedOriginsOf = (row: Pick<ConnectionRow, "proposed_origins">): ReadonlyArray<ProposedOrigin> =>
  row.proposed_origins === null
    ? []
    : ProposedOriginsJson.read(row.proposed_origins).flatMap((proposal) => Option.toArray(decodeProposed(proposal)))

const originFields = (row: ListedConnection) => {
  if (row.kind === "provider") return {}
  return row.origins === null ? { origins: [], proposedOrigins: proposedOriginsOf(row) } : { origins: originsOf(row) }
}

/** The secret part of a Connection. It is decrypted only when svc needs it, for example for a Run or a fetch. */
export const ConnectionSecrets = Schema.Struct({
  values: Schema.Record(Schema.String, Schema.String),
  files: Schema.Array(
    Schema.Struct({ name: Schema.String, content: Schema.String, envName: Schema.optionalKey(Schema.String) })
  )
})
export type ConnectionSecrets = typeof ConnectionSecrets.Type

const SecretsJson = Schema.fromJsonString(ConnectionSecrets)
/** Encodes current or replaced values for sealing. */
export const encodeSecrets = Schema.encodeSync(SecretsJson)
export const decodeSecrets = Schema.decodeUnknownEffect(SecretsJson)
const decodeConnection = storedRecord(Connection)

/** Returns the use rule, which determines who may use the Connection and where. */
export const useOf = (row: Pick<ConnectionRow, "use_rule">): ConnectionUse => UseJson.read(row.use_rule)

/** Returns the current status. Derives `expired` from the clock, because the job that expires Connections may be late. */
export const effectiveStatus = (row: Pick<ConnectionRow, "status" | "expires_at">, at: string): ConnectionStatus =>
  row.status !== "revoked" && row.expires_at !== null && row.expires_at <= at ? "expired" : row.status

/** Returns true if a Connection with this status may be passed to Runs and fetches. */
export const isUsable = (status: ConnectionStatus): boolean => status === "pending" || status === "verified"

/** Explains how to fix a status that prevents a Connection's use. */
export const statusRemedy = (status: ConnectionStatus): string => {
  switch (status) {
    case "unconfirmed":
      return "A restore brought it back, and the operator has to confirm it with `svc admin restore-review`."
    case "expired":
      return "Give it a later expiry, or create a new one."
    case "error":
      return "Give it new values or connect it again, or create a new one."
    case "pending":
    case "verified":
    case "revoked":
      return "Create a new one."
  }
}

const oauthFields = (row: ListedConnection) => {
  if (row.oauth === null) return {}
  const fault = row.oauth_fault === null ? {} : { fault: OAuthFaultJson.parse(row.oauth_fault) }
  return { oauth: { ...OAuthJson.read(row.oauth), ...fault } }
}

export const toConnection = (row: ListedConnection, at: string): Connection =>
  decodeConnection({
    id: row.id,
    scope: row.scope,
    provider: row.provider,
    kind: row.kind,
    recipeId: row.recipe_id,
    authMode: row.auth_mode,
    displayName: row.display_name,
    status: effectiveStatus(row, at),
    envNames: NamesJson.parse(row.env_names),
    fileNames: NamesJson.parse(row.file_names),
    ...originFields(row),
    providerConfig: SettingsJson.parse(row.provider_config),
    moduleInputDefaults: SettingsJson.parse(row.module_input_defaults),
    use: useOf(row),
    ...oauthFields(row),
    version: row.version,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    ...present({
      providedBy: providedOf(row) ?? null,
      workspaceId: row.workspace_id,
      lastUsedAt: row.last_used_at,
      verifiedAt: row.verified_at,
      expiresAt: row.expires_at
    })
  })

/** Fields of a Connection to insert. */
export interface NewConnection {
  readonly id: ConnectionId
  readonly workspaceId: WorkspaceId
  readonly provider: string
  readonly kind: ConnectionKind
  readonly recipeId: string
  readonly authMode: string
  readonly displayName: string
  readonly secrets: ConnectionSecrets
  /** If set, it takes the place of `secrets`, which must be empty. */
  readonly providedBy?: ProvidedBy | undefined
  /** Only for Connections to Git servers and forges. */
  readonly origins?: ReadonlyArray<CredentialOrigin> | undefined
  readonly providerConfig: Readonly<Record<string, Schema.Json>>
  readonly moduleInputDefaults: Readonly<Record<string, Schema.Json>>
  readonly use: ConnectionUse
  readonly expiresAt?: string | undefined
}

/** Changes to a Connection. `secrets` creates a new version of its values; `null` removes the expiry. */
export interface ConnectionChange {
  readonly displayName?: string | undefined
  readonly use?: ConnectionUse | undefined
  readonly expiresAt?: string | null | undefined
  readonly secrets?: ConnectionSecrets | undefined
}

const namesOf = (secrets: ConnectionSecrets) => ({
  env_names: NamesJson.write(Object.keys(secrets.values).sort()),
  file_names: NamesJson.write(secrets.files.map((file) => file.name).sort())
})

const place = (row: { readonly id: ConnectionId; readonly workspace_id: WorkspaceId | null }) => ({
  table: "connections",
  column: "sealed_values",
  workspaceId: row.workspace_id,
  rowId: row.id
})

/**
 * The only writer of `connections`, together with `ConnectionTokens`. Values and files are sealed before they are stored; only
 * `secrets` returns them.
 */
export class ConnectionStore extends Context.Service<
  ConnectionStore,
  {
    /** Inserts the Connection and returns its row. */
    readonly insert: (connection: NewConnection) => Effect.Effect<ConnectionRow>
    /** Returns the Connection, unless it has been removed. */
    readonly find: (id: ConnectionId | null) => Effect.Effect<ConnectionRow | undefined>
    /**
     * Changes a Connection if it has not changed since the caller read `row`. Returns the changed row, or `undefined` if somebody
     * else has changed it. Runs in the caller's transaction.
     */
    readonly change: (row: ConnectionRow, change: ConnectionChange) => Effect.Effect<ConnectionRow | undefined>
    /**
     * Stores renewed tokens without creating a new version, because they grant the same authority. Runs in the caller's
     * transaction.
     */
    readonly renew: (row: ConnectionRow, secrets: ConnectionSecrets) => Effect.Effect<void>
    /**
     * Removes the Connection and its values if it has not changed since the caller read `row`. Afterwards, `find` no longer
     * returns it.
     */
    readonly remove: (row: ConnectionRow) => Effect.Effect<boolean>
    /**
     * Stores the result of testing the values in `row`. Returns `false` without writing if the values have been replaced or
     * revoked in the meantime.
     */
    readonly setStatus: (row: ConnectionRow, status: "verified" | "error") => Effect.Effect<boolean>
    /** Deletes the sealed values permanently. */
    readonly revoke: (id: ConnectionId) => Effect.Effect<void>
    /** Records these origins as confirmed, permanently. */
    readonly confirmOrigins: (id: ConnectionId, origins: ReadonlyArray<CredentialOrigin>) => Effect.Effect<void>
    readonly touch: (id: ConnectionId) => Effect.Effect<void>
    readonly secrets: (row: ConnectionRow) => Effect.Effect<Redacted.Redacted<ConnectionSecrets>>
  }
>()("svc/actors/inputs/connection/ConnectionStore") {
  static readonly layer = Layer.effect(
    ConnectionStore,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const vault = yield* Vault

      const insert = Effect.fnUntraced(function* (connection: NewConnection) {
        const at = yield* now
        const { providedBy } = connection
        const sealed =
          providedBy === undefined
            ? yield* vault.seal(
                place({ id: connection.id, workspace_id: connection.workspaceId }),
                Redacted.make(encodeSecrets(connection.secrets))
              )
            : null
        const [row] = yield* ConnectionRow.rows(sql)`INSERT INTO connections ${ConnectionRow.values(sql, {
          id: connection.id,
          workspace_id: connection.workspaceId,
          scope: "workspace",
          provider: connection.provider,
          kind: connection.kind,
          recipe_id: connection.recipeId,
          auth_mode: connection.authMode,
          display_name: connection.displayName,
          status: "pending" satisfies ConnectionStatus,
          ...namesOf(connection.secrets),
          origins: connection.origins === undefined ? null : OriginsJson.write([...new Set(connection.origins)]),
          sealed_values: sealed,
          provided_pool: providedBy?.pool ?? null,
          provided_name: providedBy?.name ?? null,
          provider_config: SettingsJson.write(connection.providerConfig),
          module_input_defaults: SettingsJson.write(connection.moduleInputDefaults),
          use_rule: UseJson.write(connection.use),
          expires_at: connection.expiresAt ?? null,
          created_at: at,
          updated_at: at
        })} RETURNING *`
        return row === undefined
          ? yield* Effect.die(new Error(`The Connection ${connection.id} was not inserted`))
          : row
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* (id: ConnectionId | null) {
        const rows = yield* ConnectionRow.rows(sql)`SELECT * FROM connections WHERE id = ${id} AND removed_at IS NULL`
        return rows[0]
      }, Effect.orDie)

      const setStatus = Effect.fnUntraced(function* (row: ConnectionRow, status: "verified" | "error") {
        const at = yield* now
        const stored =
          yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { status, updated_at: at, ...(status === "verified" ? { verified_at: at } : {}) })}
          WHERE id = ${row.id} AND version = ${row.version} AND status NOT IN ('revoked', 'unconfirmed') RETURNING id`
        return stored.length === 1
      }, Effect.orDie)

      const unchanged = (row: ConnectionRow) => sql`id = ${row.id} AND removed_at IS NULL AND status = ${row.status}
        AND version = ${row.version} AND display_name = ${row.display_name} AND use_rule = ${row.use_rule}
        AND COALESCE(expires_at, '') = ${row.expires_at ?? ""}`

      const change = Effect.fnUntraced(function* (row: ConnectionRow, to: ConnectionChange) {
        const at = yield* now
        const { secrets } = to
        const [changed] = yield* ConnectionRow.rows(sql)`UPDATE connections SET ${ConnectionRow.changes(sql, {
          updated_at: at,
          ...(to.displayName === undefined ? {} : { display_name: to.displayName }),
          ...(to.use === undefined ? {} : { use_rule: UseJson.write(to.use) }),
          ...(to.expiresAt === undefined ? {} : { expires_at: to.expiresAt }),
          ...(secrets === undefined
            ? {}
            : {
                ...namesOf(secrets),
                sealed_values: yield* vault.seal(place(row), Redacted.make(encodeSecrets(secrets))),
                version: row.version + 1,
                status: "verified" satisfies ConnectionStatus,
                verified_at: at
              })
        })} WHERE ${unchanged(row)} RETURNING *`
        yield* markReportsOfConnection(sql, row.id)
        return changed
      }, Effect.orDie)

      const renew = Effect.fnUntraced(function* (row: ConnectionRow, values: ConnectionSecrets) {
        const at = yield* now
        const sealed_values = yield* vault.seal(place(row), Redacted.make(encodeSecrets(values)))
        yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { sealed_values, verified_at: at, updated_at: at })}
          WHERE id = ${row.id}`
      }, Effect.orDie)

      const remove = Effect.fnUntraced(function* (row: ConnectionRow) {
        const at = yield* now
        const removed = yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, {
          status: "revoked",
          sealed_values: null,
          removed_at: at,
          updated_at: at
        })} WHERE ${unchanged(row)} RETURNING id`
        yield* markReportsOfConnection(sql, row.id)
        return removed.length === 1
      }, Effect.orDie)

      const revoke = Effect.fnUntraced(function* (id: ConnectionId) {
        yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { status: "revoked", sealed_values: null, updated_at: yield* now })}
          WHERE id = ${id}`
        yield* markReportsOfConnection(sql, id)
      }, Effect.orDie)

      const confirmOrigins = Effect.fnUntraced(function* (id: ConnectionId, origins: ReadonlyArray<CredentialOrigin>) {
        yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, {
          origins: OriginsJson.write([...new Set(origins)]),
          proposed_origins: null,
          updated_at: yield* now
        })} WHERE id = ${id} AND origins IS NULL`
        yield* markReportsOfConnection(sql, id)
      }, Effect.orDie)

      const touch = Effect.fnUntraced(function* (id: ConnectionId) {
        yield* sql`UPDATE connections SET ${ConnectionRow.changes(sql, { last_used_at: yield* now })} WHERE id = ${id}`
      }, Effect.orDie)

      const secrets = Effect.fnUntraced(function* (row: ConnectionRow) {
        // Checks the status even if callers have checked it before, because this is the only place where the values can be
        // read.
        if (row.status === "unconfirmed")
          return yield* Effect.die(new Error(`Connection ${row.id}: ${statusRemedy(row.status)}`))
        if (row.sealed_values === null) return Redacted.make<ConnectionSecrets>({ values: {}, files: [] })
        const text = yield* vault.openText(place(row), row.sealed_values)
        return Redacted.make(yield* decodeSecrets(Redacted.value(text)))
      }, Effect.orDie)

      return ConnectionStore.of({
        insert,
        find,
        change,
        renew,
        remove,
        setStatus,
        revoke,
        confirmOrigins,
        touch,
        secrets
      })
    })
  )
}
