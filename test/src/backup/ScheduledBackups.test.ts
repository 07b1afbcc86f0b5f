import { describe, expect } from "bun:test"
import { Context, Effect, FileSystem, Layer, Metric, Option } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { backupName, keptBackups, writtenAtOf } from "../../../src/backup/BackupFolder.ts"
import { ScheduledBackups } from "../../../src/backup/ScheduledBackups.ts"
import { SvcCommand } from "../../../src/backup/SvcCommand.ts"
import { makeClient } from "../../../src/client/index.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { backupAge, failedBackups } from "../../../src/backup/ScheduledBackups.ts"
import { testDatabase } from "../../support/Database.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "../operator/support/Server.ts"

const older = [backupName(Date.parse("2020-01-01T00:00:00Z")), backupName(Date.parse("2020-01-02T00:00:00Z"))]

/** An unfinished backup, left behind by a crash. */
const leftOver = `${backupName(Date.parse("2020-01-03T00:00:00Z"))}.unverified.partial`

/** Creates a folder with two old backups and an unrelated file, and the settings for writing into it. */
const prepared = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const root = yield* folder
  const backups = `${root}/backups`
  yield* files.makeDirectory(backups)
  for (const name of [...older, leftOver, "notes.txt"]) yield* files.writeFileString(`${backups}/${name}`, "old")
  return { dataDir: `${root}/data`, backups }
})

const settingsOf = (dataDir: string, backups: string) =>
  loadSettings(
    new Map([
      ["dataDir", dataDir],
      ["backupDirectory", backups],
      ["backupKeep", "2"]
    ]),
    Option.none()
  )

/** Runs the schedule without a server. Waits for a second turn to begin, which proves that the first turn is over. */
const scheduled = Effect.fnUntraced(function* (dataDir: string, backups: string) {
  const services = yield* Layer.build(
    ScheduledBackups.layer(yield* settingsOf(dataDir, backups)).pipe(Layer.provideMerge(testDatabase))
  )
  const schedule = Context.get(services, ScheduledBackups)
  const sql = Context.get(services, SqlClient.SqlClient)
  yield* sql`INSERT INTO notice_endpoints ${sql.insert({ id: `nep_${"a".repeat(24)}`, name: "Operations", format: "json", host: "https://hooks.example.test", address: "sealed", secret_version: 1, kinds: '["backup.failed","backup.unverified"]', filter: "{}", state: "active", created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" })}`
  yield* schedule.turn
  const reported = Effect.map(sql<{ kind: string }>`SELECT kind FROM notice_deliveries`, (rows) =>
    rows.map(({ kind }) => kind)
  )
  return { ...schedule, reported }
})

describe("scheduled backups", () => {
  live("scheduled backups are written and verified while the server runs, and replace the oldest backups", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { backups, dataDir } = yield* prepared
      yield* serve(dataDir)
      const { notices, turn } = yield* scheduled(dataDir, backups)
      const kept = yield* keptBackups(backups)
      expect(kept.map(({ file }) => file.slice(backups.length + 1))).toEqual([expect.any(String), older[1] ?? ""])
      const newest = kept[0]?.file ?? ""
      expect((yield* files.stat(newest)).mode & 0o777).toBe(0o600)
      expect((yield* svc(["backup", "verify", newest, "--data-dir", dataDir])).code).toBe(0)
      expect(yield* files.exists(`${backups}/notes.txt`)).toBe(true)
      expect(yield* files.exists(`${backups}/${leftOver}`)).toBe(false)
      expect(yield* notices).toEqual(["key_beside_data"])
      expect((yield* Metric.value(backupAge)).value).toBeLessThan(3600)
      // The backup is not due again.
      yield* turn
      expect(yield* keptBackups(backups)).toEqual(kept)
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, "--backup-directory", backups, "--json"])
      const findings = JSON.parse(doctor.out).findings.filter(
        ({ check }: { check: string }) => check === "backup" || check === "key"
      )
      expect(findings).toEqual([
        { check: "backup", status: "ok", message: expect.stringContaining("0 hours old") },
        expect.objectContaining({ status: "warning", message: expect.stringContaining("is in the data folder") })
      ])
    })
  )

  live("if a scheduled backup cannot be verified, svc keeps earlier backups and notifies only operators", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { backups, dataDir } = yield* prepared
      const script = `if [ "$2" = verify ]; then echo '{"problems":["it is broken"]}'; exit 1; fi; echo new > "$2"`
      const broken = { program: "sh", args: ["-c", script, "svc"] }
      const { logged, services } = yield* serve(
        dataDir,
        new Map([
          ["backupDirectory", backups],
          ["backupKeep", "1"]
        ])
      ).pipe(Effect.provideService(SvcCommand, broken))
      yield* Context.get(services, ScheduledBackups).turn
      expect((yield* files.readDirectory(backups)).toSorted()).toEqual(["notes.txt", ...older].toSorted())
      expect(yield* logged).toContain("The scheduled backup failed, and earlier ones are kept: it is broken")

      const noticesOf = Effect.fnUntraced(function* (name: string, isOperator: boolean) {
        const user = yield* Context.get(services, Users).create(serviceContext, {
          email: `${name}@example.com`,
          isOperator
        })
        const tokens = Context.get(services, AccessTokens)
        const { secret } = yield* tokens.create(serviceContext, user.subject, { name, scopes: ["read"] })
        const client = yield* makeClient({ baseUrl: Context.get(services, HttpListener).url, token: secret })
        return (yield* client.dashboard.bootstrap({ query: {} })).notices ?? []
      })
      expect(yield* noticesOf("ada", true)).toEqual(expect.arrayContaining(["backup_failed", "key_beside_data"]))
      expect((yield* noticesOf("bob", false)).filter((notice) => /backup|key/.test(notice))).toEqual([])
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, "--backup-directory", backups, "--json"])
      const findings = JSON.parse(doctor.out).findings
      expect(findings).toContainEqual(expect.objectContaining({ check: "backup", status: "error" }))
    })
  )

  live("a scheduled backup is made on time even if a wrong clock dated an earlier backup", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const { backups, dataDir } = yield* prepared
      const ahead = backupName(Date.parse("2999-01-01T00:00:00Z"))
      yield* files.writeFileString(`${backups}/${ahead}`, "ahead")
      const copy = {
        program: "sh",
        args: ["-c", 'if [ "$2" != verify ]; then echo new > "$2"; fi; echo "{}"', "svc"]
      }
      const { turn } = yield* scheduled(dataDir, backups).pipe(Effect.provideService(SvcCommand, copy))
      const kept = yield* keptBackups(backups)
      expect(kept.map(({ file }) => file.slice(backups.length + 1))).toEqual([expect.any(String), older[1] ?? ""])
      yield* turn
      expect(yield* keptBackups(backups)).toEqual(kept)
      const broken = {
        program: "sh",
        args: ["-c", 'if [ "$2" = verify ]; then exit 1; fi; echo new > "$2"; echo "{}"', "svc"]
      }
      yield* files.remove(`${backups}/${kept[0]?.file.slice(backups.length + 1)}`)
      const { reported } = yield* scheduled(dataDir, backups).pipe(Effect.provideService(SvcCommand, broken))
      expect(yield* reported).toEqual(["backup.unverified"])
    })
  )

  live(
    "a scheduled backup fails if its folder is missing and never creates the folder, because the disk may not be mounted",
    () =>
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const { backups, dataDir } = yield* prepared
        const failedBefore = Number((yield* Metric.value(failedBackups)).count)
        const { notices, reported, turn } = yield* scheduled(dataDir, `${backups}/gone`)
        yield* turn
        expect(yield* reported).toEqual(["backup.failed"])
        expect(yield* notices).toEqual(["backup_failed", "key_beside_data"])
        expect(yield* files.exists(`${backups}/gone`)).toBe(false)
        // svc retries a failed backup once an hour, not at every check.
        expect((yield* Metric.value(failedBackups)).count).toBe(failedBefore + 1)
      })
  )

  live("svc recognises scheduled backups by their names", () =>
    Effect.sync(() => {
      const at = Date.parse("2026-03-01T04:05:06Z")
      expect(backupName(at)).toBe("svc-2026-03-01T04-05-06Z.backup")
      expect(writtenAtOf(backupName(at))).toBe(at)
      expect(["svc.backup", "notes.txt", `${backupName(at)}.unverified`].map(writtenAtOf)).toEqual([
        undefined,
        undefined,
        undefined
      ])
    })
  )
})
