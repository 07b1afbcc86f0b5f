import { expect, test } from "bun:test"
import {
  answererProblem,
  authorityProblem,
  firstExpiry,
  nextExpiry,
  renewable,
  serverProblem
} from "../../../../actors/inputs/connection/AuthorizationProblem.ts"
import type { StoredOAuth } from "../../../../actors/inputs/connection/StoredOAuth.ts"
import { ApiError } from "../../../../schema/errors/ApiError.ts"
import { OAuthHelperId } from "../../../../schema/records/OAuthHelper.ts"

const open = { subject: "sub_a", sessionId: "ses_a", helperId: "cloud", issuer: "https://id.example.com" }
const server = { issuer: open.issuer }

test("an authorization can be completed only by the person and session that started it", () => {
  expect(answererProblem(open, open)).toBeUndefined()
  expect(answererProblem(open, { ...open, subject: "sub_b" })?.code).toBe("permission_denied")
  expect(answererProblem(open, { ...open, subject: undefined })?.code).toBe("permission_denied")
  expect(answererProblem(open, { ...open, sessionId: "ses_b" })?.code).toBe("permission_denied")
})

test("an authorization response is accepted only from the server that the helper currently declares", () => {
  expect(serverProblem(open, "cloud", { server })).toBeUndefined()
  expect(serverProblem(open, "other", { server })?.message).toContain("address of a different helper")
  const changed = serverProblem(open, "cloud", { server: { issuer: "https://new.example.com" } })
  expect([changed?.code, changed?.message]).toEqual([
    "permission_denied",
    expect.stringContaining("changed the helper cloud")
  ])
})

test.each([
  [true, true, undefined],
  [false, true, "session has ended"],
  [false, false, "session has ended"],
  [true, false, "not an owner or admin"]
])(
  "an authorization needs an open session and a manager: session open %p, manager %p",
  (isSessionOpen, isManager, words) => {
    const problem = authorityProblem({ isSessionOpen, isManager })
    if (words === undefined) expect(problem).toBeUndefined()
    else expect([problem?.code, problem?.message]).toEqual(["permission_denied", expect.stringContaining(words)])
  }
)

const former: StoredOAuth = {
  helperId: OAuthHelperId.make("cloud"),
  issuer: open.issuer,
  scopes: [],
  refreshable: false,
  grantedAt: "2026-01-01T00:00:00.000Z",
  accessTokenExpiresAt: "2026-01-02T00:00:00.000Z"
}

test("new tokens are stored only for an active Connection of the same helper", () => {
  const row = { status: "verified", oauth: JSON.stringify(former) } as const
  expect(renewable(row)).toEqual({ row, former })
  expect(renewable({ ...row, status: "error" })).toHaveProperty("former")
  for (const ended of [
    undefined,
    { ...row, oauth: null },
    { ...row, status: "revoked" as const },
    { ...row, status: "unconfirmed" as const }
  ]) {
    expect(renewable(ended)).toBeInstanceOf(ApiError)
  }
})

const soon = "2026-01-05T00:00:00.000Z"
const later = "2026-02-01T00:00:00.000Z"
const granted = { ...former, accessTokenExpiresAt: soon }
const renewing = { ...granted, refreshable: true }

test("a Connection expires with its token if the token cannot be renewed, or earlier if a person chose an earlier date", () => {
  expect(firstExpiry({}, renewing)).toBeUndefined()
  expect(firstExpiry({ expiresAt: later }, renewing)).toBe(later)
  expect(firstExpiry({}, granted)).toBe(soon)
  expect(firstExpiry({ expiresAt: later }, granted)).toBe(soon)
  expect(firstExpiry({ expiresAt: former.grantedAt }, granted)).toBe(former.grantedAt)
})

test("when a Connection gets new tokens, it keeps an expiry date that a person chose, but not the expiry of the old token", () => {
  const chosen = { expires_at: later }
  const ofToken = { expires_at: "2026-01-02T00:00:00.000Z" }
  expect(nextExpiry({}, ofToken, former, renewing)).toBeNull()
  expect(nextExpiry({}, chosen, former, renewing)).toBe(later)
  expect(nextExpiry({}, { expires_at: null }, former, renewing)).toBeNull()
  expect(nextExpiry({ expiresAt: soon }, chosen, former, renewing)).toBe(soon)
  expect(nextExpiry({}, chosen, former, granted)).toBe(soon)
  expect(nextExpiry({}, ofToken, former, granted)).toBe(soon)
})
