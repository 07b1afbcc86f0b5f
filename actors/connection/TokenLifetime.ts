import { Duration } from "effect"
import type { GrantedTokens } from "../../runner/oauth/AuthorizationServer.ts"
import type { StoredOAuth } from "./ConnectionTokens.ts"
import type { DeclaredHelper } from "./OAuthHelpers.ts"

/** Where a server gives a refresh token and does not say how long the access token lasts. */
const assumedLifetime = Duration.hours(1)
/** A Run should not outlive its token: one with less than that, or than half of its life, is renewed first. */
const longestNotice = Duration.minutes(30)
/** Less than that is as good as nothing. */
const shortestUse = Duration.minutes(1)

const after = (at: string, millis: number) => new Date(Date.parse(at) + millis).toISOString()

/** What is kept of tokens that were just given, beside themselves. */
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

/** Whether the access token is to be renewed before it is given to a Run. */
export const isDue = ({ accessTokenExpiresAt, grantedAt, refreshable }: StoredOAuth, at: string): boolean => {
  if (!refreshable || accessTokenExpiresAt === undefined) return false
  const half = remaining(accessTokenExpiresAt, grantedAt) / 2
  return remaining(accessTokenExpiresAt, at) < Math.min(half, Duration.toMillis(longestNotice))
}

/** Whether the access token is good for a while without being renewed. */
export const stillServes = ({ accessTokenExpiresAt }: StoredOAuth, at: string): boolean =>
  accessTokenExpiresAt === undefined || remaining(accessTokenExpiresAt, at) > Duration.toMillis(shortestUse)
