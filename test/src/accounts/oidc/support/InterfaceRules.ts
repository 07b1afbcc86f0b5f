import { createHash } from "node:crypto"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import {
  authorization,
  authorize,
  basicAuth,
  bodyText,
  codeOf,
  errorOf,
  exchange,
  formFields,
  json,
  must,
  mustBe,
  post,
  press,
  query,
  refresh,
  tokensOf,
  userInfo,
  visit
} from "./Browser.ts"
import { setCapsuleStatus, setMembership, withoutTable } from "./CapsuleFixture.ts"
import { verifyJwt } from "./IdTokens.ts"
import { callback, interfaceResource, secret } from "./IssuerFixture.ts"
import type { Module } from "./Modules.ts"
import { TestTime } from "./TestTime.ts"
import { served } from "./WorkspaceRules.ts"

const at = "2026-01-01T00:00:00.000Z"
const id = (prefix: string, name: string) => `${prefix}_${createHash("sha256").update(name).digest("hex").slice(0, 24)}`

/** Stores an Interface with a protected address, as if an apply had resolved it. */
const provide = Effect.fnUntraced(function* (
  name: string,
  capsuleId: string,
  workspaceId: string,
  resource = interfaceResource
) {
  const sql = yield* SqlClient.SqlClient
  const interfaceId = id("ifc", name)
  yield* sql`INSERT INTO interfaces ${sql.insert({ id: interfaceId, workspace_id: workspaceId, capsule_id: capsuleId, interface_key: name, name: "Tools", type: "mcp", version: "1", document: "{}", inputs: JSON.stringify({ address: resource }), access: '{"visibility":"workspace","resourceUriInput":"address"}', status: "resolved", revision: 1, created_at: at, updated_at: at })}`
  return interfaceId
})

const bind = Effect.fnUntraced(function* (
  interfaceId: string,
  workspaceId: string,
  subject: string,
  binding: { readonly consumer?: string; readonly permissions?: string; readonly delivery?: string } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const { consumer = null, delivery = "oauth2", permissions = '["mcp.invoke"]' } = binding
  yield* sql`INSERT INTO interface_bindings ${sql.insert({ id: id("ifb", `${interfaceId}${consumer ?? ""}`), workspace_id: workspaceId, interface_id: interfaceId, subject, consumer_capsule_id: consumer, request_key: "use", permissions, delivery_type: delivery, status: "ready", created_at: at, updated_at: at })}`
})

/** Creates another Capsule in the same Workspace. */
const neighbour = Effect.fnUntraced(function* (capsuleId: string, name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql`SELECT * FROM capsules WHERE id = ${capsuleId}`
  yield* sql`INSERT INTO capsules ${sql.insert({ ...row, id: id("cap", name), name, slug: name })}`
  return id("cap", name)
})

/**
 * Creates a Capsule with an Interface, another Capsule with an application, and a person who may use the Interface from that
 * application.
 */
const consuming = Effect.gen(function* () {
  const capsule = yield* served
  const { capsuleId, name, workspaceId } = capsule
  const provider = yield* neighbour(capsuleId, `${name}-provider`)
  const interfaceId = yield* provide(name, provider, workspaceId)
  const asked = { ...capsule.request, scope: "openid offline_access mcp.invoke unknown", resource: interfaceResource }
  return { ...capsule, provider, interfaceId, asked }
})

const refusal = Effect.fnUntraced(function* (fields: Readonly<Record<string, string>>, cookie: string) {
  const { parameters } = yield* authorize(authorization(fields), cookie)
  return parameters.get("code") === null ? parameters.get("error") : "a code"
})

const introspect = (token: string) =>
  post("/oauth/introspect", { token }, basicAuth("second", `${secret}-second`)).pipe(
    Effect.flatMap(json),
    Effect.map((body) => body["active"])
  )

const invoked = Effect.gen(function* () {
  const time = yield* TestTime
  const { asClient, asked, capsuleId, clientId, cookie, interfaceId, subject, workspaceId } = yield* consuming
  yield* mustBe(yield* refusal(asked, cookie), "invalid_target", "error without a binding")
  yield* bind(interfaceId, workspaceId, subject, { consumer: capsuleId })
  const page = yield* bodyText(yield* visit(`/oauth/authorize?${query(authorization(asked))}`, cookie))
  yield* must(page.includes("mcp.invoke") && !page.includes("unknown</li>"), "the person is asked for what is there")
  const code = yield* codeOf(authorization(asked), cookie)
  const tokens = yield* tokensOf(yield* exchange(code, { ...asClient, resource: interfaceResource }, {}))
  yield* mustBe(tokens.scope, "mcp.invoke", "scope")
  yield* mustBe(tokens.expires_in, 300, "expires_in")
  const { payload } = yield* verifyJwt(tokens.access_token, { audience: interfaceResource, typ: "at+jwt" })
  yield* mustBe(payload.sub, subject, "sub")
  yield* mustBe(payload["client_id"], clientId, "client_id")
  const svc = { workspace_id: workspaceId, role: "owner", capsule_id: capsuleId }
  yield* mustBe(JSON.stringify(payload["svc"]), JSON.stringify(svc), "svc")
  yield* mustBe((yield* userInfo(tokens.access_token)).status, 401, "UserInfo takes no token of an Interface")
  yield* mustBe(yield* introspect(tokens.access_token), true, "the guard of the Interface sees it")
  // A token requested without the resource is valid for the issuer's own API, but not for the Interface.
  const opaque = yield* tokensOf(yield* refresh(tokens.refresh_token ?? "", { client_id: clientId }, {}))
  yield* mustBe(opaque.scope, "openid offline_access", "scope of a token of the issuer")
  yield* time.advance("301 seconds")
  yield* mustBe(yield* introspect(tokens.access_token), false, "after five minutes")
})

const withdrawn = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const set = (table: "interfaces" | "interface_bindings", column: string, key: string, status: string) =>
    Effect.asVoid(sql`UPDATE ${sql(table)} SET status = ${status} WHERE ${sql(column)} = ${key}`)
  const { asClient, asked, capsuleId, clientId, cookie, interfaceId, provider, subject, workspaceId } = yield* consuming
  yield* bind(interfaceId, workspaceId, subject, { consumer: capsuleId })
  const first = yield* tokensOf(yield* exchange(yield* codeOf(authorization(asked), cookie), asClient, {}))
  let live = first.refresh_token ?? ""
  const next = Effect.suspend(() => refresh(live, { client_id: clientId, resource: interfaceResource }, {}))
  const moves = [
    ["binding", set("interface_bindings", "interface_id", interfaceId, "revoked")],
    ["Interface", set("interfaces", "id", interfaceId, "retired")],
    ["providing Capsule", setCapsuleStatus(provider, "disabled")]
  ] as const
  const restore = Effect.all([
    set("interface_bindings", "interface_id", interfaceId, "ready"),
    set("interfaces", "id", interfaceId, "resolved"),
    setCapsuleStatus(provider, "active")
  ])
  for (const [what, move] of moves) {
    const before = yield* tokensOf(yield* next)
    live = before.refresh_token ?? ""
    const pending = yield* codeOf(authorization(asked), cookie)
    yield* mustBe(yield* introspect(before.access_token), true, `a token before the ${what} went`)
    yield* move
    yield* mustBe(yield* introspect(before.access_token), false, `a token after the ${what} went`)
    yield* mustBe(yield* errorOf(yield* next), "invalid_target", `refresh after the ${what} went`)
    const exchanged = yield* exchange(pending, { ...asClient, resource: interfaceResource }, {})
    yield* mustBe(yield* errorOf(exchanged), "invalid_target", `exchange after the ${what} went`)
    yield* mustBe(yield* refusal(asked, cookie), "invalid_target", `authorize after the ${what} went`)
    yield* restore
  }
  // These refusals do not consume the refresh token, but losing the membership revokes the grant permanently.
  const again = yield* tokensOf(yield* next)
  live = again.refresh_token ?? ""
  const dark = yield* withoutTable("interface_bindings", next)
  yield* mustBe(dark.status, 503, "status while bindings cannot be read")
  yield* setMembership(workspaceId, subject, { status: "suspended" })
  yield* mustBe(yield* introspect(again.access_token), false, "a token of a suspended member")
  yield* mustBe(yield* errorOf(yield* next), "invalid_grant", "refresh of a suspended member")
  yield* mustBe(yield* refusal(asked, cookie), "access_denied", "authorize of a suspended member")
})

const confined = Effect.gen(function* () {
  const { asked, capsuleId, cookie, interfaceId, name, provider, subject, workspaceId } = yield* consuming
  const sql = yield* SqlClient.SqlClient
  const wrong = [
    ["another application's binding", { consumer: provider }],
    ["the providing Capsule's own binding", {}],
    ["another delivery", { consumer: capsuleId, delivery: "none" }],
    ["a permission that the operator does not allow", { consumer: capsuleId, permissions: '["mcp.admin"]' }]
  ] as const
  for (const [what, binding] of wrong) {
    yield* bind(interfaceId, workspaceId, subject, binding)
    const scope = "openid mcp.invoke mcp.admin"
    yield* mustBe(yield* refusal({ ...asked, scope }, cookie), "invalid_target", `error for ${what}`)
    yield* sql`DELETE FROM interface_bindings WHERE interface_id = ${interfaceId}`
  }
  yield* bind(interfaceId, workspaceId, subject, { consumer: capsuleId })
  yield* mustBe(yield* refusal(asked, cookie), "a code", "outcome for the right binding")
  const elsewhere = { ...asked, resource: `${interfaceResource}/` }
  yield* mustBe(yield* refusal(elsewhere, cookie), "invalid_target", "error for another address")
  const nothing = { ...asked, scope: "openid" }
  yield* mustBe(yield* refusal(nothing, cookie), "invalid_target", "error without a permission")
  // If two Interfaces claim the same address, a binding to the first must not grant access to the second.
  yield* provide(`${name}-double`, capsuleId, workspaceId)
  yield* mustBe(yield* refusal(asked, cookie), "invalid_target", "error for a doubled address")
})

const configured = Effect.gen(function* () {
  const { cookie, interfaceId, subject, workspaceId } = yield* consuming
  yield* bind(interfaceId, workspaceId, subject)
  const asked = { client_id: "mcp", redirect_uri: callback, scope: "mcp.invoke", resource: interfaceResource }
  const bound = { ...asked, workspace_id: workspaceId }
  yield* mustBe(yield* refusal({ ...bound, client_id: "spa" }, cookie), "invalid_target", "a client that may not")
  const code = yield* codeOf(authorization(bound), cookie)
  const tokens = yield* tokensOf(yield* exchange(code, { client_id: "mcp" }, {}))
  yield* mustBe(tokens.scope, "mcp.invoke", "scope")
  yield* mustBe(tokens.id_token, undefined, "ID token without openid")
  const { payload } = yield* verifyJwt(tokens.access_token, { audience: interfaceResource, typ: "at+jwt" })
  const svc = { workspace_id: workspaceId, role: "owner" }
  yield* mustBe(JSON.stringify(payload["svc"]), JSON.stringify(svc), "svc")
})

/** A client that does not support Workspaces. */
const plain = { client_id: "mcp", redirect_uri: callback, scope: "mcp.invoke" }

const meant = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { cookie, interfaceId, name, provider, subject, workspaceId } = yield* consuming
  const resource = `${interfaceResource}/${name}`
  yield* sql`UPDATE interfaces SET inputs = ${JSON.stringify({ address: resource })} WHERE id = ${interfaceId}`
  const asked = { ...plain, resource }
  yield* mustBe(yield* refusal(asked, cookie), "invalid_target", "error without a binding")
  yield* bind(interfaceId, workspaceId, subject)
  const page = yield* bodyText(yield* visit(`/oauth/authorize?${query(authorization(asked))}`, cookie))
  const [workspace] = yield* sql<{
    display_name: string
  }>`SELECT display_name FROM workspaces WHERE id = ${workspaceId}`
  yield* must(page.includes(workspace?.display_name ?? "?"), "the page names the Workspace that is meant")
  const tokens = yield* tokensOf(
    yield* exchange(yield* codeOf(authorization(asked), cookie), { client_id: "mcp", resource }, {})
  )
  const { payload } = yield* verifyJwt(tokens.access_token, { audience: resource, typ: "at+jwt" })
  const svc = { workspace_id: workspaceId, role: "owner" }
  yield* mustBe(JSON.stringify(payload["svc"]), JSON.stringify(svc), "svc")

  // An Interface at the same address is not a candidate in a Workspace where the person has no membership or no permission.
  const other = yield* served
  const elsewhere = yield* provide(`${name}-elsewhere`, other.capsuleId, other.workspaceId, resource)
  yield* mustBe(yield* refusal(asked, cookie), "a code", "outcome beside a stranger's Interface")
  const membership = id("mbr", name)
  yield* sql`INSERT INTO memberships ${sql.insert({ ...(yield* sql`SELECT * FROM memberships WHERE workspace_id = ${other.workspaceId}`)[0], id: membership, subject })}`
  yield* mustBe(yield* refusal(asked, cookie), "a code", "outcome beside an Interface without a binding")
  // With two candidates the issuer refuses to choose, but the client can request either Interface explicitly.
  yield* bind(elsewhere, other.workspaceId, subject)
  yield* mustBe(yield* refusal(asked, cookie), "invalid_target", "error with two")
  const named = { ...asked, workspace_id: other.workspaceId }
  yield* mustBe(yield* refusal(named, cookie), "a code", "outcome for the one that is named")
  yield* setMembership(other.workspaceId, subject, { status: "suspended" })
  yield* mustBe(yield* refusal(asked, cookie), "a code", "outcome after the other membership ended")
  yield* mustBe(yield* refusal({ ...asked, client_id: "spa" }, cookie), "invalid_target", "a client that may not")
  // Two Interfaces at the same address in one Workspace are ambiguous too.
  yield* provide(`${name}-double`, provider, workspaceId, resource)
  yield* mustBe(yield* refusal(asked, cookie), "invalid_target", "error for a doubled address")
})

/**
 * Checks that the same rules apply to devices: the consent page shows the Workspace, and approval covers only that
 * Workspace.
 */
const meantByDevice = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const time = yield* TestTime
  const { cookie, interfaceId, name, subject, workspaceId } = yield* consuming
  const resource = `${interfaceResource}/${name}`
  yield* sql`UPDATE interfaces SET inputs = ${JSON.stringify({ address: resource })} WHERE id = ${interfaceId}`
  yield* bind(interfaceId, workspaceId, subject)
  const client = { client_id: "mcp-device" }
  const begun = Effect.gen(function* () {
    const body = yield* json(yield* post("/oauth/device_authorization", { ...client, scope: "mcp.invoke", resource }))
    const code = String(body["user_code"])
    const form = formFields(yield* bodyText(yield* visit("/oauth/device", cookie)))
    const look = { user_code: code, token: form.token, decision: "look" }
    const shown = yield* press("/oauth/device", look, cookie)
    const page = yield* bodyText(shown)
    const place = /name="place" value="([^"]+)"/.exec(page)?.[1] ?? ""
    const answer = { user_code: code, token: formFields(page).token, decision: "allow" }
    return { deviceCode: String(body["device_code"]), shown, page, place, answer }
  })
  const poll = (deviceCode: string) =>
    post("/oauth/token", {
      ...client,
      grant_type: "urn:ietf:params:oauth:grant-type:device_code",
      device_code: deviceCode,
      resource
    })
  const { answer, deviceCode, page, place } = yield* begun
  const names = yield* sql<{ display_name: string }>`SELECT display_name FROM workspaces WHERE id = ${workspaceId}`
  yield* must(page.includes(names[0]?.display_name ?? "?"), "the page names the Workspace that is meant")
  yield* mustBe((yield* press("/oauth/device", answer, cookie)).status, 400, "an answer that names no page")
  const other = yield* begun
  const swapped = { ...answer, place: other.place }
  yield* mustBe((yield* press("/oauth/device", swapped, cookie)).status, 400, "an answer to another page")
  yield* mustBe((yield* press("/oauth/device", { ...answer, place }, cookie)).status, 200, "yes")
  yield* time.advance("10 seconds")
  const tokens = yield* tokensOf(yield* poll(deviceCode))
  const { payload } = yield* verifyJwt(tokens.access_token, { audience: resource, typ: "at+jwt" })
  yield* mustBe(JSON.stringify(payload["svc"]), JSON.stringify({ workspace_id: workspaceId, role: "owner" }), "svc")

  // If a person gains access to a second Interface at the same address, the issuer refuses to choose, and consent pages opened
  // earlier are void.
  const elsewhere = yield* served
  const second = yield* provide(`${name}-elsewhere`, elsewhere.capsuleId, elsewhere.workspaceId, resource)
  yield* sql`INSERT INTO memberships ${sql.insert({ ...(yield* sql`SELECT * FROM memberships WHERE workspace_id = ${elsewhere.workspaceId}`)[0], id: id("mbr", name), subject })}`
  yield* bind(second, elsewhere.workspaceId, subject)
  const late = { ...other.answer, place: other.place }
  const refused = yield* press("/oauth/device", late, cookie)
  yield* must(refused.status >= 400, "a page that was shown before there were two")
  yield* must((yield* begun).shown.status >= 400, "two of them are not guessed")
  // If the address now belongs to the other Interface, consent pages opened earlier do not authorise that Interface.
  yield* setMembership(workspaceId, subject, { status: "suspended" })
  yield* must((yield* press("/oauth/device", late, cookie)).status >= 400, "an answer for the other Workspace")
  yield* time.advance("10 seconds")
  yield* mustBe(yield* errorOf(yield* poll(other.deviceCode)), "authorization_pending", "nothing was given")
})

/** Rules for Interface tokens: the tokens need a binding, and expire with the binding. */
export const interfaceRuleModules: ReadonlyArray<Module> = [
  { name: "a token for an Interface needs a binding, and grants no more than it", check: invoked },
  { name: "the authority of an Interface token is checked again at each use", check: withdrawn },
  { name: "an application opens only the Interfaces meant for it", check: confined },
  { name: "a resource that is one Interface of the person identifies the Workspace", check: meant },
  { name: "a device's resource that is one Interface of the person identifies the Workspace", check: meantByDevice },
  { name: "the operator admits a configured client to Interfaces in one Workspace", check: configured }
]
