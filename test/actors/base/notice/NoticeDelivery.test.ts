import { describe, expect } from "bun:test"
import { DateTime, Duration, Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { SqlClient } from "effect/sql"
import { NoticeEndpoints } from "../../../../actors/access/notice/NoticeEndpoints.ts"
import { mostWaiting, NoticeDelivery } from "../../../../actors/base/notice/NoticeDelivery.ts"
import { holdEndpoints } from "../../../../actors/base/notice/Notices.ts"
import type { NoticePostResult } from "../../../../runner/probe/NoticePost.ts"
import { as, newPerson, newWorkspace } from "../../../support/Accounts.ts"
import { it } from "../../../support/Effect.ts"
import {
  addEndpoint,
  aWorkspace,
  deliveries,
  expectedSignature,
  following,
  later,
  makeReceivers,
  report,
  rowsOf,
  settled,
  stopped
} from "./support/Receivers.ts"
import { padded } from "../../../support/Dialect.ts"

const answer = (result: NoticePostResult) => () => Effect.succeed(result)
const failure = answer({ outcome: "refused", status: 500 })

const withReceivers = <A, E, R>(body: (receivers: ReturnType<typeof makeReceivers>) => Effect.Effect<A, E, R>) => {
  const receivers = makeReceivers()
  return body(receivers).pipe(Effect.provide(Layer.fresh(deliveries(receivers))))
}

describe("A notice", () => {
  it.effect("a notice is sent once, signed as Standard Webhooks specifies, and recorded with its attempt", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { address, id, secret } = yield* addEndpoint(scope, "one")
        yield* following
        yield* report(scope.workspaceId)
        yield* settled
        expect(receivers.got.map((one) => one.address)).toEqual([address])
        const [got] = receivers.got
        if (got === undefined) throw new Error("nothing arrived")
        expect(got.headers["webhook-signature"]).toBe(expectedSignature(secret, got))
        expect(got.headers["webhook-id"]).toBe(got.notice?.id)
        expect(got.notice).toMatchObject({
          type: "run.failed",
          sequence: 1,
          url: "https://svc.example.test/w/acme/runs/x"
        })
        const page = yield* (yield* NoticeEndpoints).deliveries(scope, id, {}, { limit: 10 })
        expect(page.items.map(({ attempts, lastStatus, status }) => [status, attempts, lastStatus])).toEqual([
          ["delivered", 1, 204]
        ])
        yield* later("1 day")
        expect(receivers.got.length).toBe(1)
      })
    )
  )

  it.effect("a notice is retried at growing intervals of at most ten hours, with up to 20 % jitter, then dropped", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { address } = yield* addEndpoint(scope, "one")
        receivers.answers.set(address, failure)
        yield* following
        yield* report(scope.workspaceId)
        yield* settled
        const delays = [5, 300, 1800, 7200, 18_000, 36_000, 36_000]
        for (const [index, seconds] of delays.entries()) {
          expect([index, receivers.got.length]).toEqual([index, index + 1])
          const step = Math.ceil(seconds / 20)
          let waited = 0
          while (receivers.got.length === index + 1 && waited <= seconds * 2) {
            yield* later(`${step} seconds`)
            waited += step
          }
          expect([seconds, waited >= seconds, waited <= seconds * 1.2 + 2 * step]).toEqual([seconds, true, true])
        }
        expect(receivers.got.length).toBe(8)
        expect(new Set(receivers.got.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
        yield* later("2 days")
        expect(receivers.got.length).toBe(8)
        expect((yield* rowsOf()).map(({ attempts, status }) => [status, attempts])).toEqual([["failed", 8]])
      })
    )
  )

  it.effect(
    "a notice waits up to five minutes for an earlier notice about the same subject, without delaying other subjects",
    () =>
      withReceivers((receivers) =>
        Effect.gen(function* () {
          const scope = yield* aWorkspace
          const { address } = yield* addEndpoint(scope, "one")
          receivers.answers.set(address, ({ notice }) =>
            Effect.succeed(
              notice?.subject.id.startsWith("cap_a") === true && notice.sequence === 1
                ? { outcome: "refused" as const, status: 500 }
                : { outcome: "accepted" as const, status: 200 }
            )
          )
          yield* following
          yield* report(scope.workspaceId, "a")
          yield* settled
          yield* report(scope.workspaceId, "a")
          yield* report(scope.workspaceId, "b")
          yield* later("7 seconds")
          const arrived = () =>
            receivers.got.map(({ notice }) => `${notice?.subject.id.slice(4, 5)}${notice?.sequence}`)
          expect(arrived().filter((name) => name !== "a1")).toEqual(["b1"])
          yield* later("4 minutes")
          expect(arrived()).not.toContain("a2")
          yield* later("90 seconds")
          expect(arrived()).toContain("a2")
          const statuses = (yield* rowsOf()).map(
            ({ sequence, status, subject }) => `${subject.slice(12, 13)}${sequence} ${status}`
          )
          expect(statuses.toSorted()).toEqual(["a1 waiting", "a2 delivered", "b1 delivered"])
        })
      )
  )

  it.effect("a notice is resent with the same id if the server crashes before recording the response", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { address } = yield* addEndpoint(scope, "one")
        receivers.answers.set(address, () => Effect.never)
        const first = yield* following
        yield* report(scope.workspaceId)
        yield* settled
        yield* stopped(first)
        receivers.answers.delete(address)
        yield* following
        yield* settled
        expect(receivers.got.length).toBe(2)
        expect(new Set(receivers.got.map(({ headers }) => headers["webhook-id"])).size).toBe(1)
        expect((yield* rowsOf()).map(({ status }) => status)).toEqual(["delivered"])
      })
    )
  )
})

describe("An endpoint", () => {
  it.effect(
    "a 410 response ends delivery to the endpoint, drops its waiting notices, and is recorded in the audit trail",
    () =>
      withReceivers((receivers) =>
        Effect.gen(function* () {
          const scope = yield* aWorkspace
          const { address, id } = yield* addEndpoint(scope, "one")
          receivers.answers.set(address, answer({ outcome: "gone", status: 410 }))
          yield* report(scope.workspaceId, "a")
          yield* report(scope.workspaceId, "a")
          yield* following
          yield* settled
          const endpoint = yield* (yield* NoticeEndpoints).read(scope, id)
          expect([endpoint.state, endpoint.reason, endpoint.waiting]).toEqual(["ended", "gone", 0])
          expect((yield* rowsOf()).map(({ status }) => status)).toEqual(["failed", "dropped"])
          yield* report(scope.workspaceId, "a")
          yield* later("1 day")
          expect(receivers.got.length).toBe(1)
          const sql = yield* SqlClient.SqlClient
          expect(yield* sql`SELECT action FROM audit_events WHERE action = 'notice_endpoint.end'`).toHaveLength(1)
        })
      )
  )

  it.effect("delivery to an endpoint pauses for up to ten hours if its receiver requests a pause", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { address } = yield* addEndpoint(scope, "one")
        receivers.answers.set(address, answer({ outcome: "refused", status: 429, retryAfter: 3600 }))
        yield* following
        yield* report(scope.workspaceId, "a")
        yield* settled
        yield* report(scope.workspaceId, "b")
        yield* later("59 minutes")
        expect(receivers.got.length).toBe(1)
        receivers.answers.set(address, answer({ outcome: "refused", status: 503, retryAfter: 10_000_000 }))
        yield* later("2 minutes")
        expect(receivers.got.length).toBe(2)
        receivers.answers.delete(address)
        yield* later("9 hours")
        expect(receivers.got.length).toBe(2)
        yield* later("90 minutes")
        expect((yield* rowsOf()).map(({ status }) => status)).toEqual(["delivered", "delivered"])
      })
    )
  )

  it.effect("an endpoint is disabled and shows the reason after five days without an accepted notice", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { address, id } = yield* addEndpoint(scope, "one")
        receivers.answers.set(address, failure)
        yield* following
        const state = Effect.gen(function* () {
          const { reason, state: now } = yield* (yield* NoticeEndpoints).read(scope, id)
          return [now, reason]
        })
        yield* report(scope.workspaceId, "a")
        yield* settled
        const failingFor = Effect.fnUntraced(function* (hours: number) {
          const sql = yield* SqlClient.SqlClient
          const since = DateTime.formatIso(DateTime.subtractDuration(yield* DateTime.now, Duration.hours(hours)))
          yield* sql`UPDATE notice_endpoints SET failing_since = ${since} WHERE id = ${id}`
        })
        yield* failingFor(119)
        yield* later("7 seconds")
        expect(yield* state).toEqual(["active", undefined])
        yield* failingFor(120)
        yield* later("7 minutes")
        expect(yield* state).toEqual(["disabled", "failing"])
        const before = receivers.got.length
        yield* report(scope.workspaceId, "c")
        yield* later("1 day")
        expect(receivers.got.length).toBe(before)
        yield* (yield* NoticeEndpoints).update(as(scope.subject), scope, id, { state: "active" })
        receivers.answers.delete(address)
        yield* report(scope.workspaceId, "d")
        yield* settled
        expect((yield* rowsOf()).at(-1)?.status).toBe("delivered")
      })
    )
  )

  it.effect("notices are signed with both secrets while both are valid, and with only the new secret afterwards", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { id, secret } = yield* addEndpoint(scope, "one")
        yield* following
        const rotated = yield* (yield* NoticeEndpoints).rotate(as(scope.subject), scope, id, {
          secretVersion: 1,
          overlapMinutes: 60
        })
        const next = rotated.value.secret ?? ""
        yield* report(scope.workspaceId, "a")
        yield* settled
        yield* later("61 minutes")
        yield* report(scope.workspaceId, "a")
        yield* settled
        const [during, after] = receivers.got
        if (during === undefined || after === undefined) throw new Error("a notice is missing")
        expect(during.headers["webhook-signature"]?.split(" ")).toEqual([
          expectedSignature(next, during),
          expectedSignature(secret, during)
        ])
        expect(after.headers["webhook-signature"]).toBe(expectedSignature(next, after))
      })
    )
  )

  it.effect(
    "a hanging endpoint delays no other endpoint: the others receive every notice before the hanging request times out",
    () =>
      withReceivers((receivers) =>
        Effect.gen(function* () {
          const scope = yield* aWorkspace
          for (let index = 0; index < 20; index++) {
            const { address } = yield* addEndpoint(scope, `e${index}`)
            if (index < 5) receivers.answers.set(address, () => Effect.never)
          }
          const events = 30
          for (let event = 0; event < events; event++) yield* report(scope.workspaceId, "abcdef"[event % 6])
          yield* following
          // The clock does not advance, so the hanging request cannot have timed out.
          for (let turn = 0; turn < 40; turn++) yield* settled
          const arrived = Map.groupBy(receivers.got, ({ address }) => address)
          const healthy = [...arrived].filter(([address]) => !receivers.answers.has(address))
          expect(healthy.map(([, got]) => got.length)).toEqual(Array.from({ length: 15 }, () => events))
          for (const [, got] of healthy) {
            for (const [, ofSubject] of Map.groupBy(got, ({ notice }) => notice?.subject.id)) {
              expect(ofSubject.map(({ notice }) => notice?.sequence)).toEqual([1, 2, 3, 4, 5])
            }
          }
          const hanging = [...arrived].filter(([address]) => receivers.answers.has(address))
          expect(hanging.every(([, got]) => got.length <= 4)).toBe(true)
        })
      )
  )
})

describe("Deliveries", () => {
  it.effect(
    "a notice is sent to the endpoints of its Workspace and of the server, but not to the endpoints of other Workspaces",
    () =>
      withReceivers((receivers) =>
        Effect.gen(function* () {
          const scope = yield* aWorkspace
          const other = yield* newPerson("other")
          const { id } = yield* newWorkspace(other.subject, { handle: "other", displayName: "Other" })
          const own = yield* addEndpoint(scope, "own")
          yield* addEndpoint({ workspaceId: id, subject: other.subject }, "foreign")
          const { value } = yield* (yield* NoticeEndpoints).create(as("operator"), "operator", {
            name: "server",
            format: "json",
            address: "https://hooks.example.test/server",
            kinds: ["run.failed"]
          })
          yield* following
          yield* report(scope.workspaceId)
          yield* settled
          expect(receivers.got.map(({ address }) => address).toSorted()).toEqual([
            own.address,
            "https://hooks.example.test/server"
          ])
          const endpoints = yield* NoticeEndpoints
          const strangers = { workspaceId: id, subject: other.subject }
          for (const endpointId of [own.id, value.endpoint.id]) {
            expect((yield* Effect.flip(endpoints.read(strangers, endpointId))).code).toBe("not_found")
            expect((yield* Effect.flip(endpoints.remove(as(other.subject), strangers, endpointId))).code).toBe(
              "not_found"
            )
          }
          const intruder = { ...scope, subject: other.subject }
          expect((yield* Effect.flip(endpoints.remove(as(other.subject), intruder, own.id))).code).toBe(
            "permission_denied"
          )
        })
      )
  )

  it.effect(
    "a notice is removed thirty days after delivery ends, and the oldest notice is dropped if more than ten thousand wait",
    () =>
      withReceivers(() =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const scope = yield* aWorkspace
          const { id } = yield* addEndpoint(scope, "one")
          const { sweep } = yield* NoticeDelivery
          yield* report(scope.workspaceId)
          yield* sql`UPDATE notice_deliveries SET status = 'delivered', next_at = NULL, ended_at = '1970-01-01T00:00:00.000Z'`
          yield* TestClock.adjust("29 days")
          yield* sweep
          expect(yield* rowsOf()).toHaveLength(1)
          yield* TestClock.adjust("2 days")
          yield* sweep
          expect(yield* rowsOf()).toEqual([])
          expect(yield* sql`SELECT id FROM notices`).toEqual([])
          yield* report(scope.workspaceId)
          yield* sql`INSERT INTO notice_deliveries (id, notice_id, endpoint_id, kind, subject, sequence, status, attempts, tries,
            next_at, created_at)
          WITH RECURSIVE n (i) AS (SELECT 3 UNION ALL SELECT i + 1 FROM n WHERE i < ${mostWaiting + 3})
          SELECT 'ndl_' || ${padded(sql, "i", 24)}, d.notice_id, d.endpoint_id, d.kind, d.subject, i, 'waiting', 0, 0,
            d.next_at, d.created_at FROM n, notice_deliveries d WHERE d.sequence = 2`
          yield* sweep
          const counts =
            yield* sql`SELECT status, COUNT(*) AS n FROM notice_deliveries WHERE endpoint_id = ${id} GROUP BY status`
          expect(counts).toEqual([
            { status: "dropped", n: 2 },
            { status: "waiting", n: mostWaiting }
          ])
        })
      )
  )

  it.effect("restoring a server disables every notice endpoint until somebody resumes it", () =>
    withReceivers((receivers) =>
      Effect.gen(function* () {
        const scope = yield* aWorkspace
        const { id } = yield* addEndpoint(scope, "one")
        yield* report(scope.workspaceId)
        yield* holdEndpoints
        yield* report(scope.workspaceId)
        yield* following
        yield* later("1 hour")
        expect(receivers.got).toEqual([])
        expect((yield* rowsOf()).map(({ status }) => status)).toEqual(["dropped"])
        const endpoint = yield* (yield* NoticeEndpoints).read(scope, id)
        expect([endpoint.state, endpoint.reason]).toEqual(["disabled", "restored"])
      })
    )
  )
})
