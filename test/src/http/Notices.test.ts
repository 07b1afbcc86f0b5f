import { afterAll, expect } from "bun:test"
import { Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { writeNotice } from "../../../actors/base/notice/Notices.ts"
import { AuditRow } from "../../../actors/base/audit/AuditRow.ts"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { NoticePost } from "../../../runner/probe/NoticePost.ts"
import { NoticeDelivery, NoticeDeliveryLog, NoticeEndpoint } from "../../../schema/records/NoticeEndpoint.ts"
import { suite } from "../../support/Effect.ts"
import { servedWorld } from "./support/ServedWorld.ts"
import { send } from "./support/TestApplication.ts"
import { world } from "./support/World.ts"

// Requests for background deliveries never complete, so no request leaves the machine.
const tests = suite(servedWorld().served.pipe(Layer.provide(Layer.succeed(NoticePost, { send: () => Effect.never }))))
afterAll(tests.dispose)

const Answer = Schema.Struct({
  endpoint: Schema.optionalKey(NoticeEndpoint),
  endpoints: Schema.optionalKey(Schema.Array(NoticeEndpoint)),
  secret: Schema.optionalKey(Schema.String),
  delivery: Schema.optionalKey(Schema.Union([NoticeDeliveryLog, NoticeDelivery])),
  deliveries: Schema.optionalKey(Schema.Array(NoticeDelivery)),
  noticeMails: Schema.optionalKey(Schema.Struct({ sendsMail: Schema.Boolean, kinds: Schema.Array(Schema.String) })),
  error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
const decode = Schema.decodeUnknownSync(Answer)

const base = `/api/v1/workspaces/${world.workspaceA}/notice-endpoints`

const ask = Effect.fnUntraced(function* (
  method: string,
  path: string,
  body?: Schema.Json,
  headers: Readonly<Record<string, string>> = {}
) {
  const session = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
  const response = yield* send(path, {
    method,
    headers: {
      cookie: `svc_session=${Redacted.value(session.secret)}`,
      "sec-fetch-site": "same-origin",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) })
  })
  const text = yield* Effect.promise(() => response.text())
  return { status: response.status, text, ...(text === "" ? {} : decode(JSON.parse(text))) }
})

const address = "https://hooks.example.test/services/T0/B0/canary-in-address?sig=canary-in-query"
const given = { name: "Operations", format: "json", address, kinds: ["run.failed"] } as const

const actions = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* AuditRow.some(sql, "action", "data")`SELECT action, data FROM audit_events
    WHERE target_kind = 'notice_endpoint' ORDER BY created_at, id`
  return rows
})

tests.live(
  "a notice endpoint can be created, changed, rotated and removed with an audit event, and never shows its address",
  () =>
    Effect.gen(function* () {
      const created = yield* ask("POST", base, given)
      expect([created.status, created.endpoint?.host, created.endpoint?.state]).toEqual([
        201,
        "https://hooks.example.test",
        "active"
      ])
      expect(created.secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
      const path = `${base}/${created.endpoint?.id}`
      const changed = yield* ask("PATCH", path, {
        name: "On call",
        kinds: ["run.failed", "run.applied"],
        state: "disabled"
      })
      expect([changed.endpoint?.name, changed.endpoint?.state, changed.endpoint?.reason]).toEqual([
        "On call",
        "disabled",
        "person"
      ])
      const resumed = yield* ask("PATCH", path, { state: "active" })
      expect([resumed.endpoint?.state, resumed.endpoint?.reason]).toEqual(["active", undefined])
      const rotated = yield* ask("POST", `${path}/secret`, { secretVersion: 1 })
      expect([rotated.status, rotated.endpoint?.secretVersion, rotated.secret === created.secret]).toEqual([
        201,
        2,
        false
      ])
      expect(rotated.endpoint?.formerSecretUntil).toBeDefined()
      expect((yield* ask("POST", `${path}/secret`, { secretVersion: 1 })).error?.code).toBe("guard_conflict")
      const read = yield* ask("GET", path)
      const listed = yield* ask("GET", base)
      expect([listed.endpoints?.length, listed.endpoints?.[0]?.id]).toEqual([1, created.endpoint?.id])
      for (const { text } of [changed, resumed, read, listed]) {
        expect(text).not.toContain("canary")
        expect(text).not.toContain("whsec_")
      }
      expect((yield* ask("DELETE", path)).status).toBe(204)
      expect((yield* ask("GET", path)).status).toBe(404)
      const audited = yield* actions
      expect(audited.map(({ action }) => action)).toEqual([
        "notice_endpoint.create",
        "notice_endpoint.update",
        "notice_endpoint.update",
        "notice_endpoint.secret.rotate",
        "notice_endpoint.remove"
      ])
      expect(audited.map(({ data }) => data).join("")).not.toContain("canary")
    })
)

tests.live(
  "creating an endpoint twice with the same key returns its secret once, and a different request gets 409",
  () =>
    Effect.gen(function* () {
      const key = { "idempotency-key": "notice-1" }
      const first = yield* ask("POST", base, given, key)
      const again = yield* ask("POST", base, given, key)
      expect([first.status, again.status, again.secret, again.endpoint?.id]).toEqual([
        201,
        200,
        undefined,
        first.endpoint?.id
      ])
      const other = yield* ask("POST", base, { ...given, address: `${address}2` }, key)
      expect([other.status, other.error?.code]).toEqual([409, "idempotency_conflict"])
      yield* ask("DELETE", `${base}/${first.endpoint?.id}`)
    })
)

tests.live(
  "svc refuses a notice endpoint with 400 if the network policy forbids it, and does not repeat the address",
  () =>
    Effect.gen(function* () {
      for (const refused of [
        "http://hooks.example.test/canary",
        "https://127.0.0.1/canary",
        "https://[::1]/canary",
        "https://10.0.0.8:8443/canary",
        "https://user:canary@hooks.example.test/",
        "https://hooks.example.test/#canary",
        "https://hooks.example.test:25/canary",
        "ssh://hooks.example.test/canary",
        "canary"
      ]) {
        const answer = yield* ask("POST", base, { ...given, address: refused })
        expect([refused, answer.status, answer.error?.code]).toEqual([refused, 400, "invalid_request"])
        expect(answer.text).not.toContain("canary")
      }
    })
)

tests.live("a Workspace's twenty-first endpoint is refused with 409, and chat endpoints have no secret", () =>
  Effect.gen(function* () {
    const made: Array<string> = []
    for (let index = 0; index < 20; index++) {
      const chat = yield* ask("POST", base, { ...given, format: index % 2 === 0 ? "slack" : "teams" })
      expect([chat.status, chat.secret, chat.endpoint?.secretVersion]).toEqual([201, undefined, undefined])
      made.push(chat.endpoint?.id ?? "")
    }
    expect((yield* ask("POST", base, given)).status).toBe(409)
    expect((yield* ask("POST", `${base}/${made[0]}/secret`, { secretVersion: 1 })).status).toBe(409)
    for (const id of made) yield* ask("DELETE", `${base}/${id}`)
  })
)

tests.live(
  "test messages and notices are listed as deliveries with their bodies, and the Capsule filter excludes other Capsules",
  () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const created = yield* ask("POST", base, { ...given, filter: { environments: ["production"] } })
      const path = `${base}/${created.endpoint?.id}`
      const tested = yield* ask("POST", `${path}/test`)
      expect([tested.status, tested.delivery?.kind, tested.delivery?.sequence]).toEqual([201, "endpoint.test", 1])
      const report = (environment: string) =>
        transaction(sql)(
          writeNotice(
            sql,
            "run.failed",
            Effect.succeed({
              workspaceId: world.workspaceA,
              subject: { kind: "capsule", id: world.capsuleId } as const,
              path: `runs/${world.runId}`,
              capsule: { id: world.capsuleId, projectId: world.projectId, environment },
              data: {
                capsule: { id: world.capsuleId, name: "app", environment, projectId: world.projectId },
                run: { id: world.runId, type: "apply", trigger: "user" },
                code: "apply_failed"
              }
            })
          )
        )
      yield* report("staging")
      yield* report("production")
      const { deliveries } = yield* ask("GET", `${path}/deliveries?kind=run.failed`)
      expect(deliveries?.map(({ kind, sequence }) => [kind, sequence])).toEqual([["run.failed", 1]])
      const read = yield* ask("GET", `${path}/deliveries/${deliveries?.[0]?.id}`)
      expect(JSON.parse(read.text).delivery.notice).toMatchObject({
        type: "run.failed",
        sequence: 1,
        workspace: { id: world.workspaceA },
        subject: { kind: "capsule", id: world.capsuleId },
        data: { capsule: { environment: "production" }, code: "apply_failed" }
      })
      const replayed = yield* ask("POST", `${path}/deliveries/${deliveries?.[0]?.id}/replay`)
      expect([replayed.status, replayed.delivery?.status]).toEqual([200, "waiting"])
      expect((yield* ask("DELETE", path)).status).toBe(204)
    })
)

tests.live("svc neither composes nor stores a notice that has no subscriber", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* transaction(sql)(writeNotice(sql, "update.available", Effect.die(new Error("composed"))))
    expect(yield* sql`SELECT id FROM notices WHERE kind = 'update.available'`).toEqual([])
  })
)

tests.live("people can choose which kinds of notices they receive by email", () =>
  Effect.gen(function* () {
    const mails = "/api/v1/account/notice-mails"
    expect((yield* ask("GET", mails)).noticeMails).toEqual({ sendsMail: false, kinds: [] })
    const chosen = yield* ask("PUT", mails, { kinds: ["run.failed", "run.failed", "drift.found"] })
    expect(chosen.noticeMails?.kinds).toEqual(["drift.found", "run.failed"])
    expect((yield* ask("PUT", mails, { kinds: ["endpoint.test"] })).status).toBe(400)
    expect((yield* ask("PUT", mails, { kinds: [] })).noticeMails?.kinds).toEqual([])
  })
)

tests.live("an endpoint that svc stopped is in the attention list until somebody resumes or removes the endpoint", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { endpoint } = yield* ask("POST", base, given)
    const path = `${base}/${endpoint?.id}`
    const listed = Effect.map(
      ask("GET", `/api/v1/dashboard/needs?workspaceId=${world.workspaceA}`),
      ({ text }) => [...text.matchAll(/"kind":"notices_stopped"/g)].length
    )
    yield* sql`UPDATE notice_endpoints SET state = 'disabled', reason = 'person'`
    expect(yield* listed).toBe(0)
    yield* sql`UPDATE notice_endpoints SET reason = 'failing'`
    expect(yield* listed).toBe(1)
    yield* ask("PATCH", path, { state: "active" })
    expect(yield* listed).toBe(0)
    yield* ask("DELETE", path)
  })
)

tests.live("no response, notice or audit event contains the secret of an endpoint or any part of its address", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const created = yield* ask("POST", base, given)
    const path = `${base}/${created.endpoint?.id}`
    yield* ask("POST", `${path}/test`)
    const { deliveries } = yield* ask("GET", `${path}/deliveries`)
    const answers = yield* Effect.forEach(
      [path, base, `${path}/deliveries`, `${path}/deliveries/${deliveries?.[0]?.id}`],
      (address) => ask("GET", address)
    )
    const stored = JSON.stringify([
      yield* sql`SELECT data FROM notices`,
      yield* sql`SELECT data FROM audit_events`,
      yield* sql`SELECT name, host, kinds, filter, address, secret FROM notice_endpoints`
    ])
    for (const text of [...answers.map((answer) => answer.text), stored]) {
      expect(text).not.toContain("canary")
      expect(text).not.toContain((created.secret ?? "missing").slice("whsec_".length))
    }
    yield* ask("DELETE", path)
  })
)
