import { createHash } from "node:crypto"
import { Effect } from "effect"
import { decodeProtectedHeader } from "jose"
import {
  authorization,
  authorize,
  basicAuth,
  bodyText,
  challenge,
  codeOf,
  exchange,
  json,
  must,
  mustBe,
  post,
  refresh,
  send,
  signInTo,
  tokensOf,
  userInfo,
  verifier
} from "./Browser.ts"
import { idTokenClaims, keySet } from "./IdTokens.ts"
import { callback, defaultIssuer, secret } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { TestTime } from "./TestTime.ts"
import { someone } from "./Someone.ts"
import { maxAge1, notLoggedIn, promptLogin, silent, withHint } from "./SessionChecks.ts"
import { bearerInBody, claimsWith, essential, postedUserInfo } from "./UserInfoChecks.ts"

/** Checks that the extra parameters do not prevent a sign-in: the code still yields an ID token. */
const succeeds = (fields: Record<string, string>) =>
  Effect.gen(function* () {
    const { cookie } = yield* someone
    const tokens = yield* signInTo(fields, cookie)
    yield* idTokenClaims(tokens.id_token)
  })

const refusedWith = (fields: Record<string, string>, error: string) =>
  Effect.gen(function* () {
    const { cookie } = yield* someone
    const { location, parameters } = yield* authorize(authorization(fields), cookie)
    yield* must(location?.startsWith(callback) === true, "the refusal goes to the client")
    yield* mustBe(parameters.get("error"), error, "error")
    yield* mustBe(parameters.get("state"), "the-state", "state")
    yield* mustBe(parameters.get("iss"), defaultIssuer, "iss")
    yield* mustBe(parameters.get("code"), null, "code")
  })

const server = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { location, parameters } = yield* authorize(authorization(), cookie)
  yield* must(location?.startsWith(`${callback}?`) === true, "the code goes to the redirect_uri")
  yield* mustBe(parameters.get("state"), "the-state", "state")
  yield* mustBe(parameters.get("iss"), defaultIssuer, "iss")
  const response = yield* exchange(parameters.get("code") ?? "")
  yield* mustBe(response.headers.get("cache-control"), "no-store", "Cache-Control")
  yield* mustBe(response.headers.get("pragma"), "no-cache", "Pragma")
  const tokens = yield* tokensOf(response)
  yield* mustBe(tokens.token_type, "Bearer", "token_type")
  const claims = yield* idTokenClaims(tokens.id_token)
  yield* mustBe(claims.sub, subject, "sub")
  yield* mustBe(claims["nonce"], "the-nonce", "nonce")
  yield* must((claims.exp ?? 0) - (claims.iat ?? 0) === 600, "the ID token lives 10 minutes")
  const hash = createHash("sha256").update(tokens.access_token).digest().subarray(0, 16).toString("base64url")
  yield* mustBe(claims["at_hash"], hash, "at_hash")
  const info = yield* json(yield* userInfo(tokens.access_token))
  yield* mustBe(info["sub"], subject, "sub of UserInfo")
})

const reuse = (wait: "0 seconds" | "30 seconds" | "90 seconds") =>
  Effect.gen(function* () {
    const time = yield* TestTime
    const { cookie } = yield* someone
    const code = yield* codeOf(authorization({ scope: "openid offline_access" }), cookie)
    const tokens = yield* tokensOf(yield* exchange(code))
    yield* mustBe((yield* userInfo(tokens.access_token)).status, 200, "UserInfo before")
    yield* time.advance(wait)
    const again = yield* exchange(code)
    yield* mustBe(again.status, 400, "status of the second use")
    yield* mustBe((yield* json(again))["error"], "invalid_grant", "error of the second use")
    yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo after the second use")
    yield* mustBe((yield* refresh(tokens.refresh_token ?? "")).status, 400, "refresh after the second use")
  })

const unregisteredRedirect = Effect.gen(function* () {
  const { cookie } = yield* someone
  for (const redirect_uri of [
    `${callback}/`,
    "https://rp.example.com/CB",
    "https://RP.example.com/cb",
    "https://rp.example.com:443/cb",
    "https://rp.example.com/./cb",
    "https://rp.example.com/%63b",
    `${callback}?x=1`,
    `${callback}#f`,
    "https://user@rp.example.com/cb",
    "https://rp.example.com./cb",
    "https://evil.example.com/cb",
    "//rp.example.com/cb"
  ]) {
    const { location, response } = yield* authorize(authorization({ redirect_uri }), cookie)
    yield* mustBe(response.status, 400, `status for ${redirect_uri}`)
    yield* must(location === undefined, `no redirect for ${redirect_uri}`)
    yield* must((yield* bodyText(response)).includes("redirect_uri"), "the page says why")
  }
})

const byPost = Effect.gen(function* () {
  const { cookie } = yield* someone
  yield* signInTo({}, cookie)
  // Omits the cookie, as a browser does for a request from another site.
  const sent = yield* post("/oauth/authorize", authorization(), { origin: "https://rp.example.com" })
  yield* mustBe(sent.status, 303, "status")
  const location = new URL(sent.headers.get("location") ?? "")
  yield* mustBe(`${location.origin}${location.pathname}`, `${defaultIssuer}/oauth/authorize`, "next stop")
  const { parameters } = yield* authorize(location.search.slice(1), cookie)
  yield* tokensOf(yield* exchange(parameters.get("code") ?? ""))
})

const secretInForm = Effect.gen(function* () {
  const { cookie } = yield* someone
  const code = yield* codeOf(authorization(), cookie)
  yield* tokensOf(yield* exchange(code, { client_id: "basic", client_secret: secret }, {}))
})

const refreshing = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const tokens = yield* signInTo({ scope: "openid offline_access" }, cookie)
  const first = yield* idTokenClaims(tokens.id_token)
  const token = tokens.refresh_token ?? ""
  yield* must(/^[\x21-\x7e]{20,}$/.test(token), "a refresh token of legal characters")
  const stolen = yield* refresh(token, {}, basicAuth("second", `${secret}-second`))
  yield* mustBe((yield* json(stolen))["error"], "invalid_grant", "error for another client")
  const renewed = yield* tokensOf(yield* refresh(token))
  const claims = yield* idTokenClaims(renewed.id_token)
  yield* mustBe(claims.sub, subject, "sub after the refresh")
  yield* mustBe(claims["auth_time"], first["auth_time"], "auth_time after the refresh")
  yield* mustBe(claims["nonce"], undefined, "nonce after the refresh")
  yield* mustBe((yield* userInfo(renewed.access_token)).status, 200, "UserInfo with the new token")
})

const pkce = Effect.gen(function* () {
  const { cookie } = yield* someone
  const wrong = yield* exchange(yield* codeOf(authorization(), cookie), { code_verifier: `${verifier}x` })
  yield* mustBe((yield* json(wrong))["error"], "invalid_grant", "error for a wrong verifier")
  const without = yield* exchange(yield* codeOf(authorization(), cookie), { code_verifier: "" })
  yield* mustBe((yield* json(without))["error"], "invalid_grant", "error without a verifier")
  yield* tokensOf(yield* exchange(yield* codeOf(authorization(), cookie)))
})

const withoutPkce = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { code_challenge: _challenge, code_challenge_method: _method, ...plain } = authorization()
  const code = yield* codeOf(plain, cookie)
  const downgraded = yield* exchange(code)
  yield* mustBe((yield* json(downgraded))["error"], "invalid_grant", "error for a verifier without a challenge")
  yield* tokensOf(yield* exchange(code, { code_verifier: "" }))
})

const signature = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { id_token = "" } = yield* signInTo({}, cookie)
  const header = decodeProtectedHeader(id_token)
  yield* mustBe(header.alg, "RS256", "alg")
  const keys = yield* keySet
  yield* must(
    keys.some((key) => key["kid"] === header.kid && key["kty"] === "RSA"),
    "the key is in the key set"
  )
  yield* idTokenClaims(id_token)
})

const unsigned = Effect.gen(function* () {
  const metadata = yield* json(yield* send("/.well-known/openid-configuration"))
  yield* must(
    !JSON.stringify(metadata["id_token_signing_alg_values_supported"]).includes("none"),
    "none is no algorithm"
  )
})

const withoutNonce = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { nonce: _nonce, ...fields } = authorization()
  const tokens = yield* tokensOf(yield* exchange(yield* codeOf(fields, cookie)))
  yield* mustBe((yield* idTokenClaims(tokens.id_token))["nonce"], undefined, "nonce")
})

const noResponseType = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { response_type: _type, ...fields } = authorization()
  const { parameters } = yield* authorize(fields, cookie)
  yield* mustBe(parameters.get("error"), "invalid_request", "error")
})

const otherOrder = Effect.gen(function* () {
  const { cookie } = yield* someone
  const fields = authorization({ scope: "email profile openid" })
  const reversed = Object.fromEntries(Object.entries(fields).toReversed())
  const tokens = yield* tokensOf(yield* exchange(yield* codeOf(reversed, cookie)))
  yield* idTokenClaims(tokens.id_token)
})

const requestObject = "eyJhbGciOiJub25lIn0.eyJyZXNwb25zZV90eXBlIjoiY29kZSJ9."

/** The 38 modules of `oidcc-basic-certification-test-plan`, under their original names. */
export const basicOpModules: ReadonlyArray<Module> = [
  { name: "oidcc-server", check: server },
  { name: "oidcc-response-type-missing", check: noResponseType },
  { name: "oidcc-idtoken-signature", check: signature },
  { name: "oidcc-idtoken-unsigned", check: unsigned },
  { name: "oidcc-userinfo-get", check: claimsWith("openid", []) },
  { name: "oidcc-userinfo-post-header", check: postedUserInfo },
  { name: "oidcc-userinfo-post-body", check: bearerInBody },
  { name: "oidcc-ensure-request-without-nonce-succeeds-for-code-flow", check: withoutNonce },
  { name: "oidcc-scope-profile", check: claimsWith("openid profile", ["name", "updated_at"], ["email"]) },
  { name: "oidcc-scope-email", check: claimsWith("openid email", ["email", "email_verified"], ["name"]) },
  { name: "oidcc-scope-address", check: claimsWith("openid address", [], ["address"]) },
  { name: "oidcc-scope-phone", check: claimsWith("openid phone", [], ["phone_number"]) },
  { name: "oidcc-scope-all", check: claimsWith("openid profile email address phone", ["name", "email"]) },
  { name: "oidcc-alternate-happy-flow", check: otherOrder },
  { name: "oidcc-display-page", check: succeeds({ display: "page" }) },
  { name: "oidcc-display-popup", check: succeeds({ display: "popup" }) },
  { name: "oidcc-prompt-login", check: promptLogin },
  { name: "oidcc-prompt-none-not-logged-in", check: notLoggedIn },
  { name: "oidcc-prompt-none-logged-in", check: silent },
  { name: "oidcc-max-age-1", check: maxAge1 },
  { name: "oidcc-max-age-10000", check: succeeds({ max_age: "10000" }) },
  { name: "oidcc-ensure-request-with-unknown-parameter-succeeds", check: succeeds({ extra: "foobar" }) },
  { name: "oidcc-id-token-hint", check: withHint },
  { name: "oidcc-login-hint", check: succeeds({ login_hint: "somebody@example.com" }) },
  { name: "oidcc-ui-locales", check: succeeds({ ui_locales: "se ja" }) },
  { name: "oidcc-claims-locales", check: succeeds({ claims_locales: "se" }) },
  { name: "oidcc-ensure-request-with-acr-values-succeeds", check: succeeds({ acr_values: "1 2" }) },
  { name: "oidcc-codereuse", check: reuse("0 seconds") },
  { name: "oidcc-codereuse-30seconds", check: reuse("30 seconds") },
  { name: "oidcc-ensure-registered-redirect-uri", check: unregisteredRedirect },
  { name: "oidcc-ensure-post-request-succeeds", check: byPost },
  { name: "oidcc-server-client-secret-post", check: secretInForm },
  {
    name: "oidcc-request-uri-unsigned-supported-correctly-or-rejected-as-unsupported",
    check: refusedWith({ request_uri: "https://rp.example.com/request.jwt" }, "request_uri_not_supported")
  },
  {
    name: "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported",
    check: refusedWith({ request: requestObject }, "request_not_supported")
  },
  { name: "oidcc-claims-essential", check: essential },
  {
    name: "oidcc-ensure-request-object-with-redirect-uri",
    check: refusedWith({ request: requestObject }, "request_not_supported")
  },
  { name: "oidcc-refresh-token", check: refreshing },
  { name: "oidcc-ensure-request-with-valid-pkce-succeeds", check: pkce }
]

/** Related modules that are not required for certification. */
export const stricterModules: ReadonlyArray<Module> = [
  { name: "a code is redeemed after it expired", check: reuse("90 seconds") },
  { name: "PKCE is optional where it is configured so, and then stays out", check: withoutPkce },
  {
    name: "a public client without PKCE",
    check: Effect.gen(function* () {
      const { cookie } = yield* someone
      for (const fields of [
        { code_challenge: "", code_challenge_method: "" },
        { code_challenge: challenge, code_challenge_method: "plain" },
        { code_challenge: challenge, code_challenge_method: "" },
        { code_challenge: "short", code_challenge_method: "S256" }
      ]) {
        const { parameters } = yield* authorize(authorization({ client_id: "spa", ...fields }), cookie)
        yield* mustBe(parameters.get("error"), "invalid_request", JSON.stringify(fields))
      }
    })
  }
]
