import { Clock, Effect } from "effect"
import { authorization, authorize, exchange, must, mustBe, query, signInTo, tokensOf } from "./Browser.ts"
import { idTokenClaims } from "./IdTokens.ts"
import { defaultIssuer, signIn } from "./IssuerFixture.ts"
import { TestTime } from "./TestTime.ts"
import { someone } from "./Someone.ts"

export const promptLogin = Effect.gen(function* () {
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

export const silent = Effect.gen(function* () {
  const { cookie } = yield* someone
  const first = yield* idTokenClaims((yield* signInTo({}, cookie)).id_token)
  const second = yield* idTokenClaims((yield* signInTo({ prompt: "none" }, cookie)).id_token)
  yield* mustBe(second.sub, first.sub, "sub")
  yield* mustBe(second["auth_time"], first["auth_time"], "auth_time")
})

export const withHint = Effect.gen(function* () {
  const { cookie } = yield* someone
  const { id_token = "" } = yield* signInTo({}, cookie)
  yield* signInTo({ prompt: "none", id_token_hint: id_token }, cookie)
  const other = yield* someone
  yield* signInTo({}, other.cookie)
  const mismatch = yield* authorize(authorization({ prompt: "none", id_token_hint: id_token }), other.cookie)
  yield* mustBe(mismatch.parameters.get("error"), "login_required", "error for another person")
})

export const maxAge1 = Effect.gen(function* () {
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

export const notLoggedIn = Effect.gen(function* () {
  const { parameters } = yield* authorize(authorization({ prompt: "none" }))
  yield* mustBe(parameters.get("error"), "login_required", "error")
  yield* mustBe(parameters.get("state"), "the-state", "state")
})
