import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Commits } from "../../../../actors/base/database/Commits.ts"
import { inParts, valuesOf } from "../../../../actors/base/database/RowParts.ts"
import { StateResources } from "../../../../actors/ledger/state/StateResources.ts"
import { suite } from "../../../support/Effect.ts"
import {
  committed,
  emptyCapsules,
  first,
  indexServices,
  resource,
  stateText
} from "../../ledger/state/support/IndexedCapsule.ts"

const tests = suite(indexServices)
afterAll(tests.dispose)

/** The number of statements that the effect runs on the writing connection. */
const statementsOf = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  let count = 0
  const stop = (yield* Commits).beforeWrites(() => {
    count += 1
  })
  yield* effect
  stop()
  return count
})

/** Returns the state of a generation. Every resource and Output differs from its value in the previous generation. */
const stateOf = (size: number, generation: number) => {
  const names = Array.from({ length: size }, (_, index) => `n${index}`)
  return stateText(
    names.map((name) => resource(`aws_sqs_queue.${name}`, { id: `https://queue/${name}`, delay: generation })),
    Object.fromEntries(names.map((name) => [name, `value ${generation}`]))
  )
}

tests.live("writing a state with 400 resources takes as many statements as writing a state with 4 resources", () =>
  Effect.gen(function* () {
    const counted = Effect.fnUntraced(function* (size: number) {
      yield* emptyCapsules
      const appeared = yield* statementsOf(committed(1, stateOf(size, 1)))
      const changed = yield* statementsOf(committed(2, stateOf(size, 2)))
      return { appeared, changed }
    })
    // The first count is ignored, because storing the first values also creates keys.
    yield* counted(1)
    const few = yield* counted(4)
    const many = yield* counted(400)
    expect(many).toEqual(few)
    const sql = yield* SqlClient.SqlClient
    const [{ current, ended } = { current: 0, ended: 0 }] = yield* sql<{ current: number; ended: number }>`SELECT
      COUNT(*) - COUNT(valid_to) AS current, COUNT(valid_to) AS ended FROM resource_versions`
    expect({ current, ended }).toEqual({ current: 400, ended: 400 })
    const { items } = yield* (yield* StateResources).list(first, {}, { limit: 100 })
    expect(items.length).toBe(100)
  })
)

tests.live("rows with more values than one statement can bind are written in several statements", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE many (a INTEGER, b TEXT)`
    const rows = Array.from({ length: 15_001 }, (_, index) => ({ a: index, b: `b${index}` }))
    let parts = 0
    yield* inParts(rows, (some) => {
      parts += 1
      return sql`INSERT INTO many ${sql.insert(some)}`
    })
    expect(parts).toBe(2)
    expect(yield* sql`SELECT COUNT(*) AS count, MAX(a) AS last FROM many`).toEqual([{ count: 15_001, last: 15_000 }])
    yield* inParts(
      [
        [1, "one"],
        [2, "two"]
      ] as const,
      (some) => sql`UPDATE many SET b = given.column2 FROM (${valuesOf(sql, some)}) AS given
        WHERE a = CAST(given.column1 AS INTEGER)`
    )
    expect(yield* sql`SELECT b FROM many WHERE a < 4 ORDER BY a`).toEqual([
      { b: "b0" },
      { b: "one" },
      { b: "two" },
      { b: "b3" }
    ])
    expect(yield* statementsOf(inParts([], () => sql`SELECT 1`))).toBe(0)
  })
)
