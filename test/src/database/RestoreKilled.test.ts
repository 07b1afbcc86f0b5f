import { expect } from "bun:test"
import { Effect, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseFile } from "../../../actors/base/database/DatabaseFile.ts"
import { writeKeyringFile } from "../../../actors/base/vault/MasterKeyStore.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { backupTo } from "../../../src/database/Backup.ts"
import * as Database from "../../../src/database/Database.ts"
import { DataFolder } from "../../../src/database/DataFolder.ts"
import { restoreFrom } from "../../../src/database/Restore.ts"
import { bundledProgram } from "../../support/BundledProgram.ts"
import { it } from "../../support/Effect.ts"
import { newKeyring } from "./support/Keyrings.ts"

const program = new URL("./support/RestoreAndDie.ts", import.meta.url)
const databaseIn = (folder: string) => Layer.fresh(Database.layer.pipe(Layer.provideMerge(DataFolder.layer(folder))))

const points = ["copied", "authenticated", "prepared", "cleared", "placed"] as const

const killed = (file: string, folder: string, point: string) =>
  Effect.promise(async () => {
    const command = [process.execPath, await bundledProgram(program), file, folder, `restoring.${point}`]
    const child = Bun.spawn(command, { stdout: "ignore", stderr: "inherit" })
    await child.exited
    return child.signalCode
  })

/** Returns whether the folder's database contains all of the restore or none of it. */
const restoredState = (folder: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const [installation] = yield* sql<{ restored_at: string | null }>`SELECT restored_at FROM installation`
    const members = yield* sql<{ status: string }>`SELECT status FROM memberships`
    const sessions = yield* sql`SELECT id FROM account_sessions WHERE revoked_at IS NULL`
    const events = yield* sql`SELECT id FROM audit_events WHERE action = 'installation.restore'`
    return {
      restored: installation?.restored_at !== null,
      members: members.map(({ status }) => status),
      sessions: sessions.length,
      events: events.length
    }
  }).pipe(Effect.provide(databaseIn(folder)))

const whole = { restored: true, members: ["unconfirmed"], sessions: 0, events: 1 }

it.live(
  "a restore killed at any step leaves either no database or the complete database, and can be repeated",
  () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const root = yield* fs.makeTempDirectoryScoped({ prefix: "svc-test-" })
      const keyring = yield* newKeyring
      const file = `${root}/backup.sqlite`
      const times = { created_at: "2026-01-01T00:00:00.000Z", updated_at: "2026-01-01T00:00:00.000Z" }
      yield* Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* sql`INSERT INTO users ${sql.insert({ subject: "usr_a", email: "a@example.com", is_operator: 1, status: "active", ...times })}`
        yield* sql`INSERT INTO workspaces ${sql.insert({ id: "ws_a", handle: "acme", display_name: "acme", type: "organization", ...times })}`
        yield* sql`INSERT INTO memberships ${sql.insert({ id: "mbr_a", workspace_id: "ws_a", subject: "usr_a", role: "owner", status: "active", ...times })}`
        yield* sql`INSERT INTO account_sessions ${sql.insert({ id: "ses_a", secret_hash: "h", subject: "usr_a", method: "password", created_at: times.created_at, last_seen_at: times.created_at, expires_at: "2126-01-01T00:00:00.000Z" })}`
        yield* (yield* DatabaseFile).checkpoint
        yield* backupTo(file, keyring)
      }).pipe(Effect.provide(databaseIn(`${root}/first`)))
      for (const point of points) {
        const folder = `${root}/${point}`
        yield* fs.makeDirectory(folder)
        yield* writeKeyringFile(`${folder}/master.key`, keyring)
        // Files of the lost database must not become part of the restored database.
        yield* fs.writeFileString(`${folder}/svc.sqlite-wal`, "frames of a lost database")
        expect([point, yield* killed(file, folder, point)]).toEqual([point, "SIGKILL"])
        const isPlaced = yield* fs.exists(`${folder}/svc.sqlite`)
        expect([point, isPlaced]).toEqual([point, point === "placed"])
        if (!isPlaced) {
          // No server can start on the folder, and no new installation can replace it.
          const error = yield* Effect.flip(restoredState(folder))
          expect([point, String(error)]).toEqual([point, expect.stringContaining("Repeat `svc restore`")])
          yield* restoreFrom(file, folder, { keys: Effect.succeed(keyring), acceptUnauthenticated: false })
        }
        expect([point, yield* restoredState(folder)]).toEqual([point, whole])
        expect(yield* fs.exists(`${folder}/instance.json`)).toBe(true)
      }
    }).pipe(Effect.provide(platform)),
  60_000
)
