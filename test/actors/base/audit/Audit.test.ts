import { afterAll, expect, test } from "bun:test"
import { Effect, Exit, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { IdOrder, makeIdOrder } from "../../../../actors/base/Identity.ts"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import type { AuditFilter } from "../../../../actors/base/audit/AuditFilter.ts"
import { testFoundation } from "../../../support/Actors.ts"
import { suite } from "../../../support/Effect.ts"
import { namedCapsule, namedRun, namedWorkspace } from "../../../support/NamedIds.ts"
import { AskedTime } from "../../../../schema/records/Primitives.ts"
import type { CapsuleId } from "../../../../schema/records/Ids.ts"

const it = suite(testFoundation)
afterAll(it.dispose)

const actor = { kind: "user" as const, subject: "usr_aaaaaaaaaaaaaaaaaaaa" }
const workspace = namedWorkspace
const entry = (letter: string, id: string, capsuleId?: CapsuleId) => ({
  workspaceId: workspace(letter),
  actor,
  action: id.startsWith("r") ? "run.approve" : "member.add",
  target: { kind: "thing", id },
  capsuleId,
  data: { role: "admin", names: ["a"] },
  requestId: "req_1"
})

it.live("the audit log keeps exactly the events of committed transactions", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    const sql = yield* SqlClient.SqlClient
    yield* sql.withTransaction(audit.append(entry("a", "kept")))
    yield* Effect.ignore(sql.withTransaction(Effect.andThen(audit.append(entry("a", "dropped")), Effect.fail("no"))))
    const { items } = yield* audit.list(workspace("a"), "usr_1", {}, { limit: 50 })
    expect(items.map((event) => event.target.id)).toEqual(["kept"])
    expect(items[0]).toMatchObject({
      actor,
      action: "member.add",
      data: { role: "admin", names: ["a"] },
      requestId: "req_1"
    })
  })
)

it.live("the audit log lists events with the same timestamp in the order of their creation", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    const sql = yield* SqlClient.SqlClient
    const appended = Array.from({ length: 20 }, (_, index) => `e${index}`)
    yield* Effect.forEach(appended, (id) => audit.append(entry("o", id))).pipe(
      sql.withTransaction,
      Effect.provide(TestClock.layer()),
      Effect.provideService(IdOrder, makeIdOrder())
    )
    const { items } = yield* audit.list(workspace("o"), "usr_1", {}, { limit: 50 })
    expect(items.map((event) => event.target.id)).toEqual(appended.toReversed())
  })
)

it.live("the audit log lists only the events of the given Workspace, newest first, in pages and with filters", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    for (let n = 0; n < 7; n++)
      yield* audit.append(entry("b", `${n % 2 === 0 ? "r" : "m"}${n}`, n < 3 ? namedCapsule(1) : undefined))
    yield* audit.append(entry("c", "foreign"))
    const seen: Array<string> = []
    let cursor: string | undefined
    do {
      const page = yield* audit.list(workspace("b"), "usr_1", {}, { limit: 3, cursor })
      seen.push(...page.items.map((event) => event.target.id))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(new Set(seen).size).toBe(7)
    const times = (yield* audit.list(workspace("b"), "usr_1", {}, { limit: 50 })).items.map(
      (event) => event.createdAt + event.id
    )
    expect(times).toEqual(times.toSorted().toReversed())
    const runs = yield* audit.list(
      workspace("b"),
      "usr_1",
      { action: "run.approve", capsuleId: namedCapsule(1) },
      { limit: 50 }
    )
    expect(runs.items.map((event) => event.target.id).sort()).toEqual(["r0", "r2"])
    const first = yield* audit.list(workspace("b"), "usr_1", {}, { limit: 2 })
    for (const [ws, subject, filter] of [
      [workspace("c"), "usr_1", {}],
      [workspace("b"), "usr_2", {}],
      [workspace("b"), "usr_1", { action: "run.approve" }]
    ] as const) {
      const refused = yield* Effect.flip(audit.list(ws, subject, filter, { limit: 2, cursor: first.nextCursor }))
      expect(refused.code).toBe("invalid_request")
    }
  })
)

it.live("the audit log filters by person, Run and time, and adjacent time windows do not overlap", () =>
  Effect.gen(function* () {
    const audit = yield* Audit
    const sql = yield* SqlClient.SqlClient
    const at = (second: number) => `2026-05-01T00:00:0${second}.000Z`
    for (let n = 0; n < 6; n++) {
      yield* audit.append({
        ...entry("d", `m${n}`),
        actor: { kind: "user", subject: n % 2 === 0 ? "usr_even" : "usr_odd" },
        runId: n < 2 ? namedRun(7) : undefined
      })
      yield* sql`UPDATE audit_events SET created_at = ${at(n)} WHERE target_id = ${`m${n}`}
        AND workspace_id = ${workspace("d")}`
    }
    const found = (filter: AuditFilter) =>
      Effect.map(audit.list(workspace("d"), "usr_1", filter, { limit: 50 }), ({ items }) =>
        items.map((event) => event.target.id)
      )
    expect(yield* found({ actor: "usr_even" })).toEqual(["m4", "m2", "m0"])
    expect(yield* found({ runId: namedRun(7) })).toEqual(["m1", "m0"])
    expect(yield* found({ since: at(2), until: at(4) })).toEqual(["m3", "m2"])
    expect(yield* found({ since: at(4), until: at(5) })).toEqual(["m4"])
    expect(yield* found({ actor: "usr_odd", since: at(2), until: at(5) })).toEqual(["m3"])
    const first = yield* audit.list(workspace("d"), "usr_1", {}, { limit: 2 })
    for (const filter of [{ actor: "usr_even" }, { runId: namedRun(7) }, { until: at(5) }]) {
      const page = { limit: 2, cursor: first.nextCursor }
      expect((yield* Effect.flip(audit.list(workspace("d"), "usr_1", filter, page))).code).toBe("invalid_request")
    }
  })
)

test("an audit filter treats whole seconds and milliseconds as the same moment, and accepts no other form", () => {
  const decode = Schema.decodeUnknownExit(AskedTime)
  expect(decode("2026-01-31T09:30:00Z")).toEqual(Exit.succeed("2026-01-31T09:30:00.000Z"))
  expect(decode("2026-01-31T09:30:00.120Z")).toEqual(Exit.succeed("2026-01-31T09:30:00.120Z"))
  for (const wrong of ["2026-02-30T00:00:00Z", "2026-01-31T09:30Z", "2026-01-31T09:30:00", "2026-01-31", "now"]) {
    expect(Exit.isFailure(decode(wrong))).toBe(true)
  }
})
