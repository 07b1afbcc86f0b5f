import { Schema } from "effect"
import { ConnectionKind } from "../../../schema/records/Connection.ts"
import { GivenCredentialOrigin } from "../../../schema/records/CredentialOrigin.ts"
import { OAuthHelperId } from "../../../schema/records/OAuthHelper.ts"
import { displayText } from "../../../schema/records/Primitives.ts"

const isAddress = (text: string): boolean => {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.hash === ""
}

const Address = Schema.String.check(
  Schema.isMaxLength(2048),
  Schema.makeFilter(isAddress, { expected: "an https URL without user name and fragment" })
)
const Issuer = Address.check(
  Schema.makeFilter((text: string) => isAddress(text) && new URL(text).search === "", {
    expected: "an issuer: an https URL without query"
  })
)

/** Authorization request parameters that operators cannot set, because svc sets them itself. */
const ownParameters: ReadonlySet<string> = new Set([
  "client_id",
  "client_secret",
  "redirect_uri",
  "response_type",
  "response_mode",
  "scope",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "request",
  "request_uri"
])

const Client = Schema.Struct({
  id: Schema.NonEmptyString,
  /** If absent, svc uses a method that the server's metadata lists. */
  authentication: Schema.optionalKey(Schema.Literals(["client_secret_basic", "client_secret_post"])),
  /** A file or an environment variable that contains the client secret. A public client has no secret. */
  secretFile: Schema.optionalKey(Schema.NonEmptyString),
  secretEnv: Schema.optionalKey(Schema.String.check(Schema.isPattern(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)))
}).check(
  Schema.makeFilter(({ secretEnv, secretFile }) =>
    secretEnv !== undefined && secretFile !== undefined ? "give secretFile or secretEnv, not both" : undefined
  )
)

/** The Connection to create from the tokens, and its recipe. */
const MadeConnection = Schema.Struct({
  provider: Schema.NonEmptyString,
  kind: Schema.optionalKey(ConnectionKind),
  recipeId: Schema.optionalKey(Schema.String),
  authMode: Schema.optionalKey(Schema.String),
  /** Where the access token is delivered: the name of an environment variable, or `token` for a Git Connection. */
  accessToken: Schema.NonEmptyString,
  /** Additional values that are the same for everybody and not secret. */
  values: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  origins: Schema.optionalKey(Schema.Array(GivenCredentialOrigin).check(Schema.isMinLength(1), Schema.isMaxLength(32)))
})

/** An OAuth helper, as declared in the operator's policy file. */
export const OAuthHelperDeclaration = Schema.Struct({
  id: OAuthHelperId,
  displayName: displayText(80),
  issuer: Issuer,
  /** The kind of metadata that the issuer publishes: RFC 8414 or OpenID Connect Discovery. */
  metadata: Schema.optionalKey(Schema.Literals(["oauth2", "oidc"])),
  /** Endpoints of a server without metadata. */
  endpoints: Schema.optionalKey(
    Schema.Struct({
      authorization: Address,
      token: Address,
      revocation: Schema.optionalKey(Address),
      /** True if the server adds `iss` to its responses (RFC 9207). */
      issInResponse: Schema.optionalKey(Schema.Boolean)
    })
  ),
  client: Client,
  scopes: Schema.Array(Schema.String.check(Schema.isPattern(/^[\x21\x23-\x5b\x5d-\x7e]{1,256}$/))),
  /** If `sent`, svc sends a PKCE challenge even if the server's metadata does not list PKCE. */
  pkce: Schema.optionalKey(Schema.Literals(["advertised", "sent"])),
  /** Additional parameters for the authorization request. */
  parameters: Schema.optionalKey(
    Schema.Record(
      Schema.String.check(
        Schema.makeFilter((name: string) => !ownParameters.has(name), { expected: "a parameter that svc does not set" })
      ),
      Schema.String
    )
  ),
  connection: MadeConnection
})
export type OAuthHelperDeclaration = typeof OAuthHelperDeclaration.Type

export const OAuthHelperDeclarations = Schema.Array(OAuthHelperDeclaration).check(
  Schema.isMaxLength(100),
  Schema.makeFilter((helpers) =>
    new Set(helpers.map(({ id }) => id)).size === helpers.length ? undefined : "an id is given twice"
  )
)
