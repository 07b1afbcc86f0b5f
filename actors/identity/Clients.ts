import { Context, Effect, Layer, Option } from "effect"
import type { SqlClient } from "effect/sql"
import type { SqlError } from "effect/sql/SqlError"
import { InstallPolicy } from "../configuration/InstallPolicy.ts"
import type { Client } from "./Client.ts"
import { decodeScopes } from "./Scopes.ts"
import { StaticClients } from "./StaticClients.ts"
import { CapsuleRow } from "../authority/CapsuleRow.ts"
import { type RowOf, rowShape } from "../database/Table.ts"
import { CapsuleClientRow } from "./CapsuleClientRow.ts"

const { activation_digest, capsule_id, client_id, redirect_uri, scopes, workspace_id } = CapsuleClientRow.columns

/** The client of a Capsule, with the name of the Capsule. */
const NamedClient = rowShape({
  client_id,
  workspace_id,
  capsule_id,
  redirect_uri,
  scopes,
  activation_digest,
  name: CapsuleRow.columns.name
})

/** Every client that exists now. */
export class Clients extends Context.Service<
  Clients,
  {
    /** The client, read through `sql`; none when it is unknown or retired. */
    readonly find: (sql: SqlClient.SqlClient, clientId: string) => Effect.Effect<Option.Option<Client>, SqlError>
  }
>()("svc/identity/Clients") {
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
        postLogoutRedirectUris: [new URL(row.redirect_uri).origin, `${new URL(row.redirect_uri).origin}/`],
        grantTypes: ["authorization_code", "refresh_token"],
        // The present ceiling, not the one at the apply: what the operator revoked is gone.
        scopes: decodeScopes(row.scopes).filter((scope) => install.policy.allowedOidcScopes?.includes(scope) === true),
        secretHash: undefined,
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
              o.scopes, o.activation_digest, c.name
            FROM oidc_capsule_clients o JOIN capsules c ON c.id = o.capsule_id
            WHERE o.client_id = ${clientId} AND o.status = 'active'`
          return Option.map(Option.fromUndefinedOr(rows[0]), toClient)
        })
      })
    })
  )
}
