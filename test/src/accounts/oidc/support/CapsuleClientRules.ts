import { Effect, Redacted } from "effect"
import { CapsuleClients } from "../../../../../actors/access/issuer/CapsuleClients.ts"
import { namedRun } from "../../../../support/NamedIds.ts"
import {
  basicAuth,
  bodyText,
  errorOf,
  formFields,
  json,
  must,
  mustBe,
  onwardOf,
  post,
  press,
  query
} from "./Browser.ts"
import { signInTo, visit } from "./Browser.ts"
import { capsuleOrigin, nextEpoch, setCapsuleStatus } from "./CapsuleFixture.ts"
import type { Module } from "./Modules.ts"
import { someone } from "./Someone.ts"
import { served } from "./WorkspaceRules.ts"

/** Creates a Capsule whose latest apply registered these paths and this secret. */
const appliedWith = Effect.fnUntraced(function* (
  capsule: Effect.Success<typeof served>,
  run: string,
  options: { readonly postLogoutPaths?: ReadonlyArray<string>; readonly secret?: string }
) {
  const clients = yield* CapsuleClients
  const plan = namedRun(`${capsule.name}${run}`)
  yield* clients.pin(plan, capsule.capsuleId, capsuleOrigin, options.postLogoutPaths)
  yield* clients.check(plan, capsule.capsuleId)
  const secret = options.secret === undefined ? undefined : Redacted.make(options.secret)
  yield* clients.register(plan, capsule.capsuleId, secret)
})

/**
 * Signs out through the Capsule's application. Returns the browser's destination, or nothing if the return address is refused.
 */
const leaving = Effect.fnUntraced(function* (clientId: string, post_logout_redirect_uri: string) {
  const { cookie } = yield* someone
  const response = yield* visit(
    `/oauth/logout?${query({ client_id: clientId, post_logout_redirect_uri, state: "s" })}`,
    cookie
  )
  if (response.status !== 200) return undefined
  const fields = { ...formFields(yield* bodyText(response)), decision: "leave" }
  return yield* onwardOf(yield* press("/oauth/logout/decision", fields, cookie))
})

const returnAddresses = Effect.gen(function* () {
  const capsule = yield* served
  const to = (address: string) => leaving(capsule.clientId, address)
  const arrives = (address: string) =>
    Effect.flatMap(to(address), (at) => mustBe(at, `${address}?state=s`, `where ${address} leads`))
  const isRefused = (address: string) => Effect.flatMap(to(address), (at) => mustBe(at, undefined, address))
  yield* arrives(capsuleOrigin)
  yield* arrives(`${capsuleOrigin}/`)
  yield* isRefused(`${capsuleOrigin}/goodbye`)

  yield* appliedWith(capsule, "paths", { postLogoutPaths: ["/goodbye", "/de/tschuess"] })
  for (const path of ["", "/", "/goodbye", "/de/tschuess"]) yield* arrives(`${capsuleOrigin}${path}`)
  for (const near of ["/goodbye/", "/Goodbye", "/goodbye?a=b", "/goodbye#", "/good", "/%67oodbye", "/oidc/callback"]) {
    yield* isRefused(`${capsuleOrigin}${near}`)
  }
  yield* isRefused("https://app.example.com.evil.example/goodbye")
  yield* isRefused("http://app.example.com/goodbye")

  yield* appliedWith(capsule, "fewer", { postLogoutPaths: ["/goodbye"] })
  yield* arrives(`${capsuleOrigin}/goodbye`)
  yield* isRefused(`${capsuleOrigin}/de/tschuess`)
})

const pinnedPaths = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  const capsule = yield* served
  // Applying a plan registers the path that was reviewed with that plan, not the path from a later plan.
  const earlier = namedRun(`${capsule.name}earlier`)
  yield* clients.pin(earlier, capsule.capsuleId, capsuleOrigin, ["/goodbye"])
  yield* clients.pin(namedRun(`${capsule.name}later`), capsule.capsuleId, capsuleOrigin, ["/elsewhere"])
  yield* clients.register(earlier, capsule.capsuleId)
  yield* mustBe(
    yield* leaving(capsule.clientId, `${capsuleOrigin}/goodbye`),
    `${capsuleOrigin}/goodbye?state=s`,
    "its own"
  )
  yield* mustBe(yield* leaving(capsule.clientId, `${capsuleOrigin}/elsewhere`), undefined, "the path of another plan")
})

const secret = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

const introspect = (id: string, password: string, token: string) =>
  post("/oauth/introspect", { token }, basicAuth(id, password))

const resourceServer = Effect.gen(function* () {
  const capsule = yield* served
  const { clientId } = capsule
  yield* mustBe((yield* introspect(clientId, secret, "x")).status, 401, "before an apply delivers a secret")
  yield* appliedWith(capsule, "secret", { secret })
  const tokens = yield* capsule.signIn
  const seen = yield* json(yield* introspect(clientId, secret, tokens.access_token))
  yield* mustBe(seen["active"], true, "a token of the Capsule's client")
  yield* mustBe(seen["sub"], capsule.subject, "sub")
  yield* mustBe(seen["client_id"], clientId, "client_id")
  const inForm = { token: tokens.access_token, client_id: clientId, client_secret: secret }
  yield* mustBe((yield* json(yield* post("/oauth/introspect", inForm)))["active"], true, "with the secret in the form")

  const foreign = yield* signInTo({}, capsule.cookie)
  const other = yield* served
  const others = yield* other.signIn
  for (const token of [foreign.access_token, others.access_token]) {
    const answer = yield* json(yield* introspect(clientId, secret, token))
    yield* mustBe(JSON.stringify(answer), '{"active":false}', "a token of another client")
  }
  yield* mustBe((yield* introspect(clientId, `${secret}0`, tokens.access_token)).status, 401, "another secret")
  yield* mustBe(
    (yield* introspect(other.clientId, secret, others.access_token)).status,
    401,
    "another Capsule's client"
  )
  const unproven = yield* post("/oauth/introspect", { token: tokens.access_token, client_id: clientId })
  yield* mustBe(yield* errorOf(unproven), "unauthorized_client", "without the secret")
})

const introspectionOnly = Effect.gen(function* () {
  const capsule = yield* served
  yield* appliedWith(capsule, "secret", { secret })
  const { refresh_token = "" } = yield* capsule.signIn
  const headers = basicAuth(capsule.clientId, secret)
  for (const [path, fields] of [
    ["/oauth/token", { grant_type: "refresh_token", refresh_token }],
    ["/oauth/revoke", { token: refresh_token }],
    ["/oauth/device_authorization", { scope: "openid" }]
  ] as const) {
    const refused = yield* post(path, fields, headers)
    yield* mustBe(yield* errorOf(refused), "invalid_client", `the secret at ${path}`)
  }
  // The client is still public, so it refreshes without a secret.
  const refreshed = yield* post("/oauth/token", {
    grant_type: "refresh_token",
    refresh_token,
    client_id: capsule.clientId
  })
  yield* mustBe(refreshed.status, 200, "the public client")
})

const endOfSecret = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  const capsule = yield* served
  const asks = (password: string) => Effect.map(introspect(capsule.clientId, password, "x"), ({ status }) => status)
  yield* appliedWith(capsule, "first", { secret })
  yield* mustBe(yield* asks(secret), 200, "the first secret")
  const second = secret.replaceAll("0", "f")
  yield* appliedWith(capsule, "second", { secret: second })
  yield* mustBe(yield* asks(secret), 401, "the secret before the last apply")
  yield* mustBe(yield* asks(second), 200, "the secret of the last apply")

  yield* setCapsuleStatus(capsule.capsuleId, "disabled")
  yield* mustBe(yield* asks(second), 401, "while the Capsule is disabled")
  yield* setCapsuleStatus(capsule.capsuleId, "active")
  yield* mustBe(yield* asks(second), 200, "enabled again")
  yield* nextEpoch(capsule.capsuleId)
  yield* mustBe(yield* asks(second), 401, "while the Capsule is stale")
  yield* appliedWith(capsule, "third", { secret: second })
  yield* mustBe(yield* asks(second), 200, "after the next apply")
  yield* appliedWith(capsule, "without", {})
  yield* mustBe(yield* asks(second), 401, "after an apply whose module asks for none")
  yield* appliedWith(capsule, "again", { secret: second })
  yield* clients.retire(capsule.capsuleId)
  yield* mustBe(yield* asks(second), 401, "after the destroy")
  yield* must((yield* asks("")) === 401, "an empty secret")
})

/** Rules for Capsules' return addresses and resource servers. */
export const capsuleClientRuleModules: ReadonlyArray<Module> = [
  { name: "a Capsule's people return to reviewed addresses alone, after a sign-out", check: returnAddresses },
  { name: "an apply registers the return paths that its own plan pinned", check: pinnedPaths },
  { name: "a Capsule's resource server introspects the tokens of its own client alone", check: resourceServer },
  { name: "the secret of a resource server is good for introspection alone", check: introspectionOnly },
  { name: "the secret of a resource server is that of the last apply, and ends with the Capsule", check: endOfSecret }
]
