import { expect, test } from "bun:test"
import { Cause, Effect, PlatformError } from "effect"
import { SqlClient } from "effect/sql"
import { hasStorageFull, isStorageFull } from "../../../schema/errors/StorageFull.ts"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { it } from "../../support/Effect.ts"
import { testDatabase } from "../../support/Database.ts"

it.effect("a database without room for another page is recognised, and the transaction is rolled back", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* sql`CREATE TABLE filler (content BLOB NOT NULL)`
    yield* sql.unsafe("PRAGMA max_page_count=1")
    const fill = transaction(sql)(sql`INSERT INTO filler (content) VALUES (zeroblob(1000000))`)
    const cause = yield* Effect.flip(Effect.sandbox(fill))
    expect(hasStorageFull(cause)).toBe(true)
    yield* sql.unsafe("PRAGMA max_page_count=1073741823")
    expect(yield* sql`SELECT * FROM filler`).toEqual([])
    yield* fill
  }).pipe(Effect.provide(testDatabase))
)

const systemError = (code: string) => Object.assign(new Error(code), { code })

test("a file that cannot be written for lack of space is recognised, even if other errors wrap the cause", () => {
  const wrapped = (cause: unknown) =>
    PlatformError.systemError({ _tag: "Unknown", module: "FileSystem", method: "writeFile", cause })
  expect(isStorageFull(wrapped(systemError("ENOSPC")))).toBe(true)
  expect(isStorageFull(new Error("outer", { cause: wrapped(systemError("EDQUOT")) }))).toBe(true)
  expect(isStorageFull(wrapped(systemError("EACCES")))).toBe(false)
  expect(hasStorageFull(Cause.die(systemError("EACCES")))).toBe(false)
  const cycle = new Error("cycle")
  cycle.cause = cycle
  expect(isStorageFull(cycle)).toBe(false)
})
