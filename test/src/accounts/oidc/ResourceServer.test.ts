import { afterAll, expect } from "bun:test"
import { Effect, Redacted } from "effect"
import * as oauth from "oauth4webapi"
import * as client from "openid-client"
import { CapsuleClients } from "../../../../actors/access/issuer/CapsuleClients.ts"
import { namedRun } from "../../../support/NamedIds.ts"
import { suite } from "../../../support/Effect.ts"
import { capsuleOrigin } from "./support/CapsuleFixture.ts"
import { TestIssuer } from "./support/IssuerFixture.ts"
import { servedIssuer } from "./support/ServedIssuer.ts"
import { served } from "./support/WorkspaceRules.ts"

const tests = suite(servedIssuer)
afterAll(tests.dispose)

const secret = "b3".repeat(32)

/** Creates a Capsule whose resource server has a secret, and a token for its application. */
const guarded = Effect.gen(function* () {
  const capsule = yield* served
  const clients = yield* CapsuleClients
  const plan = namedRun(`${capsule.name}guarded`)
  yield* clients.pin(plan, capsule.capsuleId, capsuleOrigin)
  yield* clients.register(plan, capsule.capsuleId, Redacted.make(secret))
  return { ...capsule, ...(yield* TestIssuer), tokens: yield* capsule.signIn }
})

tests.live("openid-client introspects a token as a Capsule's resource server, which has no other permission", () =>
  Effect.gen(function* () {
    const { clientId, issuer, subject, tokens } = yield* guarded
    const execute = [client.allowInsecureRequests]
    const config = yield* Effect.promise(() =>
      client.discovery(new URL(issuer), clientId, {}, client.ClientSecretBasic(secret), { execute })
    )
    const seen = yield* Effect.promise(() => client.tokenIntrospection(config, tokens.access_token))
    expect(seen).toMatchObject({ active: true, sub: subject, client_id: clientId })
    const refresh = yield* Effect.promise(() =>
      client.refreshTokenGrant(config, tokens.refresh_token ?? "").catch((error: unknown) => error)
    )
    expect(refresh).toMatchObject({ status: 401 })
  })
)

tests.live("oauth4webapi introspects a token with the resource server's secret in the form", () =>
  Effect.gen(function* () {
    const { clientId, issuer, tokens } = yield* guarded
    const insecure = { [oauth.allowInsecureRequests]: true }
    const address = new URL(issuer)
    const answer = yield* Effect.promise(async () => {
      const server = await oauth.processDiscoveryResponse(address, await oauth.discoveryRequest(address, insecure))
      const asked = { client_id: clientId }
      const authentication = oauth.ClientSecretPost(secret)
      const response = await oauth.introspectionRequest(server, asked, authentication, tokens.access_token, insecure)
      return oauth.processIntrospectionResponse(server, asked, response)
    })
    expect(answer.active).toBe(true)
  })
)
