import { Context, Effect, Layer, Option, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { InstallPolicy } from "../../ledger/configuration/InstallConfigCompilation.ts"
import type { Client } from "./Client.ts"
import { decodeScopes } from "./Scopes.ts"
import { StaticClients } from "./StaticClients.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CapsuleClientRow, PathsJson } from "./CapsuleClients.ts"

const {
  activation_digest,
  capsule_id,
  client_id,
  introspection_hash,
  post_logout_paths,
  redirect_uri,
  scopes,
  workspace_id
} = CapsuleClientRow.columns

/** The client of a Capsule, with the Capsule's name. */
const NamedClient = rowShape({
  client_id,
  workspace_id,
  capsule_id,
  redirect_uri,
  post_logout_paths,
  scopes,
  activation_digest,
  introspection_hash,
  name: CapsuleRow.columns.name
})

/**
 * Returns the addresses to which people may return after signing out: the origin, with and without a trailing slash, and the
 * reviewed paths.
 */
const returnAddresses = ({ post_logout_paths, redirect_uri }: RowOf<typeof NamedClient.columns>) => {
  const { origin } = new URL(redirect_uri)
  return [origin, `${origin}/`, ...PathsJson.read(post_logout_paths ?? "[]").map((path) => `${origin}${path}`)]
}

/** All clients that currently exist. */
export class Clients extends Context.Service<
  Clients,
  {
    /** Reads the client through `sql`. Returns `none` if the client is unknown or retired. */
    readonly find: (sql: SqlClient.SqlClient, clientId: string) => Effect.Effect<Option.Option<Client>, SqlError>
  }
>()("svc/actors/access/issuer/Clients") {
  static readonly layer = Layer.effect(
    Clients,
    Effect.gen(function* () {
      const registered = yield* StaticClients
      const install = yield* InstallPolicy
      const toClient = (row: RowOf<typeof NamedClient.columns>): Client => ({
        id: row.client_id,
        name: row.name,
        applicationType: "web",
        redirectUris: [row.redirect_uri],
        postLogoutRedirectUris: returnAddresses(row),
        grantTypes: ["authorization_code", "refresh_token"],
        // Apply the operator's current limit instead of the limit at the time of the apply, so that revoking a scope takes
        // effect.
        scopes: decodeScopes(row.scopes).filter((scope) => install.policy.allowedOidcScopes?.includes(scope) === true),
        secretHash: undefined,
        introspectionHash: row.introspection_hash === null ? undefined : Redacted.make(row.introspection_hash),
        pkceRequired: true,
        consent: "ask",
        idTokenAlgorithm: "RS256",
        resources: [],
        interfaces: true,
        guards: [],
        owner: {
          workspaceId: row.workspace_id,
          capsuleId: row.capsule_id,
          activationDigest: row.activation_digest ?? undefined
        }
      })

      return Clients.of({
        find: Effect.fn("Clients.find")(function* (sql, clientId) {
          const known = registered.clients.get(clientId)
          if (known !== undefined) return Option.some(known)
          const rows = yield* NamedClient.rows(sql)`SELECT o.client_id, o.workspace_id, o.capsule_id, o.redirect_uri,
              o.post_logout_paths, o.scopes, o.activation_digest, o.introspection_hash, c.name
            FROM oidc_capsule_clients o JOIN capsules c ON c.id = o.capsule_id
            WHERE o.client_id = ${clientId} AND o.status = 'active'`
          return Option.map(Option.fromUndefinedOr(rows[0]), toClient)
        })
      })
    })
  )
}
