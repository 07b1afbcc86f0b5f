import { Effect } from "effect"
import { json, must, mustBe, post, send, signInTo, userInfo } from "./Browser.ts"
import { idTokenClaims } from "./IdTokens.ts"
import { someone } from "./Someone.ts"

export const claimsWith = (scope: string, expected: ReadonlyArray<string>, absent: ReadonlyArray<string> = []) =>
  Effect.gen(function* () {
    const { cookie, subject } = yield* someone
    const tokens = yield* signInTo({ scope }, cookie)
    const claims = yield* json(yield* userInfo(tokens.access_token))
    yield* mustBe(claims["sub"], subject, "sub")
    for (const name of expected) yield* must(name in claims, `UserInfo has ${name}`)
    for (const name of absent) yield* must(!(name in claims), `UserInfo has no ${name}`)
  })

export const bearerInBody = Effect.gen(function* () {
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

export const postedUserInfo = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { access_token } = yield* signInTo({}, cookie)
  const response = yield* post("/oauth/userinfo", {}, { authorization: `Bearer ${access_token}` })
  yield* mustBe(response.status, 200, "status")
})

export const essential = Effect.gen(function* () {
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
