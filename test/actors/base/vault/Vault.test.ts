import { afterAll, expect } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFile } from "../../../../actors/base/database/DatabaseFile.ts"
import type { SealContext } from "../../../../actors/base/vault/Sealing.ts"
import { Vault } from "../../../../actors/base/vault/Vault.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import { suite } from "../../../support/Effect.ts"
import { testVault } from "../../../support/Vault.ts"

const it = suite(testVault)
afterAll(it.dispose)

const place: SealContext = { table: "connections", column: "values", workspaceId: "ws_a", rowId: "conn_1" }
const secret = (text: string) => Redacted.make(text)
const opened = (text: Redacted.Redacted) => Redacted.value(text)

it.live(
  "sealed strings and bytes round-trip through the vault, and printing an opened value does not reveal its content",
  () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const envelope = yield* vault.seal(place, secret("hunter2 é"))
      expect(envelope).not.toContain("hunter2")
      const text = yield* vault.openText(place, envelope)
      expect(opened(text)).toBe("hunter2 é")
      expect(`${text} ${JSON.stringify(text)} ${Bun.inspect(text)}`).not.toContain("hunter2")
      const bytes = crypto.getRandomValues(new Uint8Array(50_000))
      const sealed = yield* vault.seal(place, Redacted.make(bytes))
      expect(Redacted.value(yield* vault.open(place, sealed))).toEqual(bytes)
      const empty = yield* vault.seal(place, secret(""))
      expect(opened(yield* vault.openText(place, empty))).toBe("")
    })
)

it.live(
  "a sealed value can be opened only with the Workspace, table, row, column and version that it was sealed for",
  () =>
    Effect.gen(function* () {
      const vault = yield* Vault
      const envelope = yield* vault.seal({ ...place, version: 7 }, secret("v"))
      const others: ReadonlyArray<SealContext> = [
        { ...place, version: 6 },
        { ...place, version: "7" },
        place,
        { ...place, version: 7, rowId: "conn_2" },
        { ...place, version: 7, column: "files" },
        { ...place, version: 7, table: "runs" },
        { ...place, version: 7, workspaceId: "ws_b" },
        { ...place, version: 7, workspaceId: null }
      ]
      for (const other of others) {
        const error = yield* Effect.flip(vault.open(other, envelope))
        expect(error.message).toBe("A sealed value could not be opened.")
      }
      expect(opened(yield* vault.openText({ ...place, version: 7 }, envelope))).toBe("v")
    })
)

it.live("any change to any character of a sealed value is detected", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const envelope = yield* vault.seal(place, secret("value"))
    const alphabet = "ABab01-_.=+/ \n"
    for (let at = 0; at < envelope.length; at++) {
      for (const character of alphabet) {
        if (envelope[at] === character) continue
        const changed = envelope.slice(0, at) + character + envelope.slice(at + 1)
        expect((yield* Effect.result(vault.open(place, changed)))._tag).toBe("Failure")
      }
      const shorter = envelope.slice(0, at) + envelope.slice(at + 1)
      expect((yield* Effect.result(vault.open(place, shorter)))._tag).toBe("Failure")
    }
    for (const foreign of ["", "v1", "v2." + envelope.slice(3), `${envelope}.x`, `${envelope}=`, `${envelope}\n`]) {
      expect((yield* Effect.result(vault.open(place, foreign)))._tag).toBe("Failure")
    }
  })
)

it.live("the vault never uses a nonce twice", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const seen = new Set<string>()
    for (let n = 0; n < 5000; n++) seen.add((yield* vault.seal(place, secret("same"))).split(".")[2] ?? "")
    expect(seen.size).toBe(5000)
  })
)

it.live("each combination of record kind and Workspace has its own data key", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const keyOf = (context: SealContext) => Effect.map(vault.seal(context, secret("x")), (text) => text.split(".")[1])
    const one = yield* keyOf(place)
    expect(yield* keyOf({ ...place, rowId: "conn_9", column: "files" })).toBe(one)
    expect(yield* keyOf({ ...place, workspaceId: "ws_b" })).not.toBe(one)
    expect(yield* keyOf({ ...place, table: "state_versions" })).not.toBe(one)
  })
)

it.live("a data key from a rolled-back transaction is never used again", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const sql = yield* SqlClient.SqlClient
    const fresh: SealContext = { ...place, table: "rolled_back" }
    yield* Effect.ignore(
      sql.withTransaction(
        Effect.gen(function* () {
          yield* vault.seal(fresh, secret("a"))
          // The second seal reads the row before the transaction is rolled back, so neither seal may cache the row.
          yield* vault.seal(fresh, secret("b"))
          return yield* Effect.fail("refused")
        })
      )
    )
    const envelope = yield* vault.seal(fresh, secret("after"))
    const dataKeyId = envelope.split(".")[1] ?? ""
    expect((yield* sql`SELECT id FROM vault_data_keys WHERE id = ${dataKeyId}`).length).toBe(1)
  })
)

it.live("many concurrent first seals create a single data key", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const sql = yield* SqlClient.SqlClient
    const racing: SealContext = { ...place, table: "racing" }
    const envelopes = yield* Effect.forEach(
      Array.from({ length: 30 }, (_, n) => n),
      (n) => vault.seal({ ...racing, rowId: `r${n}` }, secret(`${n}`)),
      { concurrency: "unbounded" }
    )
    expect(new Set(envelopes.map((text) => text.split(".")[1])).size).toBe(1)
    expect((yield* sql`SELECT id FROM vault_data_keys WHERE record_kind = 'racing'`).length).toBe(1)
  })
)

it.live("vault digests are deterministic, differ by purpose and content, and are compared in full", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const digest = yield* vault.mac("cursor", "a")
    expect(yield* vault.mac("cursor", "a")).toBe(digest)
    expect(yield* vault.mac("csrf", "a")).not.toBe(digest)
    expect(yield* vault.mac("cursor", "b")).not.toBe(digest)
    expect(yield* vault.verifyMac("cursor", "a", digest)).toBe(true)
    expect(yield* vault.verifyMac("csrf", "a", digest)).toBe(false)
    for (const wrong of ["", digest.slice(1), `${digest}A`, digest.toLowerCase()]) {
      expect(yield* vault.verifyMac("cursor", "a", wrong)).toBe(false)
    }
  })
)

it.live("no file in the data folder contains a sealed value or a key in plain text", () =>
  Effect.gen(function* () {
    const vault = yield* Vault
    const fs = yield* FileSystem.FileSystem
    const sql = yield* SqlClient.SqlClient
    const folder = yield* DataFolder
    const databaseFile = yield* DatabaseFile
    const canary = "canary-5d41402abc4b2a76"
    yield* sql`CREATE TABLE sealed (v TEXT)`
    yield* sql`INSERT INTO sealed VALUES (${yield* vault.seal(place, secret(canary))})`
    // The WAL checkpoint removes the remains of a private value that was stored in plain text and later deleted.
    const passing = "passing-7215ee9c7d9dc229"
    yield* sql`INSERT INTO sealed VALUES (${passing})`
    yield* sql`DELETE FROM sealed WHERE v = ${passing}`
    expect(yield* databaseFile.checkpoint).toBe(true)
    for (const name of yield* fs.readDirectory(folder.path)) {
      const bytes = Buffer.from(yield* fs.readFile(`${folder.path}/${name}`))
      expect(bytes.includes(canary)).toBe(false)
      expect(bytes.includes(passing)).toBe(false)
    }
    expect((yield* fs.stat(folder.masterKeyFile)).mode & 0o777).toBe(0o600)
  })
)
