import { expect, test } from "bun:test"
import { Option, Schema } from "effect"
import { StoredToken, usableToken } from "../../../../actors/access/account/TokenAuthority.ts"

const at = "2026-01-01T00:00:00.000Z"
const workspaceId = "ws_00000000000000000000000a"

/** The token's row as the database returns it. */
const row = (different: object = {}) =>
  Schema.decodeUnknownSync(StoredToken)({
    token_id: "pat_00000000000000000000000a",
    subject: "usr_00000000000000000000000a",
    name: "ci",
    prefix: "svcp_abcd",
    scopes: '["read"]',
    workspace_id: null,
    created_at: at,
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    user_status: "active",
    elsewhere: 0,
    ...different
  })

test("a token of an active account acts for its subject, within its scopes and Workspace", () => {
  expect(usableToken(row())).toEqual(
    Option.some({
      tokenId: row().token_id,
      principal: { credential: "token", credentialId: row().token_id, subject: row().subject, scopes: ["read"] },
      expiresAt: Number.POSITIVE_INFINITY,
      lastUsedAt: 0
    })
  )
  const bound = Option.getOrThrow(usableToken(row({ workspace_id: workspaceId, expires_at: at, last_used_at: at })))
  expect<string | undefined>(bound.principal.boundWorkspaceId).toBe(workspaceId)
  expect([bound.expiresAt, bound.lastUsedAt]).toEqual([Date.parse(at), Date.parse(at)])
})

test.each([
  ["is revoked", { revoked_at: at }],
  ["is of a suspended account", { user_status: "suspended" }],
  ["is known to another store", { elsewhere: 1 }]
])("a token that %s is refused", (_name, different) => {
  expect(Option.isNone(usableToken(row(different)))).toBe(true)
})
