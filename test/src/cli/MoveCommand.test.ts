import { expect } from "bun:test"
import { Effect, FileSystem, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { migrate } from "../../../src/database/Migrations.ts"
import { layerWriter } from "../../../src/database/SqliteClient.ts"
import { writeKeyringFile } from "../../../actors/base/vault/MasterKeyStore.ts"
import { emptyDatabase, hasPostgres } from "../../support/PostgresTests.ts"
import { newKeyring } from "../database/support/Keyrings.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

/** Creates a data folder with a database and a master key, and a settings file with this address. */
const installation = Effect.fnUntraced(function* (databaseUrl: string | undefined) {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* folder
  yield* writeKeyringFile(`${dataDir}/master.key`, yield* newKeyring)
  yield* Effect.provide(migrate, layerWriter(`${dataDir}/svc.sqlite`))
  const config = `${yield* folder}/settings.json`
  yield* files.writeFileString(
    config,
    JSON.stringify({ dataDir, ...(databaseUrl === undefined ? {} : { databaseUrl }) })
  )
  return { dataDir, config }
})

live("svc move requires an address, rejects a password on the command line, and does not print that password", () =>
  Effect.gen(function* () {
    const { config } = yield* installation(undefined)
    const unset = yield* svc(["move", "--config", config, "--to", "postgres"])
    expect([unset.code, unset.error]).toEqual([2, expect.stringContaining("SVC_DATABASE_URL is not set")])
    const other = yield* svc(["move", "--config", config, "--to", "mysql://host/svc"])
    expect([other.code, other.error]).toEqual([2, expect.stringContaining("--to accepts postgres, sqlite")])
    for (const url of ["postgres://svc:hunter2@host/svc", "postgres://svc@host/svc?password=hunter2"]) {
      const shown = yield* svc(["move", "--config", config, "--to", url])
      expect([shown.code, shown.error]).toEqual([2, expect.stringContaining("can read a password")])
      expect(shown.out + shown.error).not.toContain("hunter2")
    }
  })
)

live("svc move to an unreachable server changes nothing and does not print the password", () =>
  Effect.gen(function* () {
    const { config, dataDir } = yield* installation("postgres://svc:hunter2@127.0.0.1:1/svc")
    const ended = yield* svc(["move", "--config", config, "--to", "postgres"])
    expect(ended.code).toBe(1)
    expect(ended.error).not.toBe("")
    expect(ended.out + ended.error).not.toContain("hunter2")
    yield* Effect.provide(migrate, layerWriter(`${dataDir}/svc.sqlite`))
  })
)

if (hasPostgres) {
  live("svc move prints the moved rows and the next step, and lists values that PostgreSQL cannot store", () =>
    Effect.gen(function* () {
      const { config, dataDir } = yield* installation(Redacted.value(yield* emptyDatabase()))
      const change = (to: string) =>
        Effect.provide(
          Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE installation SET release = ${to}`),
          layerWriter(`${dataDir}/svc.sqlite`)
        )
      yield* change("a\u0000b")
      const refused = yield* svc(["move", "--config", config, "--to", "postgres"])
      expect([refused.code, refused.out]).toEqual([
        1,
        expect.stringContaining('installation.release of id "1": U+0000 in a text')
      ])
      yield* change("0.1.0")
      const there = yield* svc(["move", "--config", config, "--to", "postgres"])
      expect([there.code, there.error]).toEqual([0, ""])
      expect(there.out).toContain("are the same in both")
      expect(there.out).toContain("Start the server with SVC_DATABASE_URL set")
      const back = yield* svc(["move", "--config", config, "--to", "sqlite", "--json"])
      expect([back.code, JSON.parse(back.out)]).toEqual([0, expect.objectContaining({ faults: [], resumed: false })])
    })
  )
}
