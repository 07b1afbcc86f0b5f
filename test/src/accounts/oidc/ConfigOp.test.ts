import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { ApiError } from "../../../../schema/errors/ApiError.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { SigningKeys } from "../../../../actors/access/issuer/SigningKeys.ts"
import { suite } from "../../../support/Effect.ts"
import { someone } from "./support/Someone.ts"
import { authorization, json, send, signInTo } from "./support/Browser.ts"
import { idTokenClaims, keySet } from "./support/IdTokens.ts"
import { defaultIssuer, issuerLayer } from "./support/IssuerFixture.ts"
import { TestTime } from "./support/TestTime.ts"

const tests = suite(issuerLayer())
afterAll(tests.dispose)

const strings = (value: unknown): ReadonlyArray<string> => (Array.isArray(value) ? value.map(String) : [])

describe("oidcc-config-certification-test-plan", () => {
  tests.live("oidcc-discovery-endpoint-verification", () =>
    Effect.gen(function* () {
      const response = yield* send("/.well-known/openid-configuration")
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toStartWith("application/json")
      expect(response.headers.get("access-control-allow-origin")).toBe("*")
      const metadata = yield* json(response)
      expect(metadata["issuer"]).toBe(defaultIssuer)
      for (const name of [
        "authorization_endpoint",
        "token_endpoint",
        "userinfo_endpoint",
        "jwks_uri",
        "revocation_endpoint",
        "introspection_endpoint",
        "end_session_endpoint",
        "device_authorization_endpoint"
      ]) {
        expect(String(metadata[name])).toStartWith(`${defaultIssuer}/`)
      }
      expect(metadata["response_types_supported"]).toEqual(["code"])
      expect(strings(metadata["grant_types_supported"])).toContain("refresh_token")
      expect(strings(metadata["grant_types_supported"])).not.toContain("implicit")
      expect(metadata["subject_types_supported"]).toEqual(["public"])
      expect(strings(metadata["id_token_signing_alg_values_supported"])).toContain("RS256")
      expect(strings(metadata["scopes_supported"])).toContain("openid")
      for (const scope of strings(metadata["scopes_supported"])) expect(scope).toMatch(/^[\x21\x23-\x5b\x5d-\x7e]+$/)
      for (const tag of strings(metadata["ui_locales_supported"])) expect(Intl.getCanonicalLocales(tag)).toEqual([tag])
      expect(metadata["code_challenge_methods_supported"]).toEqual(["S256"])
      expect(metadata["authorization_response_iss_parameter_supported"]).toBe(true)
      expect(strings(metadata["claims_supported"])).toContain("sub")
      expect(yield* json(yield* send("/.well-known/oauth-authorization-server"))).toEqual(metadata)
    })
  )

  tests.live("the key set passes oidcc-discovery-endpoint-verification, a module of the conformance suite", () =>
    Effect.gen(function* () {
      const keys = yield* keySet
      expect(keys.length).toBeGreaterThanOrEqual(2)
      expect(new Set(keys.map(({ kid }) => kid)).size).toBe(keys.length)
      for (const key of keys) {
        for (const member of ["d", "p", "q", "dp", "dq", "qi", "oth", "k"]) expect(member in key).toBe(false)
        expect(key["use"]).toBe("sig")
        if (key["kty"] === "RSA") expect(Buffer.from(key["n"] ?? "", "base64url").length).toBeGreaterThanOrEqual(256)
      }
      expect(keys.map(({ alg }) => alg)).toEqual(expect.arrayContaining(["RS256", "ES256"]))
    })
  )

  tests.live("a spoofed Host header does not change any address", () =>
    Effect.gen(function* () {
      const headers = { host: "evil.example.com", "x-forwarded-host": "evil.example.com" }
      const metadata = yield* json(yield* send("/.well-known/openid-configuration", { headers }))
      expect(JSON.stringify(metadata)).not.toContain("evil")
    })
  )

  tests.live("another site may read keys and metadata, but never start an authorization", () =>
    Effect.gen(function* () {
      const headers = { origin: "https://spa.example.com", "access-control-request-method": "POST" }
      const allowed = yield* send("/oauth/token", { method: "OPTIONS", headers })
      expect(allowed.status).toBe(204)
      expect(allowed.headers.get("access-control-allow-credentials")).toBeNull()
      const answer = yield* send(`/oauth/authorize?${new URLSearchParams(authorization()).toString()}`, { headers })
      expect(answer.headers.get("access-control-allow-origin")).toBeNull()
    })
  )
})

describe("signing keys", () => {
  tests.live("signing keys are published before their first use, and until their last signature has expired", () =>
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const time = yield* TestTime
      const { cookie } = yield* someone
      const before = yield* keySet
      const old = yield* signInTo({}, cookie)

      // The issuer does not sign with the next key yet, because clients may not have fetched that key.
      yield* time.advance("11 minutes")
      const first = yield* keys.rotate(serviceContext)
      expect(before.map(({ kid }) => kid)).toEqual(expect.arrayContaining([...first.activeKeyIds]))
      const early = yield* Effect.flip(keys.rotate(serviceContext))
      expect(early).toBeInstanceOf(ApiError)
      expect(early.code).toBe("failed_precondition")

      const current = yield* signInTo({}, cookie)
      yield* idTokenClaims(current.id_token)
      // A token signed before the rotation still verifies, because later key sets contain the old key.
      const after = yield* keySet
      expect(after.map(({ kid }) => kid)).toEqual(expect.arrayContaining(before.map(({ kid }) => kid)))
      expect(old.id_token).not.toBe(current.id_token)

      yield* time.advance("2 days")
      const later = yield* keySet
      expect(later.length).toBe(4)
    })
  )

  tests.live("leaked signing keys are removed from the key set immediately", () =>
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const { cookie } = yield* someone
      const { id_token = "" } = yield* signInTo({}, cookie)
      const before = yield* keySet
      const { activeKeyIds } = yield* keys.rotate(serviceContext, { compromised: true })
      const after = yield* keySet
      expect(after.length).toBe(4)
      expect(after.filter(({ kid }) => before.some((known) => known["kid"] === kid)).length).toBe(2)
      expect(after.map(({ kid }) => kid)).toEqual(expect.arrayContaining([...activeKeyIds]))
      expect(yield* keys.verify(id_token)).toBeUndefined()
    })
  )
})
