import { closeSync, openSync, readFileSync, statSync, writeSync } from "node:fs"
import { NodeServices } from "@effect/platform-node"
import { afterAll, describe, expect } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import * as Database from "../../../src/database/Database.ts"
import { DatabaseDamaged } from "../../../src/database/DatabaseCheck.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { suite } from "../../support/Effect.ts"

const tests = suite(NodeServices.layer)
afterAll(tests.dispose)

const pageSize = 4096
const garbage = (length: number) => new Uint8Array(length).map((_, index) => (index * 37 + 11) % 251)

const overwrite = (file: string, offset: number, bytes: Uint8Array) => {
  const handle = openSync(file, "r+")
  writeSync(handle, bytes, 0, bytes.length, offset)
  closeSync(handle)
}

const databaseIn = (folder: string) => Layer.fresh(Database.layer.pipe(Layer.provide(DataFolder.layer(folder))))

/** Closes the database, damages it with `spoil`, and reopens the folder. */
const reopened = Effect.fnUntraced(function* (spoil: (file: string) => void) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-damage-" })
  yield* Effect.scoped(Layer.build(databaseIn(folder)))
  const file = `${folder}/svc.sqlite`
  spoil(file)
  const before = readFileSync(file)
  const result = yield* Effect.result(
    Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT 1`).pipe(Effect.provide(databaseIn(folder)))
  )
  return { result, isUnchanged: readFileSync(file).equals(before) }
})

const refused = Effect.fnUntraced(function* (spoil: (file: string) => void) {
  const { isUnchanged, result } = yield* reopened(spoil)
  const error = result._tag === "Failure" ? result.failure : undefined
  expect(error).toBeInstanceOf(DatabaseDamaged)
  expect(error?.message).toContain("restore the newest backup")
  expect(isUnchanged).toBe(true)
})

describe("Reopened databases", () => {
  tests.live("the server serves an unchanged database", () =>
    Effect.gen(function* () {
      expect((yield* reopened(() => {})).result._tag).toBe("Success")
    })
  )

  tests.live("the server refuses a database with a damaged header, and leaves it unchanged", () =>
    refused((file) => overwrite(file, 0, garbage(64)))
  )

  tests.live("the server refuses a database with a damaged page, and leaves it unchanged", () =>
    refused((file) => {
      const pages = Math.floor(statSync(file).size / pageSize)
      overwrite(file, Math.floor(pages / 2) * pageSize, garbage(pageSize))
    })
  )

  tests.live("the server refuses a truncated database, and leaves it unchanged", () =>
    refused((file) => {
      const bytes = readFileSync(file)
      const handle = openSync(file, "w")
      writeSync(handle, bytes, 0, Math.floor(bytes.length / 2 / pageSize) * pageSize)
      closeSync(handle)
    })
  )
})
