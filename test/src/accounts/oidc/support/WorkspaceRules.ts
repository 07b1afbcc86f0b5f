import { Effect } from "effect"
import { CapsuleClients, capsuleClientId } from "../../../../../actors/access/issuer/CapsuleClients.ts"
import { newWorkspace } from "../../../../support/Accounts.ts"
import {
  authorization,
  authorize,
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
import {
  capsuleCallback,
  capsuleOf,
  capsuleOrigin,
  nextEpoch,
  otherConfig,
  setCapsuleStatus,
  setMembership,
  withoutTable
} from "./CapsuleFixture.ts"
import { idTokenClaims, verifyJwt } from "./IdTokens.ts"
import { callback, resource } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { namedRun } from "../../../../support/NamedIds.ts"

const offline = "openid profile offline_access"
let places = 0
const handle = (prefix: string) => `${prefix}-${places++}`

/** Serialises a value as JSON, for comparison. */
const shape = (value: unknown) => JSON.stringify(value)

const selected = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { id: workspace_id } = yield* newWorkspace(subject, { handle: handle("team") })
  const tokens = yield* signInTo({ scope: offline, workspace_id }, cookie)
  const wanted = shape({ workspace_id, role: "owner" })
  yield* mustBe(shape((yield* idTokenClaims(tokens.id_token))["svc"]), wanted, "svc of the ID token")
  const info = yield* json(yield* userInfo(tokens.access_token))
  yield* mustBe(shape(info["svc"]), wanted, "svc of UserInfo")
  yield* mustBe(shape(info["workspace_memberships"]), shape([workspace_id]), "workspace_memberships")
  yield* setMembership(workspace_id, subject, { role: "viewer" })
  const renewed = yield* tokensOf(yield* refresh(tokens.refresh_token ?? ""))
  const lowered = shape({ workspace_id, role: "viewer" })
  yield* mustBe(shape((yield* idTokenClaims(renewed.id_token))["svc"]), lowered, "the role of this moment")
  const unbound = yield* signInTo({ scope: "openid workspaces" }, cookie)
  const all = yield* json(yield* userInfo(unbound.access_token))
  yield* must(!("svc" in all), "without a selector there is no svc")
  yield* must(shape(all["workspace_memberships"]).includes(workspace_id), "the scope workspaces lists them")
  const neither = yield* json(yield* userInfo((yield* signInTo({}, cookie)).access_token))
  yield* must(!("workspace_memberships" in neither), "without the scope nothing is listed")
})

const badSelectors = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const stranger = yield* someone
  const mine = yield* newWorkspace(subject, { handle: handle("mine") })
  const theirs = yield* newWorkspace(stranger.subject, { handle: handle("theirs") })
  const refusedWith = (workspace_id: string, error: string) =>
    Effect.gen(function* () {
      const { parameters } = yield* authorize(authorization({ workspace_id }), cookie)
      yield* mustBe(parameters.get("error"), error, `error for ${workspace_id.slice(0, 20)}`)
      yield* mustBe(parameters.get("code"), null, "code")
    })
  yield* refusedWith("", "invalid_request")
  yield* refusedWith("\u0000", "invalid_request")
  yield* refusedWith(`${mine.id}\n`, "invalid_request")
  yield* refusedWith("w".repeat(4096), "invalid_request")
  yield* refusedWith(theirs.id, "access_denied")
  yield* refusedWith("ws_unknown", "access_denied")
  const twice = `${new URLSearchParams(authorization({ workspace_id: mine.id })).toString()}&workspace_id=${theirs.id}`
  const { parameters } = yield* authorize(twice, cookie)
  yield* mustBe(parameters.get("error"), "invalid_request", "error for two of them")
})

const suspension = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { id: workspace_id } = yield* newWorkspace(subject, { handle: handle("susp") })
  const tokens = yield* signInTo({ scope: `${offline} api.use`, workspace_id, resource }, cookie)
  const pending = yield* codeOf(authorization({ workspace_id }), cookie)
  yield* setMembership(workspace_id, subject, { status: "suspended" })
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo")
  yield* mustBe(yield* errorOf(yield* exchange(pending)), "invalid_grant", "a code issued before")
  yield* mustBe(yield* errorOf(yield* refresh(tokens.refresh_token ?? "", { resource })), "invalid_grant", "refresh")
  yield* setMembership(workspace_id, subject, { status: "active" })
  yield* mustBe((yield* refresh(tokens.refresh_token ?? "")).status, 400, "the family stays ended")
  const anew = yield* signInTo({ scope: `${offline} api.use`, workspace_id, resource }, cookie)
  const jwt = yield* tokensOf(yield* refresh(anew.refresh_token ?? "", { resource }))
  const { payload } = yield* verifyJwt(jwt.access_token, { audience: resource })
  yield* mustBe(shape(payload["svc"]), shape({ workspace_id, role: "owner" }), "svc of a resource token")
})

const unverifiable = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { id: workspace_id } = yield* newWorkspace(subject, { handle: handle("dark") })
  const tokens = yield* signInTo({ scope: offline, workspace_id }, cookie)
  const code = yield* codeOf(authorization({ workspace_id }), cookie)
  const dark = yield* withoutTable(
    "memberships",
    Effect.all([
      refresh(tokens.refresh_token ?? ""),
      exchange(code),
      userInfo(tokens.access_token),
      post("/oauth/introspect", { token: tokens.access_token }, { authorization: basic })
    ])
  )
  for (const response of dark) {
    yield* mustBe(response.status, 503, "status while memberships cannot be read")
    yield* mustBe(yield* errorOf(response), "temporarily_unavailable", "error while they cannot be read")
  }
  yield* tokensOf(yield* refresh(tokens.refresh_token ?? ""))
  yield* tokensOf(yield* exchange(code))
})

const basic = `Basic ${Buffer.from("basic:a-client-secret-of-at-least-32-characters").toString("base64")}`

/** Creates a Capsule whose client was registered by an apply, and signs in its owner. */
export const served = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  const owner = yield* someone
  const name = handle("cap")
  const { capsuleId, workspaceId } = yield* capsuleOf(owner.subject, name)
  const plan = namedRun(name)
  const delivery = yield* clients.pin(plan, capsuleId, capsuleOrigin)
  yield* clients.check(plan, capsuleId)
  yield* clients.register(plan, capsuleId)
  const clientId = delivery?.clientId ?? ""
  const request = { client_id: clientId, redirect_uri: capsuleCallback, scope: "openid profile offline_access email" }
  const asClient = { client_id: clientId, redirect_uri: capsuleCallback }
  const signIn = Effect.gen(function* () {
    const code = yield* codeOf(authorization(request), owner.cookie)
    return yield* tokensOf(yield* exchange(code, asClient, {}))
  })
  return { ...owner, capsuleId, workspaceId, clientId, request, asClient, signIn, name, plan }
})

const capsuleSignIn = Effect.gen(function* () {
  const { capsuleId, clientId, cookie, request, signIn, workspaceId } = yield* served
  const tokens = yield* signIn
  yield* mustBe(tokens.scope, "openid profile offline_access", "scope: the registered ones alone")
  const wanted = shape({ workspace_id: workspaceId, role: "owner", capsule_id: capsuleId })
  yield* mustBe(shape((yield* idTokenClaims(tokens.id_token, clientId))["svc"]), wanted, "svc of the ID token")
  const info = yield* json(yield* userInfo(tokens.access_token))
  yield* mustBe(shape(info["svc"]), wanted, "svc of UserInfo")
  yield* mustBe(shape(info["workspace_memberships"]), shape([workspaceId]), "workspace_memberships")
  const stranger = yield* someone
  const foreign = yield* authorize(authorization(request), stranger.cookie)
  yield* mustBe(foreign.parameters.get("error"), "access_denied", "somebody outside the Workspace")
  const { id: other } = yield* newWorkspace(stranger.subject, { handle: handle("oth") })
  const elsewhere = yield* authorize(authorization({ ...request, workspace_id: other }), cookie)
  yield* mustBe(elsewhere.parameters.get("error"), "access_denied", "another Workspace")
  const { code_challenge: _challenge, code_challenge_method: _method, ...plain } = authorization(request)
  const unproven = yield* authorize(plain, cookie)
  yield* mustBe(unproven.parameters.get("error"), "invalid_request", "without PKCE")
})

/** Tries to authorize, to refresh and to read UserInfo as the Capsule's client, and returns the results. */
export const reach = Effect.fnUntraced(function* (capsule: Effect.Success<typeof served>, before: Tokens) {
  const authorized = yield* authorize(authorization(capsule.request), capsule.cookie)
  const refreshed = yield* refresh(before.refresh_token ?? "", { client_id: capsule.clientId }, {})
  return {
    authorize: authorized.parameters.get("error"),
    refresh: refreshed.status === 200 ? null : yield* errorOf(refreshed),
    userInfo: (yield* userInfo(before.access_token)).status
  }
})
type Tokens = Effect.Success<ReturnType<typeof tokensOf>>

export const staleReach = { authorize: "access_denied", refresh: "invalid_grant", userInfo: 401 }

const staleAuthority = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  for (const move of ["epoch", "config", "disabled"] as const) {
    const capsule = yield* served
    const before = yield* capsule.signIn
    const pending = yield* codeOf(authorization(capsule.request), capsule.cookie)
    if (move === "epoch") yield* nextEpoch(capsule.capsuleId)
    if (move === "config") yield* otherConfig(capsule.capsuleId, handle("next"))
    if (move === "disabled") yield* setCapsuleStatus(capsule.capsuleId, "disabled")
    yield* mustBe(shape(yield* reach(capsule, before)), shape(staleReach), `what is left after ${move}`)
    const exchanged = yield* exchange(pending, capsule.asClient, {})
    yield* mustBe(yield* errorOf(exchanged), "invalid_grant", `a code issued before ${move}`)
    // The plan reviewed earlier cannot restore the client, but a new plan can. The refused requests consumed neither the
    // token nor the code.
    const old = yield* Effect.flip(clients.register(capsule.plan, capsule.capsuleId))
    yield* must(old.reason === "drift" || old.reason === "capsule_gone", "the old plan registers nothing")
    yield* setCapsuleStatus(capsule.capsuleId, "active")
    yield* clients.pin(namedRun(`${capsule.plan}next`), capsule.capsuleId, capsuleOrigin)
    yield* clients.register(namedRun(`${capsule.plan}next`), capsule.capsuleId)
    yield* mustBe((yield* userInfo(before.access_token)).status, 200, `UserInfo after the apply that follows ${move}`)
    yield* tokensOf(yield* refresh(before.refresh_token ?? "", { client_id: capsule.clientId }, {}))
  }
})

const termination = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  const capsule = yield* served
  const before = yield* capsule.signIn
  yield* clients.retire(capsule.capsuleId)
  yield* clients.retire(capsule.capsuleId)
  const gone = yield* authorize(authorization(capsule.request), capsule.cookie)
  yield* mustBe(gone.response.status, 400, "status of authorize")
  yield* mustBe(gone.location, undefined, "nothing is sent to a retired client")
  yield* mustBe((yield* userInfo(before.access_token)).status, 401, "UserInfo")
  const refreshed = yield* refresh(before.refresh_token ?? "", { client_id: capsule.clientId }, {})
  yield* mustBe(yield* errorOf(refreshed), "invalid_client", "refresh")
})

const registration = Effect.gen(function* () {
  const clients = yield* CapsuleClients
  const { cookie, subject } = yield* someone
  const name = handle("reg")
  const { capsuleId } = yield* capsuleOf(subject, name)
  const clientId = capsuleClientId(capsuleId)
  const request = authorization({ client_id: clientId, redirect_uri: capsuleCallback })
  for (const origin of [
    "http://app.example.com",
    "https://app.example.com/",
    "https://app.example.com:443",
    "https://APP.example.com",
    "https://app.example.com/path",
    "https://user@app.example.com",
    "https://app.example.com?x",
    "app.example.com",
    ""
  ]) {
    const refused = yield* Effect.flip(clients.pin(namedRun(name), capsuleId, origin))
    yield* mustBe(refused.reason, "origin_invalid", `reason for ${origin}`)
  }
  const unpinned = yield* Effect.flip(clients.register(namedRun(name), capsuleId))
  yield* mustBe(unpinned.reason, "drift", "an apply without a pin")
  yield* clients.pin(namedRun(name), capsuleId, capsuleOrigin)
  yield* clients.check(namedRun(name), capsuleId)
  const early = yield* authorize(request, cookie)
  yield* mustBe(early.response.status, 400, "a plan alone registers nothing")
  yield* nextEpoch(capsuleId)
  const moved = yield* Effect.flip(clients.check(namedRun(name), capsuleId))
  yield* mustBe(moved.reason, "drift", "the epoch moved between plan and apply")
  yield* clients.pin(namedRun(`${name}2`), capsuleId, capsuleOrigin)
  yield* clients.register(namedRun(`${name}2`), capsuleId)
  yield* clients.register(namedRun(`${name}2`), capsuleId)
  const good = yield* authorize(request, cookie)
  yield* must(good.parameters.get("code") !== null, "after the apply the client exists")
  // After the requirement is removed, the next apply removes the identity.
  yield* otherConfig(capsuleId, handle("plain"), false)
  yield* mustBe(yield* clients.pin(namedRun(`${name}3`), capsuleId, undefined), undefined, "nothing to deliver")
  yield* clients.register(namedRun(`${name}3`), capsuleId)
  yield* mustBe((yield* authorize(request, cookie)).response.status, 400, "the client is retired")
})

const dark = Effect.gen(function* () {
  const capsule = yield* served
  const before = yield* capsule.signIn
  const [refreshed, info] = yield* withoutTable(
    "install_configs",
    Effect.all([
      refresh(before.refresh_token ?? "", { client_id: capsule.clientId }, {}),
      userInfo(before.access_token)
    ])
  )
  yield* mustBe(refreshed?.status, 503, "refresh while the Capsule cannot be read")
  yield* mustBe(info?.status, 503, "UserInfo while the Capsule cannot be read")
  yield* tokensOf(yield* refresh(before.refresh_token ?? "", { client_id: capsule.clientId }, {}))
})

const narrowed = Effect.gen(function* () {
  const capsule = yield* served
  const before = yield* capsule.signIn
  const fields = { client_id: capsule.clientId, scope: "profile" }
  const tokens = yield* tokensOf(yield* refresh(before.refresh_token ?? "", fields, {}))
  yield* mustBe(tokens.scope, "profile", "scope")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 403, "UserInfo without openid")
})

const lostBetween = Effect.gen(function* () {
  const { cookie, subject } = yield* someone
  const { id: workspace_id } = yield* newWorkspace(subject, { handle: handle("lost") })
  yield* setMembership(workspace_id, subject, { status: "suspended" })
  const { parameters } = yield* authorize(authorization({ workspace_id, prompt: "none" }), cookie)
  yield* must(parameters.get("code") === null, "no code without a live membership")
  const { location } = yield* authorize(authorization({ workspace_id }), cookie)
  yield* must(location?.startsWith(callback) === true, "the client is told")
})

/** Rules for Workspaces, and for clients that Capsules own. */
export const workspaceRuleModules: ReadonlyArray<Module> = [
  { name: "a selected Workspace is in every token, with the current role", check: selected },
  { name: "a selector that is malformed, doubled or foreign is refused", check: badSelectors },
  { name: "a suspended member loses codes, tokens and refresh", check: suspension },
  { name: "an unverifiable authority is 503, and nothing is consumed", check: unverifiable },
  { name: "a Workspace lost before the code was redeemed grants nothing", check: lostBetween },
  { name: "a Capsule's client serves only its Workspace", check: capsuleSignIn },
  { name: "a Capsule that moved on is stale until it is applied", check: staleAuthority },
  { name: "a destroyed Capsule's client is gone", check: termination },
  { name: "a Capsule's client may request less", check: narrowed },
  { name: "only a final apply registers, and only what its plan pinned", check: registration },
  { name: "an unverifiable Capsule is 503, and nothing is consumed", check: dark }
]
