import { Schema } from "effect"
import type { Redacted } from "effect"
import type { SecretMethod } from "./ClientAuthentication.ts"

/** An authorization server of which this installation is a client. */
export interface AuthorizationServer {
  readonly issuer: string
  /** The kind of metadata document: RFC 8414 or OpenID Connect Discovery. Not needed if `endpoints` is set. */
  readonly metadata: "oauth2" | "oidc"
  readonly endpoints:
    | {
        readonly authorization: string
        readonly token: string
        readonly revocation?: string | undefined
        /** True if the server identifies itself in every response (RFC 9207). */
        readonly namesItself: boolean
      }
    | undefined
  /** `advertised`: the server is refused unless its metadata lists S256. The client always sends a challenge, and never `plain`. */
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
  /** Additional parameters for this server, such as an audience. */
  readonly parameters: Readonly<Record<string, string>>
}

/** The response from the token endpoint. */
export interface GrantedTokens {
  readonly accessToken: Redacted.Redacted
  readonly refreshToken: Redacted.Redacted | undefined
  /** In seconds; absent if the server does not report it. */
  readonly expiresIn: number | undefined
  /** Absent if they equal the requested scopes. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/**
 * A failure of an authorization server. The message quotes no token, code, state or secret.
 *
 * - `denied`: it returned an error to the person's browser
 * - `refused`: its token endpoint refused permanently; `error` contains the reason
 * - `invalid`: a response is invalid
 * - `unreachable`: no connection, and nothing was sent
 * - `unanswered`: no response, but the request may have taken effect
 * - `unusable`: it differs from the operator's declaration
 */
export class OAuthFailure extends Schema.TaggedError<OAuthFailure>()("OAuthFailure", {
  reason: Schema.Literals(["denied", "refused", "invalid", "unreachable", "unanswered", "unusable"]),
  error: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
