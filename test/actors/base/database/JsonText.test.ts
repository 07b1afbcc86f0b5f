import { afterAll, expect } from "bun:test"
import { Cause, Effect, Exit, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { jsonText } from "../../../../actors/base/database/StoredRecord.ts"
import { RowMismatch, rowShape } from "../../../../actors/base/database/Table.ts"
import { testDatabase } from "../../../support/Database.ts"
import { suite } from "../../../support/Effect.ts"

const tests = suite(testDatabase)
afterAll(tests.dispose)

const LabelsJson = jsonText(Schema.Array(Schema.String))
const Labelled = rowShape({ labels: LabelsJson })

const labelled = Effect.fnUntraced(function* (text: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* Labelled.rows(sql)`SELECT ${text} AS labels`
})

tests.live("a JSON column round-trips through its codec", () =>
  Effect.gen(function* () {
    const [row] = yield* labelled(LabelsJson.write(["a", "b"]))
    expect(row).toEqual({ labels: '["a","b"]' })
    expect(LabelsJson.read(row?.labels ?? "")).toEqual(["a", "b"])
  })
)

for (const [what, text] of [
  ["other JSON", "[1]"],
  ["no JSON", "a, b"]
] as const) {
  tests.live(`reading fails if a JSON column contains ${what}`, () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(labelled(text))
      expect(Exit.isFailure(exit) && Cause.squash(exit.cause)).toBeInstanceOf(RowMismatch)
    })
  )
}
