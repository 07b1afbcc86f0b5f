import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import { SqlClient } from "effect/sql"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "./support/Server.ts"

const readyz = (url: string) =>
  Effect.promise(async () => {
    const response = await fetch(`${url}/readyz`)
    return [response.status, (await response.json()).reason]
  })

describe("Server readiness", () => {
  live("/readyz, the log and svc doctor report a missing or replaced database while the server runs", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      const { logged, services, url } = yield* serve(dataDir)
      expect(yield* readyz(url)).toEqual([200, undefined])
      yield* Effect.flatMap(DatabaseFile, ({ checkpoint }) => checkpoint).pipe(Effect.provide(services))
      const file = `${dataDir}/svc.sqlite`
      yield* files.rename(file, `${dataDir}/aside`)
      expect(yield* readyz(url)).toEqual([503, "database_missing"])
      expect(yield* logged).toContain("is gone from its path")
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, "--json"])
      expect([doctor.code, doctor.out]).toEqual([1, expect.stringContaining("its database file is missing")])
      yield* files.copyFile(`${dataDir}/aside`, file)
      expect(yield* readyz(url)).toEqual([503, "database_replaced"])
      yield* files.rename(`${dataDir}/aside`, file)
      expect(yield* readyz(url)).toEqual([200, undefined])
      // Overwrites the file in place, so that the same file contains another installation.
      yield* Effect.flatMap(
        SqlClient.SqlClient,
        (sql) => sql`UPDATE installation SET installation_id = 'inst_other'`
      ).pipe(Effect.provide(services))
      expect(yield* readyz(url)).toEqual([503, "database_replaced"])
    })
  )

  live("startup fails without a database, so /readyz is unreachable, and svc doctor reports the reason", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const dataDir = `${yield* folder}/data`
      yield* Effect.scoped(serve(dataDir))
      yield* files.remove(`${dataDir}/svc.sqlite`)
      const started = yield* svc(["serve", "--data-dir", dataDir, "--listen", "127.0.0.1:0"])
      expect([started.code, started.error]).toEqual([1, expect.stringContaining("This is not a new installation")])
      const admin = yield* svc(["admin", "setup-link", "--data-dir", dataDir])
      expect([admin.code, admin.error]).toEqual([1, expect.stringContaining("This is not a new installation")])
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, "--json"])
      const found = JSON.parse(doctor.out).findings.find(({ check }: { check: string }) => check === "database")
      expect([doctor.code, found]).toMatchObject([1, { status: "error", remedy: expect.stringContaining("--new") }])
      expect(yield* files.exists(`${dataDir}/svc.sqlite`)).toBe(false)
    })
  )
})
