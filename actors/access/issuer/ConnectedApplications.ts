import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { type ApiError, notFound } from "../../../schema/errors/ApiError.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { Clients } from "./Clients.ts"
import { Grants } from "./Grants.ts"
import { decodeScopes } from "./Scopes.ts"
import { GrantRow } from "./GrantRow.ts"

/** An application that can currently act for a person. */
export interface ConnectedApplication {
  /** The id of the grant. */
  readonly id: string
  readonly clientId: string
  readonly clientName: string
  readonly workspaceId: WorkspaceId | undefined
  readonly scopes: ReadonlyArray<string>
  /** True if the grant remains valid after the person signs out. */
  readonly offline: boolean
  readonly createdAt: string
}

interface Row {
  readonly id: string
  readonly client_id: string
  readonly workspace_id: WorkspaceId | null
  readonly scopes: string
  readonly created_at: string
}

// Maximum number of applications to list. Nobody would read a longer list.
const mostListed = 200

/** Lists the applications that act for a person, and revokes their access. */
export class ConnectedApplications extends Context.Service<
  ConnectedApplications,
  {
    /** Returns the grants with a valid access or refresh token, newest first, at most 200. */
    readonly list: (subject: string) => Effect.Effect<ReadonlyArray<ConnectedApplication>>
    /** Revokes a grant and everything issued for it. Fails with `not_found` for somebody else's grant. */
    readonly revoke: (context: CommandContext, subject: string, grantId: string) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/issuer/ConnectedApplications") {
  static readonly layer = Layer.effect(
    ConnectedApplications,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const clients = yield* Clients
      const grants = yield* Grants

      const toApplication = Effect.fnUntraced(function* (row: Row) {
        const client = yield* clients.find(read, row.client_id)
        const scopes = decodeScopes(row.scopes)
        return {
          id: row.id,
          clientId: row.client_id,
          clientName: Option.match(client, { onNone: () => row.client_id, onSome: ({ name }) => name }),
          workspaceId: row.workspace_id ?? undefined,
          scopes,
          offline: scopes.includes("offline_access"),
          createdAt: row.created_at
        } satisfies ConnectedApplication
      })

      return ConnectedApplications.of({
        list: Effect.fn("ConnectedApplications.list")(function* (subject) {
          const at = yield* now
          const rows = yield* GrantRow.some(
            read,
            "id",
            "client_id",
            "workspace_id",
            "scopes",
            "created_at"
          )`SELECT id, client_id, workspace_id, scopes, created_at FROM oidc_grants g
            WHERE subject = ${subject} AND revoked_at IS NULL AND (
              EXISTS (SELECT 1 FROM oidc_refresh_tokens r
                WHERE r.grant_id = g.id AND r.used_at IS NULL AND r.expires_at > ${at})
              OR EXISTS (SELECT 1 FROM oauth_access_tokens a
                WHERE a.grant_id = g.id AND a.revoked_at IS NULL AND a.expires_at > ${at}))
            ORDER BY created_at DESC, id LIMIT ${mostListed}`
          return yield* Effect.forEach(rows, toApplication)
        }, Effect.orDie),
        revoke: Effect.fn("ConnectedApplications.revoke")(function* (context, subject, grantId) {
          const [row] = yield* GrantRow.some(
            sql,
            "id",
            "client_id",
            "workspace_id",
            "scopes",
            "created_at"
          )`SELECT id, client_id, workspace_id, scopes, created_at FROM oidc_grants
            WHERE id = ${grantId} AND subject = ${subject}`
          if (row === undefined) return yield* notFound("Grant")
          yield* grants.revoke(row.id, "revoked_by_person")
          yield* audit.append({
            workspaceId: row.workspace_id,
            actor: context.actor,
            action: "identity.grant.revoke",
            target: { kind: "oauth_grant", id: row.id },
            data: { reason: "revoked_by_person", clientId: row.client_id },
            requestId: context.requestId
          })
        }, transaction(sql))
      })
    })
  )
}
