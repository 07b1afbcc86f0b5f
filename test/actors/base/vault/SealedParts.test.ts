import { afterAll, expect } from "bun:test"
import { Effect, Fiber, Redacted, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { rowShape } from "../../../../actors/base/database/Table.ts"
import { partBytes } from "../../../../actors/base/vault/SealedParts.ts"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { longValues } from "../../../../schema/tables/VaultTables.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"
import { withForeignKeys, withoutForeignKeys } from "../../../support/Dialect.ts"

const it = suite(testVault)
afterAll(it.dispose)

const place = (rowId: string): SealContext => ({
  table: "run_checkpoints",
  column: "state",
  workspaceId: "ws_a",
  rowId
})
const bytesOf = (length: number, seed = 7) => Uint8Array.from({ length }, (_, at) => (at * seed) % 251)
const sealed = Effect.fnUntraced(function* (context: SealContext, bytes: Uint8Array) {
  const vault = yield* Vault
  return yield* vault.seal(context, Redacted.make(bytes))
})
const opened = Effect.fnUntraced(function* (context: SealContext, value: string) {
  const vault = yield* Vault
  return Redacted.value(yield* vault.open(context, value))
})
const isRefused = (context: SealContext, value: string) =>
  Effect.map(Effect.result(opened(context, value)), ({ _tag }) => _tag === "Failure")

const Extent = rowShape({ parts: Schema.Int, longest: Schema.NullOr(Schema.Int) })
const extentOf = Effect.fnUntraced(function* (value: string) {
  const sql = yield* SqlClient.SqlClient
  const [found] = yield* Extent.rows(sql)`SELECT COUNT(*) AS parts, MAX(LENGTH(bytes)) AS longest FROM sealed_parts
    WHERE value = ${value}`
  return found
})

it.live("a long sealed value is stored in parts, and a short one inline", () =>
  Effect.gen(function* () {
    for (const [length, parts] of [
      [0, 0],
      [partBytes, 0],
      [partBytes + 1, 2],
      [3 * partBytes, 3],
      [3 * partBytes + 5, 4]
    ] as const) {
      const bytes = bytesOf(length)
      const value = yield* sealed(place("run_a"), bytes)
      expect(Buffer.compare(yield* opened(place("run_a"), value), bytes)).toBe(0)
      const extent = yield* extentOf(value)
      expect(extent?.parts).toBe(parts)
      // The size of a part is bounded, so the size of a single read or write does not grow with the size of the value.
      expect(extent?.longest ?? 0).toBeLessThanOrEqual(partBytes + 16)
      if (parts > 0) expect(value.length).toBeLessThan(100)
    }
  })
)

it.live("sealing or opening a long value yields between parts, so that other work can continue", () =>
  Effect.gen(function* () {
    const parts = 6
    let turns = 0
    const other = Effect.forever(
      Effect.andThen(
        Effect.sync(() => (turns += 1)),
        Effect.yieldNow
      )
    )
    const beside = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
      turns = 0
      const fiber = yield* Effect.forkChild(other)
      const done = yield* work
      yield* Fiber.interrupt(fiber)
      expect(turns).toBeGreaterThanOrEqual(parts / 2)
      return done
    })
    const value = yield* beside(sealed(place("run_turns"), bytesOf(parts * partBytes)))
    yield* beside(opened(place("run_turns"), value))
  })
)

it.live("a sealed value that leaves the installation is a single string without parts", () =>
  Effect.gen(function* () {
    const archive: SealContext = { table: "backups", column: "archive", workspaceId: "ws_a", rowId: "bkp_a" }
    const bytes = bytesOf(2 * partBytes)
    const value = yield* sealed(archive, bytes)
    expect(value).toStartWith("v1.")
    expect((yield* extentOf(value))?.parts).toBe(0)
    expect(Buffer.compare(yield* opened(archive, value), bytes)).toBe(0)
  })
)

it.live("sealed parts can be opened only with the table, row and version that they were sealed for", () =>
  Effect.gen(function* () {
    const value = yield* sealed(place("run_a"), bytesOf(2 * partBytes))
    const others: ReadonlyArray<SealContext> = [
      place("run_b"),
      { ...place("run_a"), workspaceId: "ws_b" },
      { ...place("run_a"), table: "state_versions" },
      { ...place("run_a"), version: 1 }
    ]
    for (const other of others) expect(yield* isRefused(other, value)).toBe(true)
    expect(yield* isRefused(place("run_a"), `${value.slice(0, -1)}${value.endsWith("A") ? "B" : "A"}`)).toBe(true)
    expect(yield* isRefused(place("run_a"), value)).toBe(false)
  })
)

it.live("svc detects a sealed part that is changed, missing, swapped or taken from another value", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const other = yield* sealed(place("run_a"), bytesOf(3 * partBytes, 11))
    const move = (value: string, from: number, to: number) =>
      sql`UPDATE sealed_parts SET part = ${to} WHERE value = ${value} AND part = ${from}`
    const damages = [
      (value: string) => Effect.andThen(Effect.andThen(move(value, 0, 9), move(value, 1, 0)), move(value, 9, 1)),
      (value: string) => sql`DELETE FROM sealed_parts WHERE value = ${value} AND part = 2`,
      (value: string) => sql`DELETE FROM sealed_parts WHERE value = ${value} AND part = 0`,
      (value: string) => sql`DELETE FROM sealed_parts WHERE value = ${value}`,
      (value: string) =>
        sql`UPDATE sealed_parts SET bytes = zeroblob(LENGTH(bytes)) WHERE value = ${value} AND part = 1`,
      (value: string) => sql`UPDATE sealed_parts SET (nonce, bytes) =
        (SELECT nonce, bytes FROM sealed_parts WHERE value = ${other} AND part = 1) WHERE value = ${value} AND part = 1`,
      (value: string) => sql`INSERT INTO sealed_parts (value, part, owner, nonce, bytes)
        SELECT value, 3, owner, nonce, bytes FROM sealed_parts WHERE value = ${value} AND part = 2`
    ]
    for (const [number, damage] of damages.entries()) {
      const value = yield* sealed(place("run_a"), bytesOf(3 * partBytes))
      yield* damage(value)
      expect([number, yield* isRefused(place("run_a"), value)]).toEqual([number, true])
    }
    expect(yield* isRefused(place("run_a"), other)).toBe(false)
  })
)

it.live("deleting a row deletes the sealed parts of its value and no other parts", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    // The rows refer to records that do not exist, so foreign keys must be off.
    yield* withoutForeignKeys(sql)
    const first = yield* sealed(place("run_a"), bytesOf(2 * partBytes))
    const second = yield* sealed(place("run_a"), bytesOf(3 * partBytes))
    const partsOf = (value: string) => Effect.map(extentOf(value), (extent) => extent?.parts)
    yield* sql`INSERT INTO run_checkpoints (run_id, state, saved_at) VALUES ('run_a', ${first}, '')`
    // A sealed value copied to another row cannot be opened there. Deleting the copy must not delete the original's parts.
    yield* sql`INSERT INTO run_checkpoints (run_id, state, saved_at) VALUES ('run_b', ${first}, '')`
    yield* sql`DELETE FROM run_checkpoints WHERE run_id = 'run_b'`
    expect(yield* partsOf(first)).toBe(2)
    yield* sql`UPDATE run_checkpoints SET saved_at = 'later', state = state WHERE run_id = 'run_a'`
    expect(yield* partsOf(first)).toBe(2)
    yield* sql`INSERT INTO run_checkpoints (run_id, state, saved_at) VALUES ('run_a', ${second}, '')
      ON CONFLICT (run_id) DO UPDATE SET state = ${second}`
    expect([yield* partsOf(first), yield* partsOf(second)]).toEqual([0, 3])
    yield* sql`DELETE FROM run_checkpoints WHERE run_id = 'run_a'`
    expect(yield* partsOf(second)).toBe(0)
    yield* withForeignKeys(sql)
  })
)

it.live("every table column that can store parts has triggers that delete them", () =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const Trigger = rowShape({ name: Schema.String })
    const triggers = yield* Trigger.rows(
      sql
    )`SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '%\_parts\_%' ESCAPE '\\'`
    expect(triggers.map(({ name }) => name).sort()).toEqual(
      longValues.flatMap(({ table }) => [`${table}_parts_deleted`, `${table}_parts_replaced`]).sort()
    )
  })
)

it.live("a value sealed before its transaction is stored once, at its location only", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    for (const length of [5, 20 * partBytes, 2 * partBytes + 5]) {
      const bytes = bytesOf(length)
      const ahead = vault.sealAhead(place("run_ahead"), Redacted.make(bytes))
      yield* ahead
      const before = yield* extentOf("")
      const elsewhere = yield* sealed(place("run_other"), bytes)
      expect(yield* isRefused(place("run_ahead"), elsewhere)).toBe(true)
      yield* ahead
      const first = yield* sealed(place("run_ahead"), bytes)
      const second = yield* sealed(place("run_ahead"), bytes)
      expect(first).not.toBe(second)
      expect(before).toEqual({ parts: 0, longest: null })
      for (const value of [first, second]) {
        expect(Buffer.compare(yield* opened(place("run_ahead"), value), bytes)).toBe(0)
        expect((yield* extentOf(value))?.parts).toBe(length > partBytes ? Math.ceil(length / partBytes) : 0)
      }
    }
  })
)

it.live("the transaction that stores a value sealed ahead encrypts nothing", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const sql = yield* SqlClient.SqlClient
    const bytes = bytesOf(2 * partBytes)
    yield* vault.sealAhead(place("run_unread"), Redacted.make(bytes))
    // The bytes are gone before the transaction, so encryption in it would seal something else.
    const kept = bytes.slice()
    bytes.fill(0)
    const value = yield* sql.withTransaction(sealed(place("run_unread"), bytes))
    expect(Buffer.compare(yield* opened(place("run_unread"), value), kept)).toBe(0)
  })
)
