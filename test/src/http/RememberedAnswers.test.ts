import { afterAll, expect } from "bun:test"
import { Clock, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { dateOfAnswer, nowUntil } from "../../../actors/base/database/ReadHorizon.ts"
import { CommitCache } from "../../../actors/base/database/CommitCache.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Caller, type CallerShape } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { rememberedAnswers } from "../../../src/http/RememberedAnswers.ts"
import { testDatabase } from "../../support/Database.ts"
import { suite } from "../../support/Effect.ts"

const tests = suite(testDatabase)
afterAll(tests.dispose)

const { capsules, discovery } = SvcApi.groups

const ada: CallerShape = {
  subject: "usr_ada",
  credential: "session",
  credentialId: "ses_one",
  scopes: "all",
  actor: { kind: "user", subject: "usr_ada" },
  requestId: "req_one"
}

interface Asked {
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly caller?: Partial<CallerShape>
}

/** A read that counts how often it actually runs, and a function to request it. */
const reading = Effect.fnUntraced(function* (
  value: Effect.Effect<HttpServerResponse.HttpServerResponse, never, never>,
  endpoint: Parameters<Effect.Success<typeof rememberedAnswers>>[0] = capsules.endpoints.read
) {
  let runs = 0
  const answered = Effect.suspend(() => {
    runs++
    return value
  })
  const remembered = (yield* rememberedAnswers)(endpoint, answered)
  const ask = ({ caller, headers = {}, url = "http://localhost/api/v1/capsules/cap_one" }: Asked = {}) =>
    remembered.pipe(
      Effect.provideService(Caller, { ...ada, ...caller }),
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request(url, { headers }))
      ),
      Effect.flatMap((response) => Effect.promise(() => HttpServerResponse.toWeb(response).text()))
    )
  return { ask, runs: () => runs }
})

const json = (value: unknown) => HttpServerResponse.jsonUnsafe(value)

/** The content of the test's table, as a response. */
const stored = Effect.fnUntraced(function* (name: string) {
  const sql = yield* SqlClient.SqlClient
  const read = yield* ReadSql
  yield* sql`CREATE TABLE ${sql(name)} (v TEXT)`
  yield* sql`INSERT INTO ${sql(name)} VALUES ('before')`
  const rows = read<{ v: string }>`SELECT v FROM ${sql(name)}`
  return { sql, value: Effect.orDie(Effect.map(rows, ([row]) => json(row?.v))) }
})

tests.live("a response is reused until anything is committed", () =>
  Effect.gen(function* () {
    const { sql, value } = yield* stored("told")
    const { ask, runs } = yield* reading(value)
    expect([yield* ask(), yield* ask(), yield* ask()]).toEqual(['"before"', '"before"', '"before"'])
    expect(runs()).toBe(1)
    yield* sql`UPDATE told SET v = 'after'`
    expect([yield* ask(), runs()]).toEqual(['"after"', 2])
    yield* sql`CREATE TABLE told_elsewhere (v TEXT)`
    expect([yield* ask(), runs()]).toEqual(['"after"', 3])
  })
)

const others: ReadonlyArray<readonly [string, Asked]> = [
  ["another person", { caller: { subject: "usr_bob" } }],
  ["another credential of the same person", { caller: { credentialId: "ses_two" } }],
  ["a credential of another kind", { caller: { credential: "token" } }],
  ["another record", { url: "http://localhost/api/v1/capsules/cap_two" }],
  ["another query", { url: "http://localhost/api/v1/capsules/cap_one?limit=1" }],
  ["a live stream", { headers: { accept: "text/event-stream" } }],
  ["an upgrade", { headers: { upgrade: "websocket" } }]
]

for (const [name, asked] of others) {
  tests.live(`a response is not reused for ${name}`, () =>
    Effect.gen(function* () {
      const { ask, runs } = yield* reading(Effect.succeed(json("mine")))
      yield* ask()
      yield* ask(asked)
      expect(runs()).toBe(2)
      yield* ask()
      yield* ask(asked)
      expect(runs()).toBe(2)
    })
  )
}

tests.live("a response that depends on a comparison with a time is reused until that time", () =>
  Effect.gen(function* () {
    const moments = ["1970-01-01T00:00:20.000Z", null, "1970-01-01T00:00:10.000Z", "1969-01-01T00:00:00.000Z"]
    const { ask, runs } = yield* reading(Effect.map(nowUntil(moments), json))
    expect([yield* ask(), runs()]).toEqual(['"1970-01-01T00:00:00.000Z"', 1])
    yield* TestClock.adjust(9_999)
    expect([yield* ask(), runs()]).toEqual(['"1970-01-01T00:00:00.000Z"', 1])
    yield* TestClock.adjust(1)
    const again = [yield* ask(), yield* ask(), runs()]
    expect(again).toEqual(['"1970-01-01T00:00:10.000Z"', '"1970-01-01T00:00:10.000Z"', 2])
  }).pipe(Effect.provide(TestClock.layer()))
)

tests.live("a response that shows its date is reused for a second, or until something is committed", () =>
  Effect.gen(function* () {
    const { sql } = yield* stored("dated")
    const { ask, runs } = yield* reading(Effect.map(dateOfAnswer, json))
    expect([yield* ask(), runs()]).toEqual(['"1970-01-01T00:00:00.000Z"', 1])
    yield* TestClock.adjust(999)
    expect([yield* ask(), runs()]).toEqual(['"1970-01-01T00:00:00.000Z"', 1])
    yield* sql`UPDATE dated SET v = 'after'`
    expect([yield* ask(), runs()]).toEqual(['"1970-01-01T00:00:00.999Z"', 2])
    yield* TestClock.adjust(1000)
    const again = [yield* ask(), yield* ask(), runs()]
    expect(again).toEqual(['"1970-01-01T00:00:01.999Z"', '"1970-01-01T00:00:01.999Z"', 3])
  }).pipe(Effect.provide(TestClock.layer()))
)

tests.live("a response that depends on the time in any other way is not cached", () =>
  Effect.gen(function* () {
    for (const time of [Clock.currentTimeMillis, Effect.map(Clock.currentTimeNanos, Number)]) {
      const { ask, runs } = yield* reading(Effect.map(time, json))
      yield* ask()
      yield* ask()
      expect(runs()).toBe(2)
    }
  })
)

tests.live("neither a refusal nor a stream is cached", () =>
  Effect.gen(function* () {
    const refused = HttpServerResponse.jsonUnsafe({}, { status: 404 })
    for (const response of [refused, HttpServerResponse.stream(Stream.empty)]) {
      const { ask, runs } = yield* reading(Effect.succeed(response))
      yield* ask()
      yield* ask()
      expect(runs()).toBe(2)
    }
  })
)

tests.live("a route that needs no credential, or reads it itself, is not cached", () =>
  Effect.gen(function* () {
    for (const endpoint of [discovery.endpoints.wellKnown, SvcApi.groups.accountTokens.endpoints.current]) {
      const { ask, runs } = yield* reading(Effect.succeed(json("all")), endpoint)
      yield* ask()
      yield* ask()
      expect(runs()).toBe(2)
    }
  })
)

tests.live("a response larger than the whole cache is not cached, and a change made elsewhere clears the rest", () =>
  Effect.gen(function* () {
    const large = yield* reading(Effect.succeed(json("x".repeat(33 * 1024 * 1024))))
    yield* large.ask()
    yield* large.ask()
    expect(large.runs()).toBe(2)
    const small = yield* reading(Effect.succeed(json("x")))
    yield* small.ask()
    ;(yield* CommitCache).forget()
    yield* small.ask()
    expect(small.runs()).toBe(2)
  })
)
