import { Schema } from "effect"
import type { Redacted } from "effect"
import type { SecretMethod } from "./ClientAuthentication.ts"

/** An authorization server that this installation is a client of. */
export interface AuthorizationServer {
  readonly issuer: string
  /** The kind of metadata document: RFC 8414 or OpenID Connect Discovery. Not needed if `endpoints` is set. */
  readonly metadata: "oauth2" | "oidc"
  readonly endpoints:
    | {
        readonly authorization: string
        readonly token: string
        readonly revocation?: string | undefined
        /** Whether the server identifies itself in every response (RFC 9207). */
        readonly namesItself: boolean
      }
    | undefined
  /** `advertised`: the server is refused unless its metadata lists S256. A challenge is sent either way, and never `plain`. */
  readonly pkce: "advertised" | "sent"
  readonly clientId: string
  /** A public client does not have one. */
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
  /** In seconds; absent if the server does not state it. */
  readonly expiresIn: number | undefined
  /** Absent if they are the same as the requested ones. */
  readonly scopes: ReadonlyArray<string> | undefined
}

/**
 * What went wrong with an authorization server. The message quotes no token, code, state or secret.
 *
 * - `denied`: it returned an error to the person's browser
 * - `refused`: its token endpoint refused permanently; `error` states why
 * - `invalid`: a response is invalid
 * - `unreachable`: no connection, and nothing was sent
 * - `unanswered`: no response, but what was sent may have taken effect
 * - `unusable`: it differs from the operator's declaration
 */
export class OAuthFailure extends Schema.TaggedError<OAuthFailure>()("OAuthFailure", {
  reason: Schema.Literals(["denied", "refused", "invalid", "unreachable", "unanswered", "unusable"]),
  error: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
