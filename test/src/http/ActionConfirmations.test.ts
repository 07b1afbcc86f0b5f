import { afterAll, expect, setDefaultTimeout } from "bun:test"
import { Context, Effect, Exit, Layer, Redacted } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { ActionConfirmations } from "../../../actors/access/account/ActionConfirmations.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { suite } from "../../support/Effect.ts"
import { servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(60_000)

interface Confirmation {
  readonly code: string
  readonly userCode: string
}

class Scene extends Context.Service<Scene, Effect.Success<ReturnType<typeof makeScene>>>()(
  "test/http/ActionConfirmations/Scene"
) {}

const makeScene = Effect.fnUntraced(function* () {
  const plane = yield* servedPlane({ files: { "main.tf": "" } })
  const { asPerson, call, repositoryUrl, services, subject, workspaceId } = plane
  const newSource = Effect.fnUntraced(function* (name: string) {
    const body = { workspaceId, name, url: repositoryUrl }
    const answer = yield* call("POST", "/api/v1/sources", { body, headers: { "idempotency-key": `source-${name}` } })
    return answer.body.source
  })
  const source = yield* newSource("network")
  const asToken = (secret: Redacted.Redacted) => ({ authorization: `Bearer ${Redacted.value(secret)}` })
  const begin = Effect.fnUntraced(function* (targetId: string = source.id, action = "source.hook_secret.renew") {
    const answer = yield* call("POST", "/api/v1/confirmations", { body: { workspaceId, action, targetId } })
    return { status: answer.status, error: answer.body.error, ...(answer.body.confirmation as Confirmation) }
  })
  const decide = (userCode: string, decision: string, headers: Readonly<Record<string, string>> = asPerson) =>
    call("POST", "/auth/confirmation/decide", { body: { userCode, decision }, headers })
  const waiting = (userCode: string, headers: Readonly<Record<string, string>> = asPerson) =>
    call("POST", "/auth/confirmation/waiting", { body: { userCode }, headers })
  const poll = (code: string, headers: Readonly<Record<string, string>> = {}) =>
    call("POST", "/api/v1/confirmations/poll", { body: { workspaceId, code }, headers })
  const renew = Effect.fnUntraced(function* (
    code: string | undefined,
    { headers = {}, id = source.id }: { headers?: Readonly<Record<string, string>>; id?: string } = {}
  ) {
    const { body } = yield* call("GET", `/api/v1/sources/${id}`)
    return yield* call("POST", `/api/v1/sources/${id}/hook-secret`, {
      body: { hookSecretVersion: body.source.hookSecretVersion },
      headers: { ...(code === undefined ? {} : { "x-svc-confirmation": code }), ...headers }
    })
  })
  const newPerson = Effect.fnUntraced(function* (email: string) {
    const person = yield* Context.get(services, Users).create(serviceContext, { email, isOperator: false })
    const opened = yield* Context.get(services, Sessions).open({ subject: person.subject, method: "password" })
    return { cookie: `svc_session=${Redacted.value(opened.secret)}`, "sec-fetch-site": "same-origin" }
  })
  const newToken = Effect.map(
    Context.get(services, AccessTokens).create(serviceContext, subject, { name: "other", scopes: ["read", "write"] }),
    ({ secret }) => asToken(secret)
  )
  return { ...plane, begin, decide, newPerson, newSource, newToken, poll, renew, source, waiting }
})

const tests = suite(Layer.effect(Scene, makeScene()).pipe(Layer.provideMerge(platform)))
afterAll(tests.dispose)

const withoutConfirmation = { status: 403, body: { error: { code: "reauthentication_required" } } }
const nobodyWaits = { status: 404, body: { error: { code: "not_found" } } }

tests.live("a token can renew a webhook secret once, with a confirmation that the person approved in the browser", () =>
  Effect.gen(function* () {
    const { begin, call, decide, poll, renew, source, sql, subject, url, waiting, workspaceId } = yield* Scene
    expect(yield* renew(undefined)).toMatchObject(withoutConfirmation)
    const begun = yield* begin()
    expect(begun.userCode).toMatch(/^[B-Z]{4}-[B-Z]{4}$/)
    expect(begun).toMatchObject({
      status: 201,
      verificationUri: `${url}/confirm`,
      verificationUriComplete: `${url}/confirm?code=${begun.userCode}`,
      interval: 2
    })
    expect((yield* poll(begun.code)).body.confirmation.status).toBe("pending")
    // svc refuses a confirmation until the person approves it.
    expect(yield* renew(begun.code)).toMatchObject(withoutConfirmation)
    expect((yield* waiting(begun.userCode.toLowerCase())).body.confirmation).toMatchObject({
      userCode: begun.userCode,
      action: "source.hook_secret.renew",
      workspace: { id: workspaceId },
      target: { kind: "source", id: source.id, name: "network" },
      asker: { kind: "token", name: "test" }
    })
    expect((yield* decide(begun.userCode, "approve")).status).toBe(204)
    expect(yield* decide(begun.userCode, "deny")).toMatchObject(nobodyWaits)

    // A request refused for another reason does not consume the confirmation.
    const moved = yield* call("POST", `/api/v1/sources/${source.id}/hook-secret`, {
      body: { hookSecretVersion: 99 },
      headers: { "x-svc-confirmation": begun.code }
    })
    expect(moved.body.error.code).toBe("guard_conflict")
    const renewed = yield* renew(begun.code)
    expect(renewed).toMatchObject({ status: 201, body: { hookSecret: expect.any(String) } })
    expect(yield* renew(begun.code)).toMatchObject(withoutConfirmation)
    const events = yield* sql`SELECT action, actor_kind AS kind, actor_subject AS subject, target_id AS id
      FROM audit_events WHERE action IN ('confirmation.approve', 'source.hook_secret.renew')`
    expect(events).toEqual(
      expect.arrayContaining([
        { action: "confirmation.approve", kind: "user", subject, id: source.id },
        { action: "source.hook_secret.renew", kind: "token", subject, id: source.id }
      ])
    )
  })
)

tests.live("exactly one request can use a confirmation, even if several pass the first check", () =>
  Effect.gen(function* () {
    const { begin, services, source, sql, subject } = yield* Scene
    const { code } = yield* begin()
    yield* sql`UPDATE action_confirmations SET status = 'approved' WHERE status = 'pending'`
    const [row] = yield* sql<{ holder: string }>`SELECT holder FROM action_confirmations WHERE status = 'approved'`
    const confirmations = Context.get(services, ActionConfirmations)
    const principal = { credentialId: row?.holder ?? "", subject }
    const asked = { action: "source.hook_secret.renew", targetId: source.id } as const
    const used = (requestId: string) =>
      Effect.exit(confirmations.use(principal, Redacted.make(code), asked, requestId)).pipe(Effect.map(Exit.isSuccess))
    // One request may use the confirmation several times, because it may run several transactions.
    expect([yield* used("req_a"), yield* used("req_a"), yield* used("req_b")]).toEqual([true, true, false])
  })
)

tests.live("a confirmation is valid only for its token, action and record", () =>
  Effect.gen(function* () {
    const { begin, decide, newSource, newToken, poll, renew } = yield* Scene
    const other = yield* newSource("other")
    const { code, userCode } = yield* begin()
    yield* decide(userCode, "approve")
    expect(yield* renew(code, { id: other.id })).toMatchObject(withoutConfirmation)
    const headers = yield* newToken
    expect(yield* renew(code, { headers })).toMatchObject(withoutConfirmation)
    expect(yield* poll(code, headers)).toMatchObject(nobodyWaits)
    const unknown = yield* begin("src_aaaaaaaaaaaaaaaa")
    expect(unknown).toMatchObject({ status: 404 })
    // An action on Capsules treats the id of a Source as unknown.
    expect(yield* begin(other.id, "capsule.export")).toMatchObject({ status: 404 })
    expect((yield* renew(code)).status).toBe(201)
  })
)

tests.live(
  "only the owner of the token can view or decide a confirmation, and approval needs a recent identity check",
  () =>
    Effect.gen(function* () {
      const { asPerson, begin, decide, newPerson, poll, renew, sql, waiting } = yield* Scene
      const { code, userCode } = yield* begin()
      const stranger = yield* newPerson("eve@example.test")
      expect(yield* waiting(userCode, stranger)).toMatchObject(nobodyWaits)
      expect(yield* decide(userCode, "approve", stranger)).toMatchObject(nobodyWaits)
      expect(yield* waiting("nothing")).toMatchObject(nobodyWaits)
      expect((yield* waiting(userCode, {})).status).toBe(401)

      yield* sql`UPDATE account_sessions SET confirmed_at = '2020-01-01T00:00:00.000Z'`
      expect(yield* decide(userCode, "approve")).toMatchObject(withoutConfirmation)
      expect(yield* renew(code)).toMatchObject(withoutConfirmation)
      // Denying an action needs no password.
      expect((yield* decide(userCode, "deny")).status).toBe(204)
      expect((yield* poll(code)).body.confirmation.status).toBe("denied")
      expect(yield* renew(code)).toMatchObject(withoutConfirmation)
      yield* sql`UPDATE account_sessions SET confirmed_at = ${new Date().toISOString()}`
      expect((yield* decide(userCode, "approve", asPerson)).status).toBe(404)
    })
)

tests.live(
  "a confirmation expires whether it is approved or not, and polls that are too frequent are slowed down",
  () =>
    Effect.gen(function* () {
      const { begin, decide, poll, renew, sql } = yield* Scene
      const late = "2020-01-01T00:00:00.000Z"
      const { code, userCode } = yield* begin()
      yield* decide(userCode, "approve")
      yield* sql`UPDATE action_confirmations SET expires_at = ${late} WHERE status = 'approved'`
      expect(yield* renew(code)).toMatchObject(withoutConfirmation)
      expect((yield* poll(code)).body.confirmation.status).toBe("expired")
      const fast = yield* poll(code)
      expect({ status: fast.status, wait: fast.headers.get("retry-after") }).toEqual({ status: 429, wait: "4" })

      const waits = yield* begin()
      yield* sql`UPDATE action_confirmations SET expires_at = ${late} WHERE status = 'pending'`
      expect(yield* decide(waits.userCode, "approve")).toMatchObject(nobodyWaits)
    })
)

tests.live(
  "a session needs no action confirmation, and a person can get at most ten confirmation requests a minute",
  () =>
    Effect.gen(function* () {
      const { asPerson, call, source, workspaceId } = yield* Scene
      const asked = { workspaceId, action: "source.hook_secret.renew", targetId: source.id }
      const own = yield* call("POST", "/api/v1/confirmations", { body: asked, headers: asPerson })
      expect(own).toMatchObject({ status: 409, body: { error: { code: "failed_precondition" } } })
      const statuses = yield* Effect.forEach(Array.from({ length: 10 }), () =>
        Effect.map(call("POST", "/api/v1/confirmations", { body: asked }), ({ status }) => status)
      )
      expect(statuses).toContain(429)
    })
)
