import { expect, test } from "bun:test"
import { Redacted } from "effect"
import type { StoredOAuth } from "../../../../actors/inputs/connection/StoredOAuth.ts"
import {
  refreshTokenAfter,
  renewalMeans,
  renewalNeed,
  renewalSetback,
  stopsUse,
  takesTokens
} from "../../../../actors/inputs/connection/TokenRenewalDecision.ts"
import { OAuthHelperId } from "../../../../schema/records/OAuthHelper.ts"

const at = "2026-01-01T01:00:00.000Z"
const fresh: StoredOAuth = {
  helperId: OAuthHelperId.make("cloud"),
  issuer: "https://id.example.com",
  scopes: [],
  refreshable: true,
  grantedAt: "2026-01-01T00:59:00.000Z",
  accessTokenExpiresAt: "2026-01-01T09:00:00.000Z"
}
const ending: StoredOAuth = {
  ...fresh,
  accessTokenExpiresAt: "2026-01-01T01:00:30.000Z",
  grantedAt: "2026-01-01T00:00:00.000Z"
}

const rowOf = (oauth: StoredOAuth | undefined, more: object = {}) => ({
  status: "verified" as const,
  expires_at: null,
  oauth: oauth === undefined ? null : JSON.stringify(oauth),
  oauth_fault: null,
  ...more
})
const fault = JSON.stringify({ code: "refresh_refused", message: "It was refused.", at })

test.each([
  ["no Connection", undefined, "none"],
  ["a Connection that no helper made", rowOf(undefined), "none"],
  ["a fresh token", rowOf(fresh), "none"],
  ["a token about to end", rowOf(ending), "renew"],
  ["a renewal without a recorded end", rowOf({ ...fresh, renewingSince: at }), "renew"],
  ["a revoked Connection", rowOf(ending, { status: "revoked" }), "none"],
  ["an unconfirmed Connection", rowOf(ending, { status: "unconfirmed" }), "none"],
  ["an expired Connection", rowOf(ending, { expires_at: at }), "none"],
  ["a refused Connection", rowOf(ending, { status: "error", oauth_fault: fault }), "refused"]
] as const)("%s", (_name, row, kind) => {
  expect(renewalNeed(row, at).kind).toBe(kind)
})

test("a rejected authorization reports the server's reason, if one was recorded", () => {
  expect(renewalNeed(rowOf(ending, { status: "error", oauth_fault: fault }), at)).toEqual({
    kind: "refused",
    why: "It was refused."
  })
  expect(renewalNeed(rowOf(ending, { status: "error" }), at)).toEqual({ kind: "refused", why: undefined })
})

test("a refresh token is sent only to the server that issued it", () => {
  const tokens = Redacted.make({ accessToken: "a", refreshToken: "r" })
  const declared = { server: { issuer: fresh.issuer } }
  const means = renewalMeans(fresh, tokens, declared)
  expect(means === undefined ? undefined : Redacted.value(means.refreshToken)).toBe("r")
  expect(renewalMeans(fresh, tokens, { server: { issuer: "https://other.example.com" } })).toBeUndefined()
  expect(renewalMeans(fresh, tokens, undefined)).toBeUndefined()
  expect(renewalMeans(fresh, undefined, declared)).toBeUndefined()
  expect(renewalMeans(fresh, Redacted.make({ accessToken: "a" }), declared)).toBeUndefined()
})

test.each([
  ["unanswered", undefined, false, false],
  ["invalid", undefined, false, false],
  ["unreachable", undefined, false, true],
  ["unusable", undefined, false, true],
  ["refused", "server_error", false, true],
  ["refused", "invalid_grant", true, true]
] as const)(
  "a renewal that fails as %s (%s) is permanent: %p, and had no effect: %p",
  (reason, error, isLasting, hadNoEffect) => {
    const failure = { reason, message: "No.", ...(error === undefined ? {} : { error }) }
    const setback = renewalSetback("Cloud", {}, failure)
    expect({ isLasting: setback.isLasting, hadNoEffect: setback.hadNoEffect }).toEqual({ isLasting, hadNoEffect })
    expect(setback.message).toContain(isLasting ? "has to connect it again" : "could not be renewed")
  }
)

test("the error for a renewal that is rejected after an interrupted attempt mentions the interruption", () => {
  const failure = { reason: "refused", error: "invalid_grant", message: "No." } as const
  expect(renewalSetback("Cloud", { renewingSince: at }, failure).message).toContain("was interrupted")
  expect(renewalSetback("Cloud", {}, failure).message).not.toContain("was interrupted")
})

test("a failed renewal blocks the Connection if the failure is permanent or the current token is about to expire", () => {
  expect([stopsUse(fresh, false, at), stopsUse(fresh, true, at)]).toEqual([false, true])
  expect(stopsUse(ending, false, at)).toBe(true)
})

test("new tokens are stored only for the Connection that requested them", () => {
  const row = { version: 2, token_generation: 3, status: "verified" } as const
  expect(takesTokens(row, row)).toBe(true)
  expect(takesTokens(row, { ...row, status: "pending" })).toBe(true)
  expect(takesTokens(row, { ...row, version: 3 })).toBe(false)
  expect(takesTokens(row, { ...row, token_generation: 4 })).toBe(false)
  expect(takesTokens(row, { ...row, status: "revoked" })).toBe(false)
  expect(takesTokens(row, { ...row, status: "error" })).toBe(false)
})

test("a Connection keeps its old refresh token if the server returns none", () => {
  const value = (token: Redacted.Redacted | undefined) => (token === undefined ? undefined : Redacted.value(token))
  expect(value(refreshTokenAfter(Redacted.make("new"), { refreshToken: "old" }))).toBe("new")
  expect(value(refreshTokenAfter(undefined, { refreshToken: "old" }))).toBe("old")
  expect(value(refreshTokenAfter(undefined, {}))).toBeUndefined()
})
