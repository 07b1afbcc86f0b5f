import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"
import type { NamedRecord, WorkspaceAccess } from "../../../schema/api/Access.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { ProjectId } from "../../../schema/records/Ids.ts"
import { type LimitedPlace, type TokenLimits, withinLimits } from "../../../schema/records/TokenLimits.ts"
import { limitsUnavailable } from "./TokenConfinement.ts"

const Place = rowShape({ projectId: ProjectId, environment: Schema.String })

type Places = (
  sql: SqlClient.SqlClient,
  named: string,
  inPath: string
) => Effect.Effect<ReadonlyArray<LimitedPlace>, SqlError>

/**
 * Finds the Capsules to which a referenced record belongs. Finds no Capsule if a limited token must not refer to the record.
 */
const placesOf: Record<NamedRecord, Places> = {
  boundConnection: (sql, named, inPath) => Place.rows(sql)`SELECT DISTINCT c.project_id AS "projectId", c.environment
    FROM capsules c JOIN provider_bindings b ON b.install_config_id = c.install_config_id
    WHERE c.id = ${inPath} AND b.connection_id = ${named}`,
  capsule: (sql, named) =>
    Place.rows(sql)`SELECT project_id AS "projectId", environment FROM capsules WHERE id = ${named}`,
  configuration: (sql, named) => Place.rows(
    sql
  )`SELECT c.project_id AS "projectId", c.environment FROM install_configs i
    JOIN capsules c ON c.id = i.capsule_id OR c.install_config_id = i.id WHERE i.id = ${named}`,
  person: () => Effect.succeed([]),
  snapshot: (sql, named, inPath) => Place.rows(sql)`SELECT c.project_id AS "projectId", c.environment FROM capsules c
    JOIN source_snapshots s ON s.source_id = c.source_id WHERE c.id = ${inPath} AND s.id = ${named}`
}

const reasons: Record<NamedRecord, string> = {
  boundConnection:
    "A token that is limited to Projects or environments names only Connections that the Capsule already binds. Use a token without limits.",
  capsule: "The token is limited to other Projects or environments than those of this Capsule.",
  configuration: "The token is limited to other Projects or environments than those of this configuration.",
  person: "A token that is limited to Projects or environments mentions nobody. Use a token without limits.",
  snapshot: "A token that is limited to Projects or environments names only snapshots of the Capsule's own Source."
}

const BoundConnection = rowShape({ id: Schema.String })

type Rebinds = NonNullable<WorkspaceAccess["rebinds"]>

/** Finds the Connections of an earlier configuration that its Capsule does not currently bind. */
const broughtBy: Record<
  Rebinds,
  (sql: SqlClient.SqlClient, inPath: string) => Effect.Effect<ReadonlyArray<{ readonly id: string }>, SqlError>
> = {
  stateVersion: (sql, inPath) => BoundConnection.rows(sql)`SELECT b.connection_id AS id FROM state_versions v
    JOIN capsules c ON c.id = v.capsule_id JOIN provider_bindings b ON b.install_config_id = v.install_config_id
    WHERE v.id = ${inPath} AND b.connection_id NOT IN
      (SELECT connection_id FROM provider_bindings WHERE install_config_id = c.install_config_id)`,
  // A backup contains the configuration that was the newest when the backup was made.
  backup: (sql, inPath) => BoundConnection.rows(sql)`SELECT b.connection_id AS id FROM backups k
    JOIN capsules c ON c.id = k.capsule_id JOIN provider_bindings b ON b.install_config_id = (
      SELECT i.id FROM install_configs i WHERE i.capsule_id = c.id AND i.created_at <= k.created_at
      ORDER BY i.created_at DESC, i.id DESC LIMIT 1)
    WHERE k.id = ${inPath} AND b.connection_id NOT IN
      (SELECT connection_id FROM provider_bindings WHERE install_config_id = c.install_config_id)`
}

const brings = new ApiError({
  code: "permission_denied",
  message:
    "The earlier configuration binds a Connection that the Capsule does not bind now. A token that is limited to Projects or environments may not bring one. Use a token without limits."
})

const childrenOf = (value: unknown, name: string): ReadonlyArray<unknown> =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Object.entries(value).flatMap(([key, child]) => (key === name ? [child] : []))
    : []

/** Returns the strings in a field of a body that has not been validated. `[]` after a name selects each item of a list. */
const textsAt = (body: unknown, field: string): ReadonlySet<string> => {
  let found: ReadonlyArray<unknown> = [body]
  for (const step of field.split(".")) {
    const isList = step.endsWith("[]")
    const children = found.flatMap((value) => childrenOf(value, isList ? step.slice(0, -2) : step))
    found = isList ? children.flatMap((child): ReadonlyArray<unknown> => (Array.isArray(child) ? child : [])) : children
  }
  return new Set(found.flatMap((value) => (typeof value === "string" ? [value] : [])))
}

/**
 * Checks the records in a body in the same way as the record in the path: a limited token may refer only to records within
 * its limits. An unknown record is refused like a record outside the limits.
 */
export const namedRecords = Effect.gen(function* () {
  const sql = yield* ReadSql

  const found = <A>(rows: Effect.Effect<A, SqlError>) =>
    Effect.catch(rows, (error) =>
      Effect.andThen(Effect.logError("The limits of a token could not be checked", error), limitsUnavailable)
    )

  return <R>({ rebinds, records = {} }: WorkspaceAccess, readBody: Effect.Effect<unknown, ApiError, R>) => {
    const fields = Object.entries(records)
    return Effect.fnUntraced(function* (limits: TokenLimits, inPath: string): Effect.fn.Return<void, ApiError, R> {
      if (rebinds !== undefined && (yield* found(broughtBy[rebinds](sql, inPath))).length > 0) return yield* brings
      if (fields.length === 0) return
      const body = yield* readBody
      for (const [field, kind] of fields) {
        for (const named of textsAt(body, field)) {
          const places = yield* found(placesOf[kind](sql, named, inPath))
          if (places.length > 0 && places.every((place) => withinLimits(limits, place))) continue
          return yield* new ApiError({ code: "permission_denied", message: `${field}: ${reasons[kind]}` })
        }
      }
    })
  }
})
