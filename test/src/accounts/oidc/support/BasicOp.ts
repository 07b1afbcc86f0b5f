import { createHash } from "node:crypto"
import { Clock, Effect } from "effect"
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
  query,
  refresh,
  send,
  signInTo,
  tokensOf,
  userInfo,
  verifier
} from "./Browser.ts"
import { idTokenClaims, keySet } from "./IdTokens.ts"
import { callback, defaultIssuer, secret, signedInPerson, signIn } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { TestTime } from "./TestTime.ts"

let people = 0
/** A person nobody has met yet. */
export const someone = Effect.suspend(() => signedInPerson(`person-${people++}`))

/** The request succeeds like the plain one: a code that gives an ID token. */
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

const claimsWith = (scope: string, expected: ReadonlyArray<string>, absent: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const { cookie, subject } = yield* someone
    const tokens = yield* signInTo({ scope }, cookie)
    const claims = yield* json(yield* userInfo(tokens.access_token))
    yield* mustBe(claims["sub"], subject, "sub")
    for (const name of expected) yield* must(name in claims, `UserInfo has ${name}`)
    for (const name of absent) yield* must(!(name in claims), `UserInfo has no ${name}`)
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

const promptLogin = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie, subject } = yield* someone
  const before = yield* idTokenClaims((yield* signInTo({}, cookie)).id_token)
  yield* time.advance("2 seconds")
  const { location } = yield* authorize(authorization({ prompt: "login" }), cookie)
  yield* must(location?.startsWith(`${defaultIssuer}/sign-in?return=`) === true, "the person has to sign in")
  const back = new URL(location ?? "").searchParams.get("return") ?? ""
  const still = yield* authorize(back.slice(back.indexOf("?") + 1), cookie)
  yield* must(still.parameters.get("code") === null, "the old session is not enough")
  const anew = yield* signIn(subject)
  const { parameters } = yield* authorize(back.slice(back.indexOf("?") + 1), anew)
  const after = yield* idTokenClaims((yield* tokensOf(yield* exchange(parameters.get("code") ?? ""))).id_token)
  yield* must(Number(after["auth_time"]) > Number(before["auth_time"]), "auth_time is newer")
  yield* mustBe(after.sub, before.sub, "sub")
  const minuteAgo = (yield* Clock.currentTimeMillis) - 60_000
  const forged = `${query(authorization({ prompt: "login" }))}&svc_signed_in_after=${minuteAgo}.AAAA`
  yield* must((yield* authorize(forged, anew)).parameters.get("code") === null, "a forged note is no sign-in")
})

const silent = Effect.gen(function* () {
  const { cookie } = yield* someone
  const first = yield* idTokenClaims((yield* signInTo({}, cookie)).id_token)
  const second = yield* idTokenClaims((yield* signInTo({ prompt: "none" }, cookie)).id_token)
  yield* mustBe(second.sub, first.sub, "sub")
  yield* mustBe(second["auth_time"], first["auth_time"], "auth_time")
})

const withHint = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { id_token = "" } = yield* signInTo({}, cookie)
  yield* signInTo({ prompt: "none", id_token_hint: id_token }, cookie)
  const other = yield* someone
  yield* signInTo({}, other.cookie)
  const mismatch = yield* authorize(authorization({ prompt: "none", id_token_hint: id_token }), other.cookie)
  yield* mustBe(mismatch.parameters.get("error"), "login_required", "error for another person")
})

const maxAge1 = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie, subject } = yield* someone
  yield* signInTo({}, cookie)
  yield* time.advance("2 seconds")
  const stale = yield* authorize(authorization({ max_age: "1" }), cookie)
  yield* must(stale.location?.includes("/sign-in?return=") === true, "a stale session has to sign in")
  const back = new URL(stale.location ?? "").searchParams.get("return") ?? ""
  const anew = yield* signIn(subject)
  yield* time.advance("2 seconds")
  const { parameters } = yield* authorize(back.slice(back.indexOf("?") + 1), anew)
  yield* idTokenClaims((yield* tokensOf(yield* exchange(parameters.get("code") ?? ""))).id_token)
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
  // From another site: no session comes along.
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

const bearerInBody = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { access_token } = yield* signInTo({}, cookie)
  const response = yield* post("/oauth/userinfo", { access_token })
  yield* mustBe(response.status, 401, "status with the token in the body")
  yield* must(response.headers.get("www-authenticate")?.startsWith("Bearer") === true, "a challenge")
  yield* mustBe(
    (yield* send(`/oauth/userinfo?access_token=${access_token}`)).status,
    401,
    "status with it in the query"
  )
})

const postedUserInfo = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { access_token } = yield* signInTo({}, cookie)
  const response = yield* post("/oauth/userinfo", {}, { authorization: `Bearer ${access_token}` })
  yield* mustBe(response.status, 200, "status")
})

const notLoggedIn = Effect.gen(function* () {
  const { parameters } = yield* authorize(authorization({ prompt: "none" }))
  yield* mustBe(parameters.get("error"), "login_required", "error")
  yield* mustBe(parameters.get("state"), "the-state", "state")
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

const essential = Effect.gen(function* () {
  const { cookie } = yield* someone
  const claims = JSON.stringify({ userinfo: { name: { essential: true } }, id_token: { email: null } })
  const tokens = yield* signInTo({ claims }, cookie)
  const info = yield* json(yield* userInfo(tokens.access_token))
  yield* must(typeof info["name"] === "string", "UserInfo has the essential name")
  yield* must(!("email" in info), "UserInfo has nothing more")
  yield* must(
    typeof (yield* idTokenClaims(tokens.id_token))["email"] === "string",
    "the ID token has the e-mail address"
  )
})

const otherOrder = Effect.gen(function* () {
  const { cookie } = yield* someone
  const fields = authorization({ scope: "email profile openid" })
  const reversed = Object.fromEntries(Object.entries(fields).toReversed())
  const tokens = yield* tokensOf(yield* exchange(yield* codeOf(reversed, cookie)))
  yield* idTokenClaims(tokens.id_token)
})

const requestObject = "eyJhbGciOiJub25lIn0.eyJyZXNwb25zZV90eXBlIjoiY29kZSJ9."

/** The 38 modules of `oidcc-basic-certification-test-plan`, under their names there. */
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

/** Close relatives of those modules that no certification asks for. */
export const stricterModules: ReadonlyArray<Module> = [
  { name: "a code comes back after it expired", check: reuse("90 seconds") },
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
