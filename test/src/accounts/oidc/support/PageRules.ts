import { Effect } from "effect"
import { Users } from "../../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../../schema/commands/Command.ts"
import { newWorkspace } from "../../../../support/Accounts.ts"
import {
  authorization,
  authorize,
  bodyText,
  errorOf,
  formFields,
  json,
  must,
  mustBe,
  onwardOf,
  post,
  press,
  query,
  refresh,
  send,
  signInTo,
  tokensOf,
  userInfo,
  visit
} from "./Browser.ts"
import { someone } from "./Someone.ts"
import { callback, defaultIssuer } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { TestTime } from "./TestTime.ts"

const open = (fields: Record<string, string>, cookie: string, headers: Record<string, string> = {}) =>
  send(`/oauth/authorize?${query(authorization(fields))}`, { headers: { cookie, ...headers } })

const consentPage = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { id: workspace_id } = yield* newWorkspace(subject, {
    handle: `pages-${subject.slice(-8)}`,
    displayName: `<img src=x onerror=alert(1)> "team"`
  })
  const response = yield* open({ client_id: "spa", scope: "openid email", workspace_id }, cookie)
  const page = yield* bodyText(response)
  yield* must(page.includes("Single page &lt;app&gt;"), "the client's name is text")
  yield* must(page.includes("&lt;img src=x"), "the Workspace's name is text")
  yield* must(!page.includes("<img") && !page.includes("<script"), "there is neither image nor script")
  yield* must(page.includes("@example.com"), "the account is named")
  yield* must(page.includes('<html lang="en">'), "the language is declared")
  const policy = response.headers.get("content-security-policy") ?? ""
  yield* must(policy.includes("frame-ancestors 'none'"), "no frame")
  yield* must(policy.includes("default-src 'none'") && !policy.includes("unsafe"), "nothing is loaded")
  yield* must(policy.includes("form-action 'self';"), "the form leads home")
  yield* mustBe(response.headers.get("referrer-policy"), "same-origin", "Referrer-Policy")
  yield* mustBe(response.headers.get("cache-control"), "no-store", "Cache-Control")
  const japanese = yield* bodyText(yield* open({ client_id: "spa" }, cookie, { "accept-language": "ja,en;q=0.5" }))
  yield* must(japanese.includes('<html lang="ja">') && japanese.includes("許可する"), "Japanese by the browser")
  const asked = yield* bodyText(
    yield* open({ client_id: "spa", ui_locales: "ja" }, cookie, { "accept-language": "en" })
  )
  yield* must(asked.includes("許可する"), "Japanese by ui_locales")
})

const decisions = Effect.gen(function* () {
  const { cookie } = yield* someone
  const other = yield* someone
  const page = yield* bodyText(yield* open({}, cookie))
  const fields = { ...formFields(page), decision: "allow" }
  const cross = yield* post("/oauth/consent", fields, { cookie, origin: "https://evil.example.com" })
  yield* mustBe(cross.status, 403, "from another site")
  yield* mustBe((yield* post("/oauth/consent", fields, { cookie })).status, 403, "from nowhere")
  const forged = yield* press("/oauth/consent", { ...fields, token: "AAAA" }, cookie)
  yield* mustBe(forged.status, 400, "with a forged token")
  const altered = { ...fields, request: fields.request.replace("scope=openid", "scope=openid+email") }
  yield* mustBe((yield* press("/oauth/consent", altered, cookie)).status, 400, "with another request")
  yield* mustBe((yield* press("/oauth/consent", fields, other.cookie)).status, 400, "in another session")
  const denied = yield* press("/oauth/consent", { ...fields, decision: "deny" }, cookie)
  yield* mustBe(denied.headers.get("location"), null, "no redirect from a form")
  const answer = new URL((yield* onwardOf(denied)) ?? "")
  yield* mustBe(answer.searchParams.get("error"), "access_denied", "error after a no")
  yield* mustBe(answer.searchParams.get("iss"), defaultIssuer, "iss after a no")
  const switched = yield* press("/oauth/consent", { ...fields, decision: "switch" }, cookie)
  yield* must(switched.headers.get("location")?.startsWith(`${defaultIssuer}/sign-in`) === true, "another account")
})

const remembering = Effect.gen(function* () {
  const { cookie } = yield* someone
  const silent = yield* authorize(authorization({ prompt: "none" }), cookie)
  yield* mustBe(silent.parameters.get("error"), "consent_required", "before any consent")
  yield* signInTo({}, cookie)
  const again = yield* visit(`/oauth/authorize?${query(authorization())}`, cookie)
  yield* mustBe(again.status, 303, "status of a second visit")
  yield* mustBe((yield* open({ scope: "openid profile" }, cookie)).status, 200, "more is asked for")
  yield* mustBe((yield* open({ prompt: "consent" }, cookie)).status, 200, "prompt=consent")
  yield* mustBe((yield* open({ prompt: "select_account" }, cookie)).status, 200, "prompt=select_account")
  const ours = yield* visit(`/oauth/authorize?${query(authorization({ client_id: "ours" }))}`, cookie)
  yield* mustBe(ours.status, 303, "a trusted client does not ask")
})

const nativeApps = Effect.gen(function* () {
  const { cookie } = yield* someone
  const loopback = { client_id: "desktop", redirect_uri: "http://127.0.0.1:49152/cb" }
  const { location } = yield* authorize(authorization(loopback), cookie)
  yield* must(location?.startsWith("http://127.0.0.1:49152/cb?code=") === true, "any port of loopback")
  yield* mustBe((yield* open(loopback, cookie)).status, 200, "an app that cannot be told apart asks each time")
  const custom = yield* authorize(authorization({ client_id: "desktop", redirect_uri: "com.example.app:/cb" }), cookie)
  yield* must(custom.location?.startsWith("com.example.app:/cb?code=") === true, "its own scheme")
  for (const redirect_uri of [
    "http://localhost:49152/cb",
    "http://127.0.0.1:49152/cb/",
    "http://127.0.0.1:49152@evil.example.com/cb",
    "http://127.0.0.1.evil.example.com/cb",
    "http://127.0.0.2/cb",
    "https://127.0.0.1/cb"
  ]) {
    const refused = yield* authorize(authorization({ client_id: "desktop", redirect_uri }), cookie)
    yield* mustBe(refused.response.status, 400, `status for ${redirect_uri}`)
  }
  const web = yield* authorize(authorization({ client_id: "basic", redirect_uri: "http://127.0.0.1:5/cb" }), cookie)
  yield* mustBe(web.response.status, 400, "a web client has no other port")
})

const beginDevice = Effect.gen(function* () {
  const response = yield* post("/oauth/device_authorization", {
    client_id: "svc-cli",
    scope: "openid read offline_access"
  })
  const body = yield* json(response)
  return { deviceCode: String(body["device_code"]), userCode: String(body["user_code"]), body }
})

const poll = (deviceCode: string, clientId = "svc-cli") =>
  post("/oauth/token", {
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: deviceCode,
    client_id: clientId
  })

const enterCode = Effect.fnUntraced(function* (userCode: string, cookie: string) {
  const form = formFields(yield* bodyText(yield* visit("/oauth/device", cookie)))
  return yield* press("/oauth/device", { user_code: userCode, token: form.token, decision: "look" }, cookie)
})

const device = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie, subject } = yield* someone
  const { body, deviceCode, userCode } = yield* beginDevice
  yield* must(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/.test(userCode), "the user code")
  yield* mustBe(body["verification_uri"], `${defaultIssuer}/oauth/device`, "verification_uri")
  yield* mustBe(yield* errorOf(yield* poll(deviceCode)), "authorization_pending", "first poll")
  yield* mustBe(yield* errorOf(yield* poll(deviceCode)), "slow_down", "polled too fast")
  yield* time.advance("6 seconds")
  yield* mustBe(yield* errorOf(yield* poll(deviceCode)), "slow_down", "the interval is longer now")
  const away = yield* visit(`/oauth/device?user_code=${userCode}`)
  yield* must(away.headers.get("location")?.startsWith(`${defaultIssuer}/sign-in`) === true, "sign in first")
  const filled = yield* bodyText(yield* visit(`/oauth/device?user_code=${userCode}`, cookie))
  yield* must(filled.includes(`value="${userCode}"`), "the code of the address is filled in")
  yield* mustBe((yield* enterCode("BBBB-BBBB", cookie)).status, 400, "a wrong code")
  const question = yield* bodyText(yield* enterCode(userCode.toLowerCase().replace("-", " "), cookie))
  yield* must(question.includes("svc CLI") && question.includes(userCode), "the question names client and code")
  const { token } = formFields(question)
  const code = userCode.replace("-", "")
  const cross = yield* post("/oauth/device", { user_code: code, token, decision: "allow" }, { cookie })
  yield* mustBe(cross.status, 403, "an answer from elsewhere")
  const other = yield* someone
  const swapped = yield* press("/oauth/device", { user_code: code, token, decision: "allow" }, other.cookie)
  yield* mustBe(swapped.status, 400, "an answer by somebody else")
  yield* mustBe(
    (yield* press("/oauth/device", { user_code: code, token, decision: "allow" }, cookie)).status,
    200,
    "yes"
  )
  yield* time.advance("30 seconds")
  yield* mustBe(yield* errorOf(yield* poll(deviceCode, "spa")), "unauthorized_client", "another client")
  const tokens = yield* tokensOf(yield* poll(deviceCode))
  yield* mustBe((yield* json(yield* userInfo(tokens.access_token)))["sub"], subject, "sub")
  const renewed = yield* tokensOf(yield* refresh(tokens.refresh_token ?? "", { client_id: "svc-cli" }, {}))
  yield* time.advance("30 seconds")
  yield* mustBe(yield* errorOf(yield* poll(deviceCode)), "invalid_grant", "a second use")
  yield* mustBe((yield* userInfo(renewed.access_token)).status, 401, "which ends what it gave")
})

const deviceRefusals = Effect.gen(function* () {
  const time = yield* TestTime
  const { cookie } = yield* someone
  const denied = yield* beginDevice
  const question = yield* bodyText(yield* enterCode(denied.userCode, cookie))
  const answer = { user_code: denied.userCode, token: formFields(question).token, decision: "deny" }
  yield* press("/oauth/device", answer, cookie)
  yield* mustBe(yield* errorOf(yield* poll(denied.deviceCode)), "access_denied", "after a no")
  const late = yield* beginDevice
  yield* time.advance("10 minutes")
  yield* mustBe(yield* errorOf(yield* poll(late.deviceCode)), "expired_token", "after ten minutes")
  yield* mustBe((yield* enterCode(late.userCode, cookie)).status, 400, "the code is unknown then")
  yield* mustBe(yield* errorOf(yield* poll("svcd_unknown")), "invalid_grant", "an unknown device code")
  const web = yield* post("/oauth/device_authorization", { client_id: "spa" })
  yield* mustBe(yield* errorOf(web), "unauthorized_client", "a client without the device flow")
})

const lockedAccount = Effect.gen(function* () {
  const users = yield* Users
  const { cookie, subject } = yield* someone
  const tokens = yield* signInTo({ scope: "openid offline_access" }, cookie)
  yield* users.setStatus(serviceContext, subject, "disabled")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo of a locked account")
  yield* mustBe(yield* errorOf(yield* refresh(tokens.refresh_token ?? "")), "invalid_grant", "its refresh")
  const { location } = yield* authorize(authorization(), cookie)
  yield* must(location?.includes("/sign-in") === true, "its session is gone")
})

const errorPage = Effect.gen(function* () {
  const response = yield* visit(`/oauth/authorize?client_id=%3Cscript%3E&redirect_uri=${callback}`)
  const page = yield* bodyText(response)
  yield* mustBe(response.status, 400, "status")
  yield* must(!page.includes("<script"), "nothing of the request is markup")
  yield* must(page.includes(response.headers.get("x-request-id") ?? "?"), "the request id is shown")
})

/** Rules for the pages that people see, and for actions that only the person may take. */
export const pageRuleModules: ReadonlyArray<Module> = [
  { name: "the consent page is plain, safe and bilingual", check: consentPage },
  { name: "a decision counts only from its own page, session and request", check: decisions },
  { name: "a person is prompted once, and again for more scopes", check: remembering },
  { name: "native apps may choose a loopback port and nothing else", check: nativeApps },
  { name: "a device is connected by the person who started it", check: device },
  { name: "a refused or expired device gets nothing", check: deviceRefusals },
  { name: "a locked account loses access everywhere at once", check: lockedAccount },
  { name: "an error page informs the person, and quotes nothing", check: errorPage }
]
