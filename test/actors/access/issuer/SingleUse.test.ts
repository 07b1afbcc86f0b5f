import { afterAll, expect } from "bun:test"
import { Duration, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { AuthorizationCodes } from "../../../../actors/access/issuer/AuthorizationCodes.ts"
import { DeviceCodes } from "../../../../actors/access/issuer/DeviceCodes.ts"
import { IssuerSettings } from "../../../../actors/access/issuer/IssuerSettings.ts"
import { RefreshTokens } from "../../../../actors/access/issuer/RefreshTokens.ts"
import { seed, world } from "../../../src/http/support/World.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"

const tests = suite(
  Layer.mergeAll(AuthorizationCodes.layer, RefreshTokens.layer, DeviceCodes.layer).pipe(
    Layer.provideMerge(
      Layer.succeed(IssuerSettings, { issuer: "https://svc.example.test", refreshReuseGrace: Duration.zero })
    ),
    Layer.provideMerge(Layer.effectDiscard(seed)),
    Layer.provideMerge(testVault)
  )
)
afterAll(tests.dispose)

const clientId = "client"
const redirectUri = "https://app.example.test/callback"
const past = "2026-01-01T00:00:00.000Z"
let last = 0

const newGrant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const id = `grant_${++last}`
  const createdAt = new Date().toISOString()
  yield* sql`INSERT INTO oidc_grants ${sql.insert({
    id,
    client_id: clientId,
    subject: world.ada,
    scopes: "[]",
    claims: "[]",
    auth_time: 0,
    created_at: createdAt
  })}`
  return {
    id,
    createdAt,
    clientId,
    subject: world.ada,
    sessionId: undefined,
    workspaceId: undefined,
    scopes: [],
    claims: { userinfo: [], idToken: [] },
    resource: undefined,
    redirectUri: undefined,
    authTime: 0
  }
})

const expire = (table: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE ${sql(table)} SET ${sql.update({ expires_at: past })}`)

const newCode = Effect.gen(function* () {
  const { id: grantId } = yield* newGrant
  const code = yield* (yield* AuthorizationCodes).issue({
    grantId,
    redirectUri,
    codeChallenge: undefined,
    nonce: undefined
  })
  return { clientId, code, redirectUri, verifier: undefined }
})

tests.live(
  "an authorization code can be redeemed once, and a second attempt is distinguished from an unknown code",
  () =>
    Effect.gen(function* () {
      const codes = yield* AuthorizationCodes
      const presented = yield* newCode
      expect((yield* codes.redeem({ ...presented, clientId: "other" })).kind).toBe("refused")
      expect((yield* codes.redeem({ ...presented, redirectUri: `${redirectUri}/other` })).kind).toBe("refused")
      expect((yield* codes.redeem({ ...presented, verifier: "v".repeat(43) })).kind).toBe("refused")
      expect((yield* codes.redeem(presented)).kind).toBe("redeemed")
      expect((yield* codes.redeem(presented)).kind).toBe("reused")
      expect((yield* codes.redeem({ ...presented, code: Redacted.make("svcc_unknown") })).kind).toBe("refused")
    })
)

tests.live("an expired authorization code is refused", () =>
  Effect.gen(function* () {
    const presented = yield* newCode
    yield* expire("oidc_codes")
    expect((yield* (yield* AuthorizationCodes).redeem(presented)).kind).toBe("refused")
  })
)

tests.live("a refresh token can be used once, and only by its client", () =>
  Effect.gen(function* () {
    const tokens = yield* RefreshTokens
    const grant = yield* newGrant
    const first = yield* tokens.begin(grant)
    expect((yield* tokens.lookup("other", first)).kind).toBe("unknown")
    expect((yield* tokens.lookup(clientId, first)).kind).toBe("good")
    const second = yield* tokens.rotate(grant, first)
    expect((yield* tokens.lookup(clientId, first)).kind).toBe("reused")
    expect((yield* tokens.lookup(clientId, second)).kind).toBe("good")
    // A rotation that loses the race does not store a second successor.
    const lost = yield* tokens.rotate(grant, first)
    expect((yield* tokens.lookup(clientId, lost)).kind).toBe("unknown")
  })
)

tests.live("an expired refresh token is treated as unknown", () =>
  Effect.gen(function* () {
    const tokens = yield* RefreshTokens
    const token = yield* tokens.begin(yield* newGrant)
    yield* expire("oidc_refresh_tokens")
    expect((yield* tokens.lookup(clientId, token)).kind).toBe("unknown")
  })
)

const newDevice = Effect.gen(function* () {
  const devices = yield* DeviceCodes
  const { deviceCode, userCode } = yield* devices.begin({
    clientId,
    scopes: [],
    workspaceId: undefined,
    resource: undefined
  })
  return { deviceCode, userCode, id: (yield* devices.waiting(userCode))?.id ?? "" }
})

tests.live("a device request can be settled only once, and it yields tokens only once", () =>
  Effect.gen(function* () {
    const devices = yield* DeviceCodes
    const { deviceCode, id, userCode } = yield* newDevice
    const grant = yield* newGrant
    expect(yield* devices.settle(id, grant.id)).toBe(true)
    expect(yield* devices.settle(id, undefined)).toBe(false)
    expect(yield* devices.waiting(userCode)).toBeUndefined()
    expect((yield* devices.poll("other", deviceCode)).kind).toBe("unknown")
    expect((yield* devices.poll(clientId, deviceCode)).kind).toBe("approved")
    yield* devices.markUsed(deviceCode)
    expect((yield* devices.poll(clientId, deviceCode)).kind).toBe("used")
  })
)

tests.live("an expired device request is not shown, cannot be settled, and yields no tokens", () =>
  Effect.gen(function* () {
    const devices = yield* DeviceCodes
    const { deviceCode, id, userCode } = yield* newDevice
    yield* expire("oidc_device_codes")
    expect(yield* devices.waiting(userCode)).toBeUndefined()
    expect(yield* devices.settle(id, (yield* newGrant).id)).toBe(false)
    expect((yield* devices.poll(clientId, deviceCode)).kind).toBe("expired")
  })
)
