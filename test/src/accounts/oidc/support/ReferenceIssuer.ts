import { createServer } from "node:http"
import { Context, Effect, Layer } from "effect"
import { exportJWK } from "jose"
import ReferenceProvider from "oidc-provider"
import { signingKeyPair } from "../../support/SigningKeyPair.ts"
import { callback, secret } from "./IssuerFixture.ts"

const grants = ["authorization_code", "refresh_token"]

const clients = [
  {
    client_id: "basic",
    client_secret: secret,
    redirect_uris: [callback, `${callback}?tenant=1`],
    post_logout_redirect_uris: ["https://rp.example.com/bye"],
    grant_types: grants
  },
  { client_id: "spa", redirect_uris: [callback], token_endpoint_auth_method: "none", grant_types: grants },
  {
    client_id: "desktop",
    application_type: "native",
    redirect_uris: ["http://127.0.0.1/cb", "com.example.app:/cb"],
    token_endpoint_auth_method: "none",
    grant_types: grants
  },
  {
    client_id: "svc-cli",
    application_type: "native",
    redirect_uris: [],
    response_types: [],
    token_endpoint_auth_method: "none",
    grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
  }
]

const routes = {
  authorization: "/oauth/authorize",
  token: "/oauth/token",
  userinfo: "/oauth/userinfo",
  jwks: "/oauth/jwks",
  revocation: "/oauth/revoke",
  introspection: "/oauth/introspect",
  end_session: "/oauth/logout",
  device_authorization: "/oauth/device_authorization",
  code_verification: "/oauth/device"
}

/** Runs an independent implementation on loopback, with the same clients and paths. */
export class ReferenceIssuer extends Context.Service<ReferenceIssuer, { readonly issuer: string }>()(
  "test/oidc/ReferenceIssuer"
) {
  static readonly layer = Layer.effect(
    ReferenceIssuer,
    Effect.gen(function* () {
      const pair = yield* signingKeyPair
      const key = yield* Effect.promise(() => exportJWK(pair.privateKey))
      let handle: ReturnType<ReferenceProvider["callback"]> = (_, response) => response.end()
      const server = yield* Effect.acquireRelease(
        Effect.callback<ReturnType<typeof createServer>>((resume) => {
          const started = createServer((request, response) => handle(request, response))
          started.listen(0, "127.0.0.1", () => resume(Effect.succeed(started)))
        }),
        (started) =>
          Effect.sync(() => {
            started.closeAllConnections()
            started.close()
          })
      )
      const address = server.address()
      const issuer = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`
      const provider = new ReferenceProvider(issuer, {
        clients,
        routes,
        jwks: { keys: [{ ...key, alg: "RS256", use: "sig" }] },
        cookies: { keys: ["only-for-this-test"] },
        scopes: ["openid", "profile", "email", "offline_access"],
        pkce: { required: (_: unknown, client: { readonly clientId: string }) => client.clientId !== "basic" },
        features: {
          claimsParameter: { enabled: true },
          revocation: { enabled: true },
          introspection: { enabled: true },
          deviceFlow: { enabled: true },
          rpInitiatedLogout: { enabled: true }
        },
        interactions: { url: () => "/interaction" }
      })
      handle = provider.callback()
      return { issuer }
    })
  )
}
