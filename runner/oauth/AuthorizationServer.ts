import { Schema } from "effect"
import type { Redacted } from "effect"
import type { SecretMethod } from "./SecretAuthentication.ts"

/** An authorization server where this installation is registered as a client. */
export interface AuthorizationServer {
  readonly issuer: string
  /** Kind of the metadata document: RFC 8414 or OpenID Connect Discovery. Not used if `endpoints` is set. */
  readonly metadata: "oauth2" | "oidc"
  readonly endpoints:
    | {
        readonly authorization: string
        readonly token: string
        readonly revocation?: string | undefined
        /** True if the server includes its issuer in every authorization response (RFC 9207). */
        readonly namesItself: boolean
      }
    | undefined
  /**
   * If this is `advertised`, svc refuses the server unless its metadata lists S256. The client always sends an S256
   * challenge.
   */
  readonly pkce: "advertised" | "sent"
  readonly clientId: string
  /** Absent for a public client. */
  readonly clientSecret: Redacted.Redacted | undefined
  readonly secretMethod: SecretMethod | undefined
}

/** A request for a person's authorization. */
export interface AuthorizationAsked {
  readonly redirectUri: string
  readonly state: string
  readonly codeVerifier: Redacted.Redacted
  readonly scopes: ReadonlyArray<string>
  /** Additional parameters that this server requires, such as an audience. */
  readonly parameters: Readonly<Record<string, string>>
}

/** Response of the token endpoint. */
export interface GrantedTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | undefined
  /** Lifetime in seconds; absent if the server does not report it. */
  readonly expiresIn: number | undefined
  /** Absent if all requested scopes were granted. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/**
 * A failure of an authorization server. The message contains no token, code, state or secret.
 *
 * - `denied`: the server returned an error to the person's browser
 * - `refused`: the token endpoint rejected the request permanently; `error` contains the error code
 * - `invalid`: a response is invalid
 * - `unreachable`: there was no connection, so nothing was sent
 * - `unanswered`: there was no response, but the request may have taken effect
 * - `unusable`: the server does not match the operator's declaration
 */
export class OAuthFailure extends Schema.TaggedError<OAuthFailure>()("OAuthFailure", {
  reason: Schema.Literals(["denied", "refused", "invalid", "unreachable", "unanswered", "unusable"]),
  error: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
