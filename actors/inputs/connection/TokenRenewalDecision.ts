import { Redacted } from "effect"
import type { OAuthFailure } from "../../../runner/oauth/AuthorizationServer.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { effectiveStatus, isUsable } from "./ConnectionStore.ts"
import { type ConnectionTokenPair, oauthFaultOf, oauthOf } from "./ConnectionTokens.ts"
import type { StoredOAuth } from "./StoredOAuth.ts"
import type { DeclaredHelper } from "./OAuthHelpers.ts"
import { isDue, stillServes } from "./TokenLifetime.ts"

export const reconnect = "An owner or admin has to connect it again, on the page of Connections."

/** The step that is required before a Connection's access token can be used. */
export type RenewalNeed<Row> =
  | { readonly kind: "none" }
  /** The Connection cannot be used until a person authorises it again. */
  | { readonly kind: "refused"; readonly why: string | undefined }
  | { readonly kind: "renew"; readonly row: Row; readonly oauth: StoredOAuth }

export const renewalNeed = <Row extends Pick<ConnectionRow, "status" | "expires_at" | "oauth" | "oauth_fault">>(
  row: Row | undefined,
  at: string
): RenewalNeed<Row> => {
  const oauth = row === undefined ? undefined : oauthOf(row)
  if (row === undefined || oauth === undefined) return { kind: "none" }
  if (row.status === "error") return { kind: "refused", why: oauthFaultOf(row)?.message }
  // Ignores other problems of the Connection, which are reported when the Connection is used.
  if (!isUsable(effectiveStatus(row, at))) return { kind: "none" }
  return oauth.renewingSince !== undefined || isDue(oauth, at) ? { kind: "renew", row, oauth } : { kind: "none" }
}

/**
 * Returns the helper and refresh token for a renewal. Returns `undefined` if the operator no longer declares the helper for
 * that server.
 */
export const renewalMeans = <Helper extends { readonly server: Pick<DeclaredHelper["server"], "issuer"> }>(
  { issuer }: Pick<StoredOAuth, "issuer">,
  tokens: Redacted.Redacted<ConnectionTokenPair> | undefined,
  declared: Helper | undefined
) => {
  const refreshToken = tokens === undefined ? undefined : Redacted.value(tokens).refreshToken
  return refreshToken === undefined || declared === undefined || declared.server.issuer !== issuer
    ? undefined
    : { declared, refreshToken: Redacted.make(refreshToken) }
}

/** The consequences of a failed renewal. */
export interface RenewalSetback {
  readonly message: string
  /** True if the authorization is permanently invalid. */
  readonly isLasting: boolean
  /** True if the request changed nothing at the server, so that the old refresh token is still valid. */
  readonly hadNoEffect: boolean
}

export const renewalSetback = (
  displayName: string,
  { renewingSince }: Pick<StoredOAuth, "renewingSince">,
  { error, message, reason }: Pick<OAuthFailure, "error" | "message" | "reason">
): RenewalSetback => {
  const name = JSON.stringify(displayName)
  // If there was no usable response, the server may have replaced the refresh token, which then no longer works.
  const hadNoEffect = reason !== "unanswered" && reason !== "invalid"
  if (error !== "invalid_grant") {
    const why = `The access token of the Connection ${name} could not be renewed: ${message}`
    return { message: why, isLasting: false, hadNoEffect }
  }
  const lost =
    renewingSince === undefined
      ? ""
      : " An earlier renewal was interrupted before its answer was recorded, and the server does not take the same refresh token twice."
  const why = `The authorization of the Connection ${name} is not valid any more: ${message}${lost} ${reconnect}`
  return { message: why, isLasting: true, hadNoEffect }
}

/**
 * Returns true if a failed renewal prevents the Connection's use. While the server is unreachable, the current access token is
 * used until it expires.
 */
export const stopsUse = (oauth: StoredOAuth, isLasting: boolean, at: string): boolean =>
  isLasting || !stillServes(oauth, at)

type Renewable = Pick<ConnectionRow, "version" | "token_generation">

/** Returns true if the tokens were requested for the Connection's current version. */
export const takesTokens = (asked: Renewable, row: Renewable & Pick<ConnectionRow, "status">): boolean =>
  row.version === asked.version && row.token_generation === asked.token_generation && isUsable(row.status)

/** Returns the refresh token after a renewal. If the server returns none, the old one remains in use (RFC 6749, section 6). */
export const refreshTokenAfter = (
  given: Redacted.Redacted | undefined,
  { refreshToken }: { readonly refreshToken?: string | undefined }
): Redacted.Redacted | undefined => given ?? (refreshToken === undefined ? undefined : Redacted.make(refreshToken))
