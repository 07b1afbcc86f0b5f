import { Effect } from "effect"
import {
  authorization,
  authorize,
  bodyText,
  formFields,
  json,
  must,
  mustBe,
  onwardOf,
  press,
  query,
  send,
  signInTo,
  visit
} from "./Browser.ts"
import { someone } from "./Someone.ts"
import type { Module } from "./Modules.ts"

const bye = "https://rp.example.com/bye"

const signedIn = Effect.gen(function* () {
  const person = yield* someone
  const { id_token = "" } = yield* signInTo({}, person.cookie)
  return { ...person, idToken: id_token }
})

const silentError = (cookie: string) =>
  Effect.map(authorize(authorization({ prompt: "none" }), cookie), ({ parameters }) => parameters.get("error"))

const isSignedIn = (cookie: string, wanted: boolean) =>
  Effect.flatMap(silentError(cookie), (error) =>
    mustBe(error, wanted ? null : "login_required", wanted ? "the session stays" : "the session is gone")
  )

const leave = (fields: Record<string, string>, cookie: string) => visit(`/oauth/logout?${query(fields)}`, cookie)

/** Confirms the sign-out on the page that prompts for it. */
const confirm = (response: Response, cookie: string, decision = "leave") =>
  Effect.gen(function* () {
    yield* mustBe(response.status, 200, "status of the question")
    const page = yield* bodyText(response)
    return yield* press("/oauth/logout/decision", { ...formFields(page), decision }, cookie)
  })

/** Checks that the browser stays on the issuer's page, and that the session stays open. */
const staysOnPage = (fields: (idToken: string) => Record<string, string>) =>
  Effect.gen(function* () {
    const { cookie, idToken } = yield* signedIn
    const response = yield* leave(fields(idToken), cookie)
    yield* mustBe(response.status, 400, "status")
    yield* mustBe(response.headers.get("location"), null, "location")
    yield* isSignedIn(cookie, true)
  })

/** Checks that a caller who presents no proof sees a prompt, and that signing out does not redirect. */
const asksFirst = (fields: Record<string, string>) =>
  Effect.gen(function* () {
    const { cookie } = yield* signedIn
    const question = yield* leave(fields, cookie)
    yield* isSignedIn(cookie, true)
    const left = yield* confirm(question, cookie)
    yield* mustBe(left.status, 200, "status after the answer")
    yield* isSignedIn(cookie, false)
  })

const good = Effect.gen(function* () {
  const { cookie, idToken } = yield* signedIn
  const response = yield* leave({ id_token_hint: idToken, post_logout_redirect_uri: bye, state: "s1" }, cookie)
  yield* mustBe(response.status, 303, "status")
  yield* mustBe(response.headers.get("location"), `${bye}?state=s1`, "location")
  yield* must(/Max-Age=0|Expires=Thu, 01 Jan 1970/i.test(response.headers.get("set-cookie") ?? ""), "the cookie goes")
  yield* isSignedIn(cookie, false)
})

const tampered = (token: string) => {
  const [header = "", payload = "", signature = ""] = token.split(".")
  const turned = signature.startsWith("A") ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
  return `${header}.${payload}.${turned}`
}

const metadata = Effect.gen(function* () {
  const document = yield* json(yield* send("/.well-known/openid-configuration"))
  yield* mustBe(document["end_session_endpoint"], `${String(document["issuer"])}/oauth/logout`, "end_session_endpoint")
})

const withoutState = Effect.gen(function* () {
  const { cookie, idToken } = yield* signedIn
  const response = yield* leave({ id_token_hint: idToken, post_logout_redirect_uri: bye }, cookie)
  yield* mustBe(response.headers.get("location"), bye, "location")
  yield* isSignedIn(cookie, false)
})

const withoutAddress = Effect.gen(function* () {
  const { cookie, idToken } = yield* signedIn
  const response = yield* leave({ id_token_hint: idToken, state: "s1" }, cookie)
  yield* mustBe(response.status, 200, "status")
  yield* mustBe(response.headers.get("location"), null, "location")
  yield* isSignedIn(cookie, false)
})

/** The 11 modules of `oidcc-rp-initiated-logout-certification-test-plan`. */
export const rpLogoutModules: ReadonlyArray<Module> = [
  { name: "oidcc-rp-initiated-logout-discovery-endpoint-verification", check: metadata },
  { name: "oidcc-rp-initiated-logout", check: good },
  {
    name: "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri",
    check: staysOnPage((id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: "https://evil.example.com/" }))
  },
  {
    name: "oidcc-rp-initiated-logout-modified-id-token-hint",
    check: staysOnPage((idToken) => ({ id_token_hint: tampered(idToken), post_logout_redirect_uri: bye }))
  },
  {
    name: "oidcc-rp-initiated-logout-bad-id-token-hint",
    check: staysOnPage(() => ({ id_token_hint: "no.token.atall", post_logout_redirect_uri: bye }))
  },
  {
    name: "oidcc-rp-initiated-logout-no-id-token-hint",
    check: staysOnPage(() => ({ post_logout_redirect_uri: bye, state: "s1" }))
  },
  { name: "oidcc-rp-initiated-logout-no-params", check: asksFirst({}) },
  { name: "oidcc-rp-initiated-logout-no-post-logout-redirect-uri", check: withoutAddress },
  { name: "oidcc-rp-initiated-logout-no-state", check: withoutState },
  { name: "oidcc-rp-initiated-logout-only-state", check: asksFirst({ state: "s1" }) },
  {
    name: "oidcc-rp-initiated-logout-query-added-to-post-logout-redirect-uri",
    check: staysOnPage((id_token_hint) => ({ id_token_hint, post_logout_redirect_uri: `${bye}?extra=1` }))
  }
]

/** svc's own sign-out rules, which the conformance modules do not cover. */
export const leavingModules: ReadonlyArray<Module> = [
  {
    name: "another session's ID token, or a client_id without one, prompts the person",
    check: Effect.gen(function* () {
      const mine = yield* signedIn
      const theirs = yield* signedIn
      const question = yield* leave({ id_token_hint: theirs.idToken, post_logout_redirect_uri: bye }, mine.cookie)
      yield* isSignedIn(mine.cookie, true)
      const stayed = yield* confirm(question, mine.cookie, "stay")
      yield* mustBe(stayed.status, 200, "status after staying")
      yield* isSignedIn(mine.cookie, true)
      const named = yield* leave({ client_id: "basic", post_logout_redirect_uri: bye, state: "x" }, mine.cookie)
      const left = yield* confirm(named, mine.cookie)
      yield* mustBe(left.headers.get("location"), null, "no redirect from a form")
      yield* mustBe(yield* onwardOf(left), `${bye}?state=x`, "next stop")
      yield* isSignedIn(mine.cookie, false)
    })
  },
  {
    name: "the prompt can be answered only from its own page",
    check: Effect.gen(function* () {
      const mine = yield* signedIn
      const theirs = yield* signedIn
      const question = yield* bodyText(yield* leave({}, theirs.cookie))
      const fields = { ...formFields(question), decision: "leave" }
      const swapped = yield* press("/oauth/logout/decision", fields, mine.cookie)
      yield* mustBe(swapped.status, 400, "status with the token of another session")
      yield* isSignedIn(mine.cookie, true)
    })
  }
]
