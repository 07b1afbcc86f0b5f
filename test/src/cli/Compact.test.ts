import { DatabaseSync } from "node:sqlite"
import { expect } from "bun:test"
import { Effect } from "effect"
import { serve } from "../operator/support/Server.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

live("svc compact converts the database of a stopped server, and refuses to run while a server is running", () =>
  Effect.gen(function* () {
    const dataDir = `${yield* folder}/data`
    const compact = svc(["compact", "--data-dir", dataDir, "--json"])
    yield* Effect.scoped(
      Effect.gen(function* () {
        yield* serve(dataDir)
        const refused = yield* compact
        expect(refused.code).not.toBe(0)
        expect(refused.error).not.toBe("")
      })
    )
    // A database as created by an earlier release.
    yield* Effect.sync(() => {
      const old = new DatabaseSync(`${dataDir}/svc.sqlite`)
      old.exec("PRAGMA journal_mode=DELETE; PRAGMA auto_vacuum=NONE; VACUUM; PRAGMA journal_mode=WAL")
      expect(old.prepare("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 0 })
      old.close()
    })
    const done = yield* compact
    expect([done.code, done.error]).toEqual([0, ""])
    expect(JSON.parse(done.out).after.empty).toBe(0)
    yield* Effect.sync(() => {
      const converted = new DatabaseSync(`${dataDir}/svc.sqlite`, { readOnly: true })
      expect(converted.prepare("PRAGMA auto_vacuum").get()).toEqual({ auto_vacuum: 2 })
      converted.close()
    })
    // The server can start on the converted database.
    yield* Effect.scoped(serve(dataDir))
  })
)
