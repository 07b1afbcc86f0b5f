import { Schema } from "effect"
import { ConnectionKind } from "./Connection.ts"
import { CredentialOrigin } from "./CredentialOrigin.ts"

export const OAuthHelperId = Schema.String.check(
  Schema.isPattern(/^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/, {
    description: "1 to 63 lower-case letters, digits and hyphens"
  })
).pipe(Schema.brand("OAuthHelperId"))
export type OAuthHelperId = typeof OAuthHelperId.Type

/**
 * A service that the operator has set up. A person can authorise access there, and svc stores the resulting credentials in a
 * Connection.
 */
export class OAuthHelper extends Schema.Opaque<OAuthHelper>()(
  Schema.Struct({
    id: OAuthHelperId,
    displayName: Schema.String,
    /** The service that issues the credentials. */
    issuer: Schema.String,
    scopes: Schema.Array(Schema.String),
    provider: Schema.String,
    kind: ConnectionKind,
    recipeId: Schema.String,
    authMode: Schema.String,
    /** Names of the variables and files that the Connection sets. */
    valueNames: Schema.Array(Schema.String),
    /** For a Git Connection: the only origins to which svc may send its credentials. */
    origins: Schema.optionalKey(Schema.Array(CredentialOrigin))
  }).annotate({ identifier: "OAuthHelper" })
) {}
