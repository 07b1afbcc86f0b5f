import { afterAll, describe, expect } from "bun:test"
import { Auth, type AuthConfig } from "@auth/core"
import { Effect } from "effect"
import { createRemoteJWKSet, jwtVerify } from "jose"
import * as oauth from "oauth4webapi"
import { InMemoryWebStorage, OidcClient, WebStorageStateStore } from "oidc-client-ts"
import * as client from "openid-client"
import { newWorkspace } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { someone } from "./support/Someone.ts"
import { authorize, bodyText, formFields, press, visit } from "./support/Browser.ts"
import { callback, resource, secret, TestIssuer } from "./support/IssuerFixture.ts"
import { servedIssuer } from "./support/ServedIssuer.ts"

const tests = suite(servedIssuer)
afterAll(tests.dispose)

const promised = <A>(run: () => Promise<A>) => Effect.promise(run)

describe("openid-client", () => {
  const configured = Effect.gen(function* () {
    const { issuer } = yield* TestIssuer
    const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks]
    return yield* promised(() => client.discovery(new URL(issuer), "basic", secret, undefined, { execute }))
  })

  tests.live("openid-client signs in, reads UserInfo, refreshes, introspects, revokes and signs out", () =>
    Effect.gen(function* () {
      const config = yield* configured
      const { cookie, subject } = yield* someone
      const workspace = yield* newWorkspace(subject, { handle: "real-clients" })
      const verifier = client.randomPKCECodeVerifier()
      const state = client.randomState()
      const nonce = client.randomNonce()
      const code_challenge = yield* promised(() => client.calculatePKCECodeChallenge(verifier))
      const url = client.buildAuthorizationUrl(config, {
        redirect_uri: callback,
        scope: "openid profile email offline_access",
        code_challenge,
        code_challenge_method: "S256",
        state,
        nonce,
        max_age: "3600",
        workspace_id: workspace.id
      })
      const { location = "" } = yield* authorize(url.search.slice(1), cookie)
      const tokens = yield* promised(() =>
        client.authorizationCodeGrant(config, new URL(location), {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          maxAge: 3600,
          idTokenExpected: true
        })
      )
      const claims = tokens.claims()
      expect(claims?.sub).toBe(subject)
      expect(claims?.["svc"]).toEqual({ workspace_id: workspace.id, role: "owner" })
      const info = yield* promised(() => client.fetchUserInfo(config, tokens.access_token, subject))
      expect(info["workspace_memberships"]).toEqual([workspace.id])
      const renewed = yield* promised(() => client.refreshTokenGrant(config, tokens.refresh_token ?? ""))
      expect(renewed.claims()?.sub).toBe(subject)
      const seen = yield* promised(() => client.tokenIntrospection(config, renewed.access_token))
      expect(seen.active).toBe(true)
      yield* promised(() => client.tokenRevocation(config, renewed.refresh_token ?? ""))
      const ended = yield* promised(() => client.tokenIntrospection(config, renewed.access_token))
      expect(ended.active).toBe(false)
      const leave = client.buildEndSessionUrl(config, {
        id_token_hint: renewed.id_token ?? "",
        post_logout_redirect_uri: "https://rp.example.com/bye"
      })
      const left = yield* visit(`${leave.pathname}${leave.search}`, cookie)
      expect(left.headers.get("location")).toBe("https://rp.example.com/bye")
    })
  )

  tests.live("openid-client connects a device", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const execute = [client.allowInsecureRequests, client.enableNonRepudiationChecks]
      const config = yield* promised(() =>
        client.discovery(new URL(issuer), "svc-cli", undefined, client.None(), { execute })
      )
      const { cookie, subject } = yield* someone
      const started = yield* promised(() =>
        client.initiateDeviceAuthorization(config, { scope: "openid offline_access read" })
      )
      const form = formFields(yield* bodyText(yield* visit("/oauth/device", cookie)))
      const code = { user_code: started.user_code }
      const question = yield* press("/oauth/device", { ...code, token: form.token, decision: "look" }, cookie)
      const { token } = formFields(yield* bodyText(question))
      yield* press("/oauth/device", { ...code, token, decision: "allow" }, cookie)
      // The first poll may be immediate, because the interval applies only between polls.
      const tokens = yield* promised(() => client.pollDeviceAuthorizationGrant(config, { ...started, interval: 0 }))
      expect(tokens.claims()?.sub).toBe(subject)
      expect(tokens.scope).toBe("openid offline_access read")
    })
  )
})

describe("oauth4webapi and jose", () => {
  tests.live("oauth4webapi and jose verify every step independently, including resource tokens", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const insecure = { [oauth.allowInsecureRequests]: true }
      const address = new URL(issuer)
      const server = yield* promised(async () =>
        oauth.processDiscoveryResponse(address, await oauth.discoveryRequest(address, insecure))
      )
      const { cookie, subject } = yield* someone
      const relying: oauth.Client = { client_id: "basic" }
      const authentication = oauth.ClientSecretBasic(secret)
      const verifier = oauth.generateRandomCodeVerifier()
      const state = oauth.generateRandomState()
      const nonce = oauth.generateRandomNonce()
      const request = new URLSearchParams({
        client_id: "basic",
        redirect_uri: callback,
        response_type: "code",
        scope: "openid offline_access api.use",
        code_challenge: yield* promised(() => oauth.calculatePKCECodeChallenge(verifier)),
        code_challenge_method: "S256",
        state,
        nonce,
        resource
      })
      const { location = "" } = yield* authorize(request.toString(), cookie)
      const parameters = oauth.validateAuthResponse(server, relying, new URL(location), state)
      const tokens = yield* promised(async () => {
        const response = await oauth.authorizationCodeGrantRequest(
          server,
          relying,
          authentication,
          parameters,
          callback,
          verifier,
          insecure
        )
        const result = await oauth.processAuthorizationCodeResponse(server, relying, response, {
          expectedNonce: nonce,
          requireIdToken: true
        })
        await oauth.validateApplicationLevelSignature(server, response, insecure)
        return result
      })
      expect(oauth.getValidatedIdTokenClaims(tokens)?.sub).toBe(subject)
      const info = yield* promised(async () =>
        oauth.processUserInfoResponse(
          server,
          relying,
          subject,
          await oauth.userInfoRequest(server, relying, tokens.access_token, insecure)
        )
      )
      expect(info.sub).toBe(subject)
      const forApi = yield* promised(async () =>
        oauth.processRefreshTokenResponse(
          server,
          relying,
          await oauth.refreshTokenGrantRequest(server, relying, authentication, tokens.refresh_token ?? "", {
            ...insecure,
            additionalParameters: { resource }
          })
        )
      )
      const call = new Request(resource, { headers: { authorization: `Bearer ${forApi.access_token}` } })
      const claims = yield* promised(() => oauth.validateJwtAccessToken(server, call, resource, insecure))
      expect(claims.sub).toBe(subject)
      expect(claims.client_id).toBe("basic")
      const keys = createRemoteJWKSet(new URL(server.jwks_uri ?? ""))
      const verified = yield* promised(() =>
        jwtVerify(tokens.id_token ?? "", keys, { issuer, audience: "basic", algorithms: ["RS256"] })
      )
      expect(verified.payload["nonce"]).toBe(nonce)
      // An ID token is not accepted as an access token.
      const wrong = new Request(resource, { headers: { authorization: `Bearer ${tokens.id_token}` } })
      const refused = yield* promised(() =>
        oauth.validateJwtAccessToken(server, wrong, resource, insecure).then(
          () => "taken",
          () => "refused"
        )
      )
      expect(refused).toBe("refused")
    })
  )
})

describe("@auth/core", () => {
  tests.live("@auth/core, a complete framework, signs a person in", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const { cookie } = yield* someone
      const app = issuer
      const jar = new Map<string, string>()
      const config: AuthConfig = {
        trustHost: true,
        secret: "only-for-this-test-and-long-enough",
        basePath: "/auth",
        providers: [
          {
            id: "svc",
            name: "svc",
            type: "oidc",
            issuer,
            clientId: "spa",
            client: { token_endpoint_auth_method: "none", id_token_signed_response_alg: "ES256" },
            checks: ["pkce", "state", "nonce"],
            // The profile is read from UserInfo, which proves that the framework calls UserInfo.
            idToken: false,
            authorization: { params: { scope: "openid profile email" } }
          }
        ]
      }
      const browse = (path: string, init: RequestInit = {}) =>
        promised(async () => {
          const headers = new Headers(init.headers)
          headers.set("cookie", [...jar].map(([name, value]) => `${name}=${value}`).join("; "))
          const response = await Auth(new Request(`${app}${path}`, { ...init, headers }), config)
          for (const line of response.headers.getSetCookie()) {
            const [pair = ""] = line.split(";")
            jar.set(pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1))
          }
          return response
        })
      const csrf = yield* Effect.flatMap(browse("/auth/csrf"), (response) => promised(() => response.json()))
      const started = yield* browse("/auth/signin/svc", {
        method: "POST",
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ csrfToken: String(csrf.csrfToken), callbackUrl: app }).toString()
      })
      const url = new URL(started.headers.get("location") ?? "")
      expect(url.origin).toBe(issuer)
      const { location = "" } = yield* authorize(url.search.slice(1), cookie)
      const finished = yield* browse(`/auth/callback/svc${new URL(location).search}`)
      expect(finished.headers.get("location")).not.toContain("error")
      const session = yield* Effect.flatMap(browse("/auth/session"), (response) => promised(() => response.json()))
      expect(session.user).toEqual({ name: expect.stringContaining("person-"), email: expect.stringContaining("@") })
    })
  )
})

describe("oidc-client-ts", () => {
  tests.live("oidc-client-ts signs in a single-page application, renews its token and signs it out", () =>
    Effect.gen(function* () {
      const { issuer } = yield* TestIssuer
      const { cookie, subject } = yield* someone
      const page = new OidcClient({
        authority: issuer,
        client_id: "spa",
        redirect_uri: callback,
        post_logout_redirect_uri: "https://rp.example.com/bye",
        scope: "openid profile email offline_access",
        loadUserInfo: true,
        stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() })
      })
      const request = yield* promised(() => page.createSigninRequest({}))
      const { location = "" } = yield* authorize(new URL(request.url).search.slice(1), cookie)
      const signedIn = yield* promised(() => page.processSigninResponse(location))
      // The framework reads claims from the ID token, so the test checks that UserInfo returns the same claims.
      expect(signedIn.profile).toMatchObject({
        sub: subject,
        name: expect.stringContaining("person-"),
        preferred_username: expect.stringContaining("person-"),
        email: expect.stringContaining("@"),
        email_verified: false
      })
      const renewed = yield* promised(() =>
        page.useRefreshToken({
          state: {
            data: {},
            refresh_token: signedIn.refresh_token ?? "",
            id_token: signedIn.id_token ?? "",
            session_state: null,
            scope: signedIn.scope ?? "",
            profile: signedIn.profile
          }
        })
      )
      expect(renewed.access_token).not.toBe(signedIn.access_token)
      const again = yield* promised(() =>
        page.processSigninResponse(location).then(
          () => "taken",
          () => "refused"
        )
      )
      expect(again).toBe("refused")
      const leaving = yield* promised(() => page.createSignoutRequest({ id_token_hint: renewed.id_token ?? "" }))
      const { pathname, search } = new URL(leaving.url)
      expect((yield* visit(`${pathname}${search}`, cookie)).headers.get("location")).toStartWith(
        "https://rp.example.com/bye"
      )
    })
  )
})
