import { Clock, Effect } from "effect"
import { decodeProtectedHeader } from "jose"
import {
  authorization,
  authorize,
  basicAuth,
  codeOf,
  errorOf,
  exchange,
  json,
  must,
  mustBe,
  post,
  refresh,
  signInTo,
  tokensOf,
  userInfo
} from "./Browser.ts"
import { someone } from "./Someone.ts"
import { verifyJwt } from "./IdTokens.ts"
import { callback, resource, secret } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { TestTime } from "./TestTime.ts"

const offline = { scope: "openid profile offline_access" }
const secondAuth = basicAuth("second", `${secret}-second`)

const rotation = Effect.gen(function* () {
  const { cookie } = yield* someone
  const first = yield* signInTo(offline, cookie)
  const second = yield* tokensOf(yield* refresh(first.refresh_token ?? ""))
  yield* must(second.refresh_token !== undefined && second.refresh_token !== first.refresh_token, "it rotates")
  const third = yield* tokensOf(yield* refresh(second.refresh_token ?? ""))
  const replay = yield* refresh(first.refresh_token ?? "")
  yield* mustBe(yield* errorOf(replay), "invalid_grant", "error of a used token")
  yield* mustBe((yield* refresh(third.refresh_token ?? "")).status, 400, "the newest of the family has ended too")
  yield* mustBe((yield* userInfo(third.access_token)).status, 401, "so have its access tokens")
})

const narrowing = Effect.gen(function* () {
  const { cookie } = yield* someone
  const tokens = yield* signInTo(offline, cookie)
  const wider = yield* refresh(tokens.refresh_token ?? "", { scope: "openid email" })
  yield* mustBe(yield* errorOf(wider), "invalid_scope", "error of a wider scope")
  const narrow = yield* tokensOf(yield* refresh(tokens.refresh_token ?? "", { scope: "openid" }))
  yield* mustBe(narrow.scope, "openid", "scope")
  const claims = yield* json(yield* userInfo(narrow.access_token))
  yield* must(!("name" in claims), "the narrow token shows no name")
})

const bindings = Effect.gen(function* () {
  const { cookie } = yield* someone
  const code = yield* codeOf(authorization(), cookie)
  yield* mustBe(yield* errorOf(yield* exchange(code, {}, secondAuth)), "invalid_grant", "another client")
  const elsewhere = yield* exchange(code, { redirect_uri: `${callback}?tenant=1` })
  yield* mustBe(yield* errorOf(elsewhere), "invalid_grant", "another registered redirect_uri")
  const nowhere = yield* exchange(code, { redirect_uri: "" })
  yield* mustBe(yield* errorOf(nowhere), "invalid_grant", "no redirect_uri")
  yield* tokensOf(yield* exchange(code))
})

const expiry = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie } = yield* someone
  const late = yield* codeOf(authorization(), cookie)
  yield* time.advance("61 seconds")
  yield* mustBe(yield* errorOf(yield* exchange(late)), "invalid_grant", "a code of 61 seconds")
  const tokens = yield* signInTo(offline, cookie)
  yield* mustBe(tokens.expires_in, 900, "expires_in")
  yield* time.advance("15 minutes")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "an access token of 15 minutes")
  yield* time.advance("31 days")
  yield* mustBe(
    yield* errorOf(yield* refresh(tokens.refresh_token ?? "")),
    "invalid_grant",
    "a refresh token of 31 days"
  )
})

const storm = Effect.gen(function* () {
  const { cookie } = yield* someone
  const code = yield* codeOf(authorization(), cookie)
  const attempts = Array.from({ length: 50 }, () => exchange(code))
  const statuses = (yield* Effect.all(attempts, { concurrency: "unbounded" })).map(({ status }) => status)
  yield* mustBe(statuses.filter((status) => status === 200).length, 1, "successes of 50 at once")
  const tokens = yield* signInTo(offline, cookie)
  const refreshes = Array.from({ length: 20 }, () => refresh(tokens.refresh_token ?? ""))
  const outcomes = (yield* Effect.all(refreshes, { concurrency: "unbounded" })).map(({ status }) => status)
  yield* mustBe(outcomes.filter((status) => status === 200).length, 1, "refreshes of 20 at once")
})

const clientAuthentication = Effect.gen(function* () {
  const { cookie } = yield* someone
  const code = yield* codeOf(authorization(), cookie)
  const wrong = yield* exchange(code, {}, basicAuth("basic", "wrong"))
  yield* mustBe(wrong.status, 401, "status for a wrong secret")
  yield* mustBe(wrong.headers.get("www-authenticate")?.startsWith("Basic "), true, "challenge")
  yield* mustBe(wrong.headers.get("cache-control"), "no-store", "Cache-Control")
  const none = yield* exchange(code, { client_id: "basic" }, {})
  yield* mustBe(yield* errorOf(none), "invalid_client", "a confidential client without its secret")
  const twice = yield* exchange(code, { client_secret: secret })
  yield* mustBe(yield* errorOf(twice), "invalid_request", "two ways at once")
  const publicCode = yield* codeOf(authorization({ client_id: "spa" }), cookie)
  const pretended = yield* exchange(publicCode, { client_id: "spa", client_secret: "anything" }, {})
  yield* mustBe(yield* errorOf(pretended), "invalid_client", "a public client with a secret")
  const tokens = yield* tokensOf(yield* exchange(publicCode, { client_id: "spa" }, {}))
  yield* mustBe(decodeProtectedHeader(tokens.id_token ?? "").alg, "ES256", "alg of a client that chose it")
  yield* verifyJwt(tokens.id_token ?? "", { audience: "spa" })
})

const revocation = Effect.gen(function* () {
  const { cookie } = yield* someone
  const tokens = yield* signInTo(offline, cookie)
  const revoke = (token: string, headers: Record<string, string>) => post("/oauth/revoke", { token }, headers)
  yield* mustBe((yield* revoke("unknown", basicAuth())).status, 200, "an unknown token")
  yield* mustBe((yield* revoke(tokens.access_token, secondAuth)).status, 200, "another client's token")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 200, "which has no effect")
  yield* revoke(tokens.access_token, basicAuth())
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "an access token")
  const renewed = yield* tokensOf(yield* refresh(tokens.refresh_token ?? ""))
  yield* revoke(renewed.refresh_token ?? "", basicAuth())
  yield* mustBe((yield* refresh(renewed.refresh_token ?? "")).status, 400, "a refresh token")
  yield* mustBe((yield* userInfo(renewed.access_token)).status, 401, "takes its access tokens along")
  yield* mustBe((yield* post("/oauth/revoke", { token: "x" })).status, 401, "without a client")
})

const forApi = { scope: "openid offline_access api.use", resource }
const introspect = (token: string, headers: Record<string, string>) => post("/oauth/introspect", { token }, headers)

const resourceTokens = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie, subject } = yield* someone
  const code = yield* codeOf(authorization(forApi), cookie)
  const tokens = yield* tokensOf(yield* exchange(code, { resource }))
  yield* mustBe(tokens.expires_in, 300, "expires_in")
  yield* mustBe(tokens.scope, "api.use", "scope")
  const { payload, protectedHeader } = yield* verifyJwt(tokens.access_token, {
    audience: resource,
    typ: "at+jwt",
    requiredClaims: ["client_id", "jti", "sub", "iat", "exp"]
  })
  yield* mustBe(protectedHeader.typ, "at+jwt", "typ")
  yield* mustBe(payload.sub, subject, "sub")
  yield* mustBe((payload.exp ?? 0) - (payload.iat ?? 0), 300, "lifetime")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo takes no token of another audience")
  const seen = yield* json(yield* introspect(tokens.access_token, secondAuth))
  yield* mustBe(seen["active"], true, "the guard of the resource sees it")
  yield* mustBe(seen["aud"], resource, "aud")
  const opaque = yield* tokensOf(yield* refresh(tokens.refresh_token ?? ""))
  yield* mustBe((yield* userInfo(opaque.access_token)).status, 200, "without resource, a token of the issuer")
  const other = yield* refresh(opaque.refresh_token ?? "", { resource: "https://other.example.com" })
  yield* mustBe(yield* errorOf(other), "invalid_target", "a resource that was not granted")
  const again = yield* tokensOf(yield* refresh(opaque.refresh_token ?? "", { resource }))
  yield* post("/oauth/revoke", { token: again.refresh_token ?? "" }, basicAuth())
  const ended = yield* json(yield* introspect(again.access_token, secondAuth))
  yield* mustBe(ended["active"], false, "it is seen to end with its grant")
  yield* time.advance("301 seconds")
  yield* mustBe((yield* json(yield* introspect(tokens.access_token, secondAuth)))["active"], false, "expired")
  const refused = yield* authorize(authorization({ ...forApi, client_id: "spa" }), cookie)
  yield* mustBe(refused.parameters.get("error"), "invalid_target", "a client that may not")
})

const introspection = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const tokens = yield* signInTo(offline, cookie)
  const own = yield* json(yield* introspect(tokens.access_token, basicAuth()))
  yield* mustBe(own["active"], true, "active")
  yield* mustBe(own["sub"], subject, "sub")
  yield* must(Number(own["exp"]) > (yield* Clock.currentTimeMillis) / 1000, "exp")
  const foreign = yield* json(yield* introspect(tokens.access_token, secondAuth))
  yield* mustBe(JSON.stringify(foreign), '{"active":false}', "another client's token")
  yield* mustBe((yield* json(yield* introspect("nonsense", basicAuth())))["active"], false, "nonsense")
  const publicClient = yield* introspect(tokens.access_token, {})
  yield* mustBe(publicClient.status, 401, "without a client")
  const spa = yield* post("/oauth/introspect", { token: tokens.access_token, client_id: "spa" })
  yield* mustBe(yield* errorOf(spa), "unauthorized_client", "a public client")
  const swapped = yield* userInfo(tokens.id_token ?? "")
  yield* mustBe(swapped.status, 401, "an ID token is no access token")
})

const issuerInErrors = Effect.gen(function* () {
  const { cookie } = yield* someone
  for (const fields of [
    { response_type: "token" },
    { prompt: "none login" },
    { scope: "unknown" },
    { workspace_id: " " },
    { claims: "{" }
  ]) {
    const { parameters } = yield* authorize(authorization(fields), cookie)
    yield* must(parameters.get("error") !== null, `${JSON.stringify(fields)} is refused`)
    yield* must(parameters.get("iss") !== null, `the refusal of ${JSON.stringify(fields)} names the issuer`)
    yield* mustBe(parameters.get("state"), "the-state", "state")
  }
})

/** Token service rules that apply to every client. */
export const tokenRuleModules: ReadonlyArray<Module> = [
  { name: "a refresh token rotates, and its second use ends the family", check: rotation },
  { name: "a refresh narrows scopes and never widens them", check: narrowing },
  { name: "a code is bound to client and redirect address", check: bindings },
  { name: "codes, access tokens and refresh tokens expire", check: expiry },
  { name: "of fifty concurrent uses of a code, one succeeds", check: storm },
  { name: "a client authenticates in exactly one way, with valid credentials", check: clientAuthentication },
  { name: "revocation ends only the client's own tokens", check: revocation },
  { name: "resource tokens are for one audience and five minutes", check: resourceTokens },
  { name: "introspection shows a client only its own tokens", check: introspection },
  { name: "every refusal names the issuer", check: issuerInErrors }
]
