import { Schema } from "effect"
import type { Redacted } from "effect"
import type { SecretMethod } from "./ClientAuthentication.ts"

/** An authorization server, with this installation as its client. */
export interface AuthorizationServer {
  readonly issuer: string
  /** Where its metadata is: RFC 8414 or OpenID Connect Discovery. With `endpoints` it is not needed. */
  readonly metadata: "oauth2" | "oidc"
  readonly endpoints:
    | {
        readonly authorization: string
        readonly token: string
        readonly revocation?: string | undefined
        /** The server identifies itself in every answer (RFC 9207). */
        readonly namesItself: boolean
      }
    | undefined
  /** `advertised`: refused unless the metadata says S256. A challenge is sent in either case, and never `plain`. */
  readonly pkce: "advertised" | "sent"
  readonly clientId: string
  /** A public client has none. */
  readonly clientSecret: Redacted.Redacted | undefined
  readonly secretMethod: SecretMethod | undefined
}

/** A request for a person's authorization. */
export interface AuthorizationAsked {
  readonly redirectUri: string
  readonly state: string
  readonly codeVerifier: Redacted.Redacted
  readonly scopes: ReadonlyArray<string>
  /** Additional parameters for this server, such as an audience. */
  readonly parameters: Readonly<Record<string, string>>
}

/** The response of the token endpoint. */
export interface GrantedTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | undefined
  /** Seconds; absent where the server does not say. */
  readonly expiresIn: number | undefined
  /** Absent when they are the requested ones. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/**
 * What went wrong with an authorization server. The message quotes no token, code, state or secret.
 *
 * - `denied`: it returned an error to the person's browser
 * - `refused`: its token endpoint refused permanently, `error` says how
 * - `invalid`: a response is invalid
 * - `unreachable`: no connection, and nothing was sent
 * - `unanswered`: what was sent may have taken effect
 * - `unusable`: it differs from the operator's declaration
 */
export class OAuthFailure extends Schema.TaggedError<OAuthFailure>()("OAuthFailure", {
  reason: Schema.Literals(["denied", "refused", "invalid", "unreachable", "unanswered", "unusable"]),
  error: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
