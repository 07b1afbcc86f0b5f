import { afterAll, test } from "bun:test"
import { Clock, type Context, Effect, Exit, Layer, Logger, ManagedRuntime, Redacted, Scope } from "effect"
import { SqlClient } from "effect/sql"
import * as fc from "fast-check"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { CapsuleClients } from "../../../../actors/access/issuer/CapsuleClients.ts"
import { SigningKeys } from "../../../../actors/access/issuer/SigningKeys.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { oidcRoutes } from "../../../../src/accounts/oidc/OidcRoutes.ts"
import { oidcServices } from "../../../../src/accounts/oidc/OidcServices.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { someone } from "./support/Someone.ts"
import { authorization, codeOf, exchange, json, must, mustBe, post, refresh, userInfo } from "./support/Browser.ts"
import { capsuleCallback, capsuleOf, capsuleOrigin, nextEpoch, setMembership } from "./support/CapsuleFixture.ts"
import { keySet, verifyJwt } from "./support/IdTokens.ts"
import { callback, clientDocument, defaultIssuer, issuerSettings, mounted, signIn } from "./support/IssuerFixture.ts"
import { testTime, TestTime } from "./support/TestTime.ts"
import { namedRun } from "../../../support/NamedIds.ts"

// The kinds of grant. `passing` is revoked with its session; the other kinds request `offline_access`.
const kinds = ["passing", "unbound", "workspace", "capsule"] as const
type Kind = (typeof kinds)[number]

type Action =
  | { readonly do: "authorize"; readonly kind: Kind }
  | { readonly do: "exchange" | "refresh" | "refreshOld" | "userInfo" | "revoke"; readonly at: number }
  | { readonly do: "suspend" | "resume" | "reAdopt" | "apply" | "rotateKeys" | "restart" | "signOut" | "signInAgain" }
  | { readonly do: "advance"; readonly seconds: number }

const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant("authorize" as const), kind: fc.constantFrom(...kinds) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constantFrom("exchange", "exchange", "refresh", "refresh", "refreshOld", "userInfo", "revoke"),
      at: fc.nat(5)
    })
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        "suspend",
        "resume",
        "resume",
        "reAdopt",
        "apply",
        "rotateKeys",
        "restart",
        "signOut",
        "signInAgain"
      )
    })
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("advance" as const), seconds: fc.constantFrom(1, 30, 61, 700, 901) })
  }
)

const isUnbound = (kind: Kind) => kind === "passing" || kind === "unbound"

/** The model's record of a grant. Times are in milliseconds. */
interface ModelGrant {
  readonly kind: Kind
  readonly code: string
  readonly codeAt: number
  codeUsed: boolean
  ended: boolean
  live: string | undefined
  readonly used: Array<string>
  readonly access: Array<{ readonly token: string; readonly at: number }>
}

const foundation = issuerSettings(defaultIssuer, clientDocument()).pipe(
  Layer.provideMerge(testAccounts),
  Layer.provideMerge(testTime),
  Layer.provideMerge(Logger.layer([]))
)
const runtime = ManagedRuntime.make(foundation)
afterAll(() => runtime.dispose())

const issuer = mounted(defaultIssuer, oidcRoutes).pipe(Layer.provideMerge(oidcServices))
type Issuer = Context.Context<Layer.Success<typeof issuer>>

let runs = 0

const walk = Effect.fnUntraced(function* (actions: ReadonlyArray<Action>) {
  const scope = yield* Effect.scope
  const time = yield* TestTime
  // Only the model advances time, so expiry does not depend on the machine's speed.
  yield* time.stop
  const sql = yield* SqlClient.SqlClient
  const started = yield* Scope.fork(scope)
  let running: { readonly scope: Scope.Closeable; readonly services: Issuer } = {
    scope: started,
    services: yield* Layer.buildWithScope(Layer.fresh(issuer), started)
  }
  const inside = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.suspend(() => Effect.provideContext(effect, running.services))

  const { cookie: firstCookie, subject } = yield* someone
  let cookie = firstCookie
  const sessionSecret = () => Redacted.make(cookie.slice(cookie.indexOf("=") + 1))
  const name = `model-${runs++}`
  const { capsuleId, workspaceId } = yield* capsuleOf(subject, name)
  let plans = 0
  const apply = Effect.gen(function* () {
    const clients = yield* CapsuleClients
    const plan = namedRun(`${name}${plans++}`)
    const delivery = yield* clients.pin(plan, capsuleId, capsuleOrigin)
    yield* clients.register(plan, capsuleId)
    return delivery?.clientId ?? ""
  })
  const clientId = yield* inside(apply)

  const model = { member: true, current: true, grants: new Array<ModelGrant>() }
  const idTokens: Array<{ readonly token: string; readonly audience: string; readonly exp: number }> = []
  const fieldsOf = (kind: Kind): Record<string, string> => ({
    scope: kind === "passing" ? "openid" : "openid offline_access",
    ...(isUnbound(kind) ? {} : { workspace_id: workspaceId }),
    ...(kind === "capsule" ? { client_id: clientId, redirect_uri: capsuleCallback } : {})
  })
  const asClient = (kind: Kind): [Record<string, string>, Record<string, string>?] =>
    kind === "capsule" ? [{ client_id: clientId, redirect_uri: capsuleCallback }, {}] : [{ redirect_uri: callback }]

  const isLive = (kind: Kind) => (isUnbound(kind) || model.member) && (kind !== "capsule" || model.current)
  /**
   * True if a refusal of this kind revokes the grant permanently. While a Capsule waits for its apply, refusals are
   * temporary.
   */
  const isLost = (kind: Kind) => !isUnbound(kind) && !model.member && (kind !== "capsule" || model.current)

  /** Records the issued tokens after verifying them with the current keys. */
  const took = Effect.fnUntraced(function* (grant: ModelGrant, response: Response) {
    const body = yield* json(response)
    const scopes = String(body["scope"]).split(" ")
    yield* must(
      scopes.every((scope) => ["openid", "offline_access"].includes(scope)),
      "scopes never grow"
    )
    if (grant.live !== undefined) grant.used.push(grant.live)
    grant.live = body["refresh_token"] === undefined ? undefined : String(body["refresh_token"])
    yield* mustBe(grant.live === undefined, grant.kind === "passing", "a refresh token only where it was granted")
    grant.access.push({ token: String(body["access_token"]), at: yield* Clock.currentTimeMillis })
    const audience = grant.kind === "capsule" ? clientId : "basic"
    const { payload } = yield* verifyJwt(String(body["id_token"]), { audience })
    yield* mustBe(payload.sub, subject, "sub")
    idTokens.push({ token: String(body["id_token"]), audience, exp: (payload.exp ?? 0) * 1000 })
  })

  const settle = Effect.fnUntraced(function* (grant: ModelGrant, expected: boolean, response: Response, what: string) {
    yield* mustBe(response.status === 200, expected, `${what} of a ${grant.kind} grant`)
    if (expected) yield* took(grant, response)
    else yield* mustBe((yield* json(response))["error"], "invalid_grant", `error of ${what}`)
  })

  const step = Effect.fnUntraced(function* (doing: Action) {
    const now = yield* Clock.currentTimeMillis
    switch (doing.do) {
      case "authorize": {
        if (!isLive(doing.kind)) return
        const code = yield* codeOf(authorization(fieldsOf(doing.kind)), cookie)
        model.grants.push({
          kind: doing.kind,
          code,
          codeAt: now,
          codeUsed: false,
          ended: false,
          live: undefined,
          used: [],
          access: []
        })
        return
      }
      case "suspend":
      case "resume":
        model.member = doing.do === "resume"
        return yield* setMembership(workspaceId, subject, { status: model.member ? "active" : "suspended" })
      case "signOut": {
        const sessions = yield* Sessions
        const { credentialId } = yield* sessions.authenticate(sessionSecret())
        yield* sessions.revoke(subject, credentialId)
        for (const grant of model.grants) grant.ended ||= grant.kind === "passing"
        cookie = yield* signIn(subject)
        return
      }
      case "signInAgain": {
        const { secret } = yield* (yield* Sessions).open({ subject, method: "password", replaces: sessionSecret() })
        cookie = `${cookie.slice(0, cookie.indexOf("="))}=${Redacted.value(secret)}`
        return
      }
      case "reAdopt":
        model.current = false
        return yield* nextEpoch(capsuleId)
      case "apply":
        model.current = true
        yield* apply
        return
      case "rotateKeys":
        yield* time.advance("11 minutes")
        return yield* Effect.flatMap(SigningKeys, (keys) => keys.rotate(serviceContext))
      case "restart": {
        yield* Scope.close(running.scope, Exit.void)
        const next = yield* Scope.fork(scope)
        running = { scope: next, services: yield* Layer.buildWithScope(Layer.fresh(issuer), next) }
        return
      }
      case "advance":
        return yield* time.advance(`${doing.seconds} seconds`)
      default: {
        const grant = model.grants[doing.at]
        if (grant !== undefined) yield* use(doing.do, grant, now)
      }
    }
  })

  const use = Effect.fnUntraced(function* (
    what: "exchange" | "refresh" | "refreshOld" | "userInfo" | "revoke",
    grant: ModelGrant,
    now: number
  ) {
    const [fields, headers] = asClient(grant.kind)
    const alive = !grant.ended && isLive(grant.kind)
    switch (what) {
      case "exchange": {
        const fresh = !grant.codeUsed && now - grant.codeAt < 60_000
        const response = yield* exchange(grant.code, fields, headers)
        yield* settle(grant, fresh && alive, response, what)
        if (grant.codeUsed || (fresh && isLost(grant.kind))) grant.ended = true
        if (fresh && !grant.ended) grant.codeUsed = true
        return
      }
      case "refresh": {
        if (grant.live === undefined) return
        const response = yield* refresh(grant.live, fields, headers)
        yield* settle(grant, alive, response, what)
        if (isLost(grant.kind)) grant.ended = true
        return
      }
      case "refreshOld": {
        const old = grant.used.at(-1)
        if (old === undefined) return
        yield* settle(grant, false, yield* refresh(old, fields, headers), what)
        grant.ended = true
        return
      }
      case "userInfo":
        for (const { at, token } of grant.access) {
          const expected = alive && now - at < 900_000
          yield* mustBe((yield* userInfo(token)).status, expected ? 200 : 401, `UserInfo of a ${grant.kind} grant`)
        }
        return
      case "revoke": {
        if (grant.live === undefined) return
        const { redirect_uri: _redirect, ...client } = fields
        const authorized = headers ?? {
          authorization: `Basic ${btoa("basic:a-client-secret-of-at-least-32-characters")}`
        }
        yield* mustBe((yield* post("/oauth/revoke", { ...client, token: grant.live }, authorized)).status, 200, what)
        grant.ended = true
      }
    }
  })

  const invariants = Effect.gen(function* () {
    const doubled = yield* sql`SELECT grant_id FROM oidc_refresh_tokens WHERE used_at IS NULL
      GROUP BY grant_id HAVING COUNT(*) > 1`
    yield* mustBe(doubled.length, 0, "families with more than one live refresh token")
    const orphaned = yield* sql`SELECT r.grant_id FROM oidc_refresh_tokens r JOIN oidc_grants g ON g.id = r.grant_id
      WHERE r.used_at IS NULL AND g.revoked_at IS NOT NULL`
    yield* mustBe(orphaned.length, 0, "live refresh tokens of ended grants")
    const now = yield* Clock.currentTimeMillis
    const keys = yield* keySet
    for (const { audience, exp, token } of idTokens) if (exp > now) yield* verifyJwt(token, { audience }, keys)
  })

  for (const doing of actions) {
    yield* inside(step(doing))
    yield* inside(invariants)
  }
}, Effect.scoped)

test("the token service keeps its invariants in every sequence of requests", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 10, maxLength: 30 }), (actions) =>
      runtime.runPromise(walk(actions))
    ),
    { numRuns: 20, endOnFailure: true }
  )
})
