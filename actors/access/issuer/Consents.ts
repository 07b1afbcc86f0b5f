import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { now } from "../../base/Identity.ts"
import { Subject, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { decodeScopes, encodeScopes } from "./Scopes.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { type RowOf, table } from "../../base/database/Table.ts"

/** Stored consents, which people do not have to give again. `workspace_id` is empty for a consent without a Workspace. */
export const ConsentRow = table("oidc_consents", {
  subject: Subject,
  client_id: Schema.String,
  workspace_id: Schema.String,
  scopes: Schema.String,
  updated_at: Timestamp
})
type ConsentRow = RowOf<typeof ConsentRow.columns>

/** The person, client and Workspace of a consent. */
export interface ConsentPlace {
  readonly subject: string
  readonly clientId: string
  readonly workspaceId: WorkspaceId | undefined
}

/** The consents that people have given to clients. */
export class Consents extends Context.Service<
  Consents,
  {
    /** Returns the scopes that the person has consented to so far. */
    readonly given: (place: ConsentPlace) => Effect.Effect<ReadonlyArray<string>, SqlError>
    /** Adds scopes to the consent, in the caller's transaction. */
    readonly remember: (place: ConsentPlace, scopes: ReadonlyArray<string>) => Effect.Effect<void, SqlError>
  }
>()("svc/actors/access/issuer/Consents") {
  static readonly layer = Layer.effect(
    Consents,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const find = (client: SqlClient.SqlClient, { clientId, subject, workspaceId }: ConsentPlace) =>
        Effect.map(
          ConsentRow.some(client, "scopes")`SELECT scopes FROM oidc_consents
            WHERE subject = ${subject} AND client_id = ${clientId} AND workspace_id = ${workspaceId ?? ""}`,
          ([row]) => (row === undefined ? [] : decodeScopes(row.scopes))
        )
      return Consents.of({
        given: (place) => find(read, place),
        remember: Effect.fn("Consents.remember")(function* (place, scopes) {
          const all = [...new Set([...(yield* find(sql, place)), ...scopes])].sort()
          yield* sql`INSERT INTO oidc_consents ${ConsentRow.values(sql, {
            subject: place.subject,
            client_id: place.clientId,
            workspace_id: place.workspaceId ?? "",
            scopes: encodeScopes(all),
            updated_at: yield* now
          })} ON CONFLICT (subject, client_id, workspace_id)
            DO UPDATE SET scopes = excluded.scopes, updated_at = excluded.updated_at`
        })
      })
    })
  )
}
