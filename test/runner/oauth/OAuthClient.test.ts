import { expect } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { AddressResolver } from "../../../runner/git/AddressResolver.ts"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import type { AuthorizationServer } from "../../../runner/oauth/AuthorizationServer.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import { it } from "../../support/Effect.ts"
import { pliantServer } from "../../support/PliantAuthorizationServer.ts"

const at = (issuer: string, changes: Partial<AuthorizationServer> = {}): AuthorizationServer => ({
  issuer,
  metadata: "oauth2",
  endpoints: undefined,
  pkce: "advertised",
  clientId: "svc",
  clientSecret: Redacted.make("a-secret"),
  secretMethod: undefined,
  ...changes
})

const asked = {
  redirectUri: "https://svc.example.com/callback",
  state: "state",
  codeVerifier: Redacted.make("v".repeat(43)),
  scopes: ["a", "b"],
  parameters: {}
}

const client = (allowOrigins: ReadonlyArray<string>, addresses: ReadonlyArray<string> = ["127.0.0.1"]) =>
  OAuthClient.layer.pipe(
    Layer.provide(GitPolicy.layerWith({ allowOrigins })),
    Layer.provideMerge(Layer.succeed(AddressResolver, { resolve: () => Effect.succeed(addresses) }))
  )

const startAt = (server: AuthorizationServer) =>
  Effect.flatMap(OAuthClient, ({ authorizationUrl }) => authorizationUrl(server, asked))

/** Returns the reason why the client sends no request to this server. */
const refusal = (server: AuthorizationServer, allowOrigins: ReadonlyArray<string>, addresses?: ReadonlyArray<string>) =>
  Effect.flip(startAt(server)).pipe(
    Effect.map(({ message, reason }) => `${reason}: ${message}`),
    Effect.provide(Layer.fresh(client(allowOrigins, addresses)))
  )

it.live(
  "an OAuth client rejects metadata that is from another issuer, does not declare PKCE, or is behind a redirect",
  () =>
    Effect.gen(function* () {
      const { issuer, state } = yield* pliantServer
      const told = (metadata: Readonly<Record<string, unknown>>) => {
        state.metadata = metadata
        return refusal(at(issuer), [issuer])
      }
      expect(yield* told({ issuer: "https://evil.example" })).toContain("unusable")
      expect(yield* told({ issuer: `${issuer}/tenant` })).toContain("unusable")
      expect(yield* told({ code_challenge_methods_supported: ["plain"] })).toContain("PKCE")
      expect(yield* told({ code_challenge_methods_supported: undefined })).toContain("PKCE")
      expect(yield* told({ authorization_endpoint: "javascript:alert(1)" })).toContain("no https address")
      expect(yield* told({ authorization_endpoint: "http://elsewhere.example/authorize" })).toContain(
        "no https address"
      )
      // If the operator declares that the server supports PKCE although its metadata does not mention it, svc sends a
      // challenge, and never sends the verifier in plain text.
      state.metadata = { code_challenge_methods_supported: undefined }
      const url = yield* startAt(at(issuer, { pkce: "sent" })).pipe(Effect.provide(client([issuer])))
      expect(new URL(url).searchParams.get("code_challenge_method")).toBe("S256")
      expect(url).not.toContain(Redacted.value(asked.codeVerifier))
    })
)

it.live("an OAuth client accepts plain http and private addresses only for origins that the operator allows", () =>
  Effect.gen(function* () {
    const { issuer, state } = yield* pliantServer
    expect(yield* refusal(at(issuer), [])).toContain("no https address that is allowed")
    expect(yield* refusal(at("https://id.example.com"), [], ["10.0.0.7"])).toContain("not public")
    expect(yield* refusal(at("https://id.example.com"), [], ["93.184.216.34", "169.254.169.254"])).toContain(
      "not public"
    )
    expect(state.reads).toBe(0)
    // The rule also applies to the addresses in the metadata.
    state.metadata = {
      token_endpoint: "http://169.254.169.254/token",
      revocation_endpoint: "http://127.0.0.1:1/revoke"
    }
    yield* Effect.gen(function* () {
      const { redeem, refresh, revoke } = yield* OAuthClient
      const server = at(issuer)
      const search = `?code=c&state=state&iss=${encodeURIComponent(issuer)}`
      for (const failed of [
        Effect.asVoid(redeem(server, asked, search)),
        Effect.asVoid(refresh(server, Redacted.make("r"))),
        Effect.asVoid(revoke(server, Redacted.make("r"), "refresh_token"))
      ]) {
        expect((yield* Effect.flip(failed)).reason).toBe("unusable")
      }
    }).pipe(Effect.provide(client([issuer])))
    expect(state.forms).toEqual([])
  })
)

it.live(
  "an OAuth client distinguishes a server that is unreachable or cannot revoke from a server that rejects the request",
  () =>
    Effect.gen(function* () {
      const { issuer, state } = yield* pliantServer
      expect(yield* refusal(at("http://127.0.0.1:1"), ["http://127.0.0.1:1"])).toContain("unreachable")
      state.metadata = { revocation_endpoint: undefined }
      yield* Effect.gen(function* () {
        const { refresh, revoke } = yield* OAuthClient
        expect(yield* revoke(at(issuer), Redacted.make("r"), "refresh_token")).toBe("unsupported")
        const refused = yield* Effect.flip(refresh(at(issuer), Redacted.make("nobody-knows-this-token")))
        expect([refused.reason, refused.error]).toEqual(["refused", "invalid_grant"])
        state.misbehaves = "lost"
        expect((yield* Effect.flip(refresh(at(issuer), Redacted.make("r")))).reason).toBe("unanswered")
        expect(refused.message).not.toContain("nobody-knows")
      }).pipe(Effect.provide(client([issuer])))
      const [form] = state.forms
      expect([form?.get("client_id"), form?.get("client_secret")]).toEqual([null, null])
    })
)
