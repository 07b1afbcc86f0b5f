import { expect, test } from "bun:test"
import { Redacted } from "effect"
import { isDue, stillServes, storedOAuth } from "../../../../actors/inputs/connection/TokenLifetime.ts"
import { OAuthHelperId } from "../../../../schema/records/OAuthHelper.ts"

const at = "2026-01-01T00:00:00.000Z"
const minutes = (count: number) => new Date(Date.parse(at) + count * 60_000).toISOString()

const declared = {
  helper: { id: OAuthHelperId.make("cloud"), scopes: ["declared"] },
  server: { issuer: "https://id.example.com" }
}
const granted = (expiresIn: number | undefined, refreshToken = true) =>
  storedOAuth(
    declared,
    { expiresIn, refreshToken: refreshToken ? Redacted.make("refresh") : undefined, scopes: undefined },
    at
  )

test("if the server states no lifetime, a token lasts an hour if it can be refreshed, and forever otherwise", () => {
  expect(granted(600).accessTokenExpiresAt).toBe(minutes(10))
  expect(granted(undefined).accessTokenExpiresAt).toBe(minutes(60))
  expect(granted(undefined, false).accessTokenExpiresAt).toBeUndefined()
  expect([granted(600).refreshable, granted(600, false).refreshable]).toEqual([true, false])
  // A lifetime beyond the range of valid dates is limited to ten years.
  expect(granted(Number.MAX_SAFE_INTEGER).accessTokenExpiresAt).toBe("2035-12-30T00:00:00.000Z")
})

test("a token's scopes are the granted scopes, or the requested scopes if the server returns none", () => {
  expect(granted(600).scopes).toEqual(["declared"])
  const fewer = storedOAuth(declared, { expiresIn: 600, refreshToken: undefined, scopes: ["less"] }, at)
  expect(fewer.scopes).toEqual(["less"])
})

test.each([
  ["a day", 86_400, 1410],
  ["an hour", 3600, 30],
  ["ten minutes", 600, 5]
])("a token that lasts %s is renewed within its last half, at most half an hour early", (_name, seconds, due) => {
  const stored = granted(seconds)
  expect(isDue(stored, minutes(due))).toBe(false)
  expect(isDue(stored, minutes(due + 1 / 60_000))).toBe(true)
  expect(isDue(stored, minutes(seconds))).toBe(true)
})

test("a token that cannot be renewed or never expires is never due for renewal", () => {
  expect(isDue(granted(600, false), minutes(9))).toBe(false)
  expect(isDue(granted(undefined, false), minutes(1e6))).toBe(false)
})

test("a token is usable until a minute before it expires", () => {
  expect(stillServes(granted(600), minutes(8.99))).toBe(true)
  expect(stillServes(granted(600), minutes(9))).toBe(false)
  expect(stillServes(granted(undefined, false), minutes(1e6))).toBe(true)
})
