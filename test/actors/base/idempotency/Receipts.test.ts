import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { parseIdempotencyKey, Receipts } from "../../../../actors/base/idempotency/Receipts.ts"
import { canonicalJson, requestDigest } from "../../../../actors/base/idempotency/RequestDigest.ts"
import { testFoundation } from "../../../support/Actors.ts"
import { suite } from "../../../support/Effect.ts"

const it = suite(testFoundation)
afterAll(it.dispose)

const scope = { scope: "ws_a", actor: "usr_a", route: "things.create" }
const request = (key: string, body: string = "one") => ({ key, requestDigest: requestDigest({ body }) })

const createThing = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS things (id TEXT PRIMARY KEY)`
  yield* sql`INSERT INTO things VALUES (${id})`
  return { value: id, receipt: { resultId: id, firstStatus: 201 } }
})

const things = Effect.flatMap(SqlClient.SqlClient, (sql) => sql<{ n: number }>`SELECT COUNT(*) AS n FROM things`)

it.live("fifty concurrent creates with the same key create one record", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const outcomes = yield* Effect.forEach(
      Array.from({ length: 50 }, (_, n) => n),
      (n) =>
        receipts.once(scope, request("fifty"), {
          create: createThing(`thing_${n}`),
          replay: ({ resultId }) => Effect.succeed(resultId)
        }),
      { concurrency: "unbounded" }
    )
    expect(outcomes.filter(({ replayed }) => !replayed).length).toBe(1)
    expect(new Set(outcomes.map(({ value }) => value)).size).toBe(1)
    expect((yield* things)[0]?.n).toBe(1)
  })
)

it.live("idempotency keys are scoped to actor, Workspace and route, and reuse with a different request conflicts", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const once = (where: typeof scope, body: string, id: string) =>
      receipts.once(where, request("shared", body), {
        create: createThing(id),
        replay: ({ resultId }) => Effect.succeed(resultId)
      })
    expect((yield* once(scope, "one", "s1")).replayed).toBe(false)
    expect((yield* once({ ...scope, actor: "usr_b" }, "one", "s2")).replayed).toBe(false)
    expect((yield* once({ ...scope, scope: "ws_b" }, "one", "s3")).replayed).toBe(false)
    expect((yield* once({ ...scope, route: "others.create" }, "one", "s4")).replayed).toBe(false)
    const conflict = yield* Effect.flip(once(scope, "two", "s5"))
    expect(conflict).toMatchObject({ code: "idempotency_conflict" })
    expect(yield* once(scope, "one", "s6")).toEqual({ value: "s1", replayed: true })
  })
)

it.live("a failed create leaves neither writes nor a receipt", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    const before = (yield* things)[0]?.n
    const failed = yield* Effect.flip(
      receipts.once(scope, request("failing"), {
        create: Effect.andThen(createThing("lost"), Effect.fail("refused" as const)),
        replay: ({ resultId }) => Effect.succeed({ value: resultId, receipt: { resultId, firstStatus: 201 } }.value)
      })
    )
    expect(failed).toBe("refused")
    expect((yield* things)[0]?.n).toBe(before)
    const again = yield* receipts.once(scope, request("failing"), {
      create: createThing("kept"),
      replay: ({ resultId }) => Effect.succeed(resultId)
    })
    expect(again).toEqual({ value: "kept", replayed: false })
  })
)

it.live("cleanup deletes old receipts and keeps recent ones", () =>
  Effect.gen(function* () {
    const receipts = yield* Receipts
    yield* receipts.record(scope, request("purged"), { resultId: "x", firstStatus: 201 })
    yield* receipts.purge("2000-01-01T00:00:00.000Z")
    expect((yield* receipts.lookup(scope, request("purged")))._tag).toBe("Some")
    yield* receipts.purge("9999-01-01T00:00:00.000Z")
    expect((yield* receipts.lookup(scope, request("purged")))._tag).toBe("None")
  })
)

it.live("parsing an idempotency key returns the key, or the reason why it is invalid", () =>
  Effect.gen(function* () {
    expect(yield* parseIdempotencyKey("aZ09._~:-")).toBe("aZ09._~:-")
    expect(yield* parseIdempotencyKey("k".repeat(128))).toBe("k".repeat(128))
    expect((yield* Effect.flip(parseIdempotencyKey(undefined))).code).toBe("idempotency_key_required")
    for (const wrong of ["", "k".repeat(129), "a, b", "a,a", "a b", "a\n", "é", "a\u0000", "a/b"]) {
      expect((yield* Effect.flip(parseIdempotencyKey(wrong))).code).toBe("invalid_request")
    }
  })
)

it.live("equivalent JSON requests have the same digest, however they are written", () =>
  Effect.sync(() => {
    const same = ['{"b":[1,2.0,1e1],"a":{"y":null,"x":true}}', ' { "a" : {"x":true,"y":null}, "b":[1.0,2,10] } ']
    expect(new Set(same.map((text) => requestDigest(JSON.parse(text)))).size).toBe(1)
    expect(canonicalJson(JSON.parse('{"b":-0,"a":"\\u00e9"}'))).toBe('{"a":"é","b":0}')
    expect(requestDigest("\u00e9")).not.toBe(requestDigest("e\u0301"))
    expect(requestDigest({ a: [1, 2] })).not.toBe(requestDigest({ a: [2, 1] }))
    expect(requestDigest(1)).not.toBe(requestDigest("1"))
    expect(canonicalJson(JSON.parse('{"__proto__":1,"a":2}'))).toBe('{"__proto__":1,"a":2}')
  })
)
