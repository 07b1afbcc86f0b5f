import { Duration } from "effect"
import type { GrantedTokens } from "../../../runner/oauth/AuthorizationServer.ts"
import type { StoredOAuth } from "./StoredOAuth.ts"
import type { DeclaredHelper } from "./OAuthHelpers.ts"

/** Assumed lifetime of an access token if the server issues a refresh token but does not specify a lifetime. */
const assumedLifetime = Duration.hours(1)
/**
 * A token is renewed before use if less than this, or less than half of its lifetime, remains, so that a Run does not outlive its
 * token.
 */
const longestNotice = Duration.minutes(30)
/** Minimum remaining lifetime of a token that may be used. */
const shortestUse = Duration.minutes(1)

const after = (at: string, millis: number) => new Date(Date.parse(at) + millis).toISOString()

/** Creates the metadata to record about new tokens. Contains no token. */
export const storedOAuth = (
  {
    helper,
    server
  }: {
    readonly helper: Pick<DeclaredHelper["helper"], "id" | "scopes">
    readonly server: Pick<DeclaredHelper["server"], "issuer">
  },
  { expiresIn, refreshToken, scopes }: Pick<GrantedTokens, "expiresIn" | "refreshToken" | "scopes">,
  at: string
): StoredOAuth => {
  const lifetime =
    expiresIn === undefined
      ? refreshToken === undefined
        ? undefined
        : Duration.toMillis(assumedLifetime)
      : Math.min(expiresIn, 10 * 365 * 86_400) * 1000
  return {
    helperId: helper.id,
    issuer: server.issuer,
    scopes: scopes ?? helper.scopes,
    refreshable: refreshToken !== undefined,
    grantedAt: at,
    ...(lifetime === undefined ? {} : { accessTokenExpiresAt: after(at, lifetime) })
  }
}

const remaining = (expiresAt: string, at: string) => Date.parse(expiresAt) - Date.parse(at)

/** Returns true if the access token should be renewed before a Run receives it. */
export const isDue = ({ accessTokenExpiresAt, grantedAt, refreshable }: StoredOAuth, at: string): boolean => {
  if (!refreshable || accessTokenExpiresAt === undefined) return false
  const half = remaining(accessTokenExpiresAt, grantedAt) / 2
  return remaining(accessTokenExpiresAt, at) < Math.min(half, Duration.toMillis(longestNotice))
}

/** Returns true if the access token remains valid for long enough to be used before it is renewed. */
export const stillServes = ({ accessTokenExpiresAt }: StoredOAuth, at: string): boolean =>
  accessTokenExpiresAt === undefined || remaining(accessTokenExpiresAt, at) > Duration.toMillis(shortestUse)
