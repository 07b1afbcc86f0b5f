import { describe, expect } from "bun:test"
import { Effect, FileSystem } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { namedWorkspace } from "../../../support/NamedIds.ts"
import { serve } from "../../operator/support/Server.ts"
import { folder, live, svc } from "../support/CommandLine.ts"
import { layerWriter } from "../../../../src/database/SqliteClient.ts"

const workspaceId = namedWorkspace("a")

const entry = (n: number) => ({
  workspaceId,
  actor: { kind: "user" as const, subject: "usr_aaaaaaaaaaaaaaaaaaaa" },
  action: "member.add",
  target: { kind: "thing", id: `m${n}` }
})

/** Appends events in the running server. */
const appended = (from: number, to: number) =>
  Effect.gen(function* () {
    const audit = yield* Audit
    for (let n = from; n <= to; n++) yield* audit.append(entry(n))
  })

/** Changes the database while no server is running, like an attacker with access to the database only. */
const tamper = (dataDir: string, statement: string) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement)).pipe(
    Effect.provide(layerWriter(`${dataDir}/svc.sqlite`), { local: true })
  )

const lines = (text: string): ReadonlyArray<{ readonly position: number; readonly mac: string }> =>
  text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line))

describe("svc audit", () => {
  live("svc audit verifies the chain with and without a running server, and locates a change", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      const dataDir = `${root}/data`
      const kept = `${root}/head.json`
      const backup = `${root}/backup.sqlite`
      const audit = (...args: ReadonlyArray<string>) => svc(["audit", ...args, "--data-dir", dataDir])
      yield* Effect.gen(function* () {
        const { services } = yield* serve(dataDir)
        yield* Effect.provide(appended(1, 3), services)
        expect((yield* svc(["backup", backup, "--data-dir", dataDir])).code).toBe(0)
        yield* Effect.provide(appended(4, 5), services)
        const head = yield* audit("head")
        yield* files.writeFileString(kept, head.out)
        expect(JSON.parse(head.out).chains).toMatchObject([
          { workspaceId: null },
          { workspaceId, position: 5, count: 5 }
        ])
        yield* Effect.provide(appended(6, 7), services)
        const beside = yield* audit("verify", "--head", kept)
        expect([beside.code, beside.out]).toEqual([
          0,
          expect.stringContaining("5 events up to position 7".replace("5", "7"))
        ])
      }).pipe(Effect.scoped)
      expect((yield* audit("verify", "--head", kept)).code).toBe(0)

      // The chain in an older backup is intact, but ends before the recorded head.
      const restored = `${root}/restored`
      yield* files.makeDirectory(restored, { mode: 0o700 })
      yield* files.copyFile(`${dataDir}/master.key`, `${restored}/master.key`)
      const back = yield* svc(["restore", backup, "--data-dir", restored])
      expect([back.code, back.error]).toEqual([0, ""])
      const whole = yield* svc(["audit", "verify", "--data-dir", restored])
      expect([whole.code, whole.error]).toEqual([0, ""])
      const older = yield* svc(["audit", "verify", "--head", kept, "--data-dir", restored, "--json"])
      expect(older.code).toBe(1)
      expect(JSON.parse(older.out)).toMatchObject({
        verified: false,
        faults: [{ workspaceId, position: 4, message: expect.stringContaining("ends at position 3") }]
      })

      yield* tamper(dataDir, "UPDATE audit_events SET actor_subject = 'usr_b' WHERE target_id = 'm6'")
      const broken = yield* audit("verify")
      expect(broken.code).toBe(1)
      expect(broken.out).toContain(`BROKEN  ${workspaceId} (position 6, act_`)
      yield* files.remove(`${dataDir}/master.key`)
      expect((yield* audit("verify")).error).toContain("master key")
    })
  )

  live("svc audit exports one Workspace or everything, oldest first, and continues after the last line", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      const dataDir = `${root}/data`
      const audit = (...args: ReadonlyArray<string>) => svc(["audit", ...args, "--data-dir", dataDir])
      yield* Effect.gen(function* () {
        const { services } = yield* serve(dataDir)
        yield* Effect.provide(appended(1, 1200), services)
        const first = yield* audit("export", "--workspace", workspaceId)
        const found = lines(first.out)
        expect(found.map(({ position }) => position)).toEqual(Array.from({ length: 1200 }, (_, n) => n + 1))
        expect(found[1199]).toMatchObject({
          position: 1200,
          workspaceId,
          action: "member.add",
          target: { kind: "thing", id: "m1200" },
          actor: { kind: "user", subject: "usr_aaaaaaaaaaaaaaaaaaaa" },
          data: {}
        })
        yield* Effect.provide(appended(1201, 1202), services)
        const rest = yield* audit("export", "--workspace", workspaceId, "--after", "1200")
        expect(lines(rest.out).map(({ position }) => position)).toEqual([1201, 1202])
        // A second export returns the same bytes.
        const again = yield* audit("export", "--workspace", workspaceId)
        expect(again.out).toBe(`${first.out}\n${rest.out}`)
        const [chain] = JSON.parse((yield* audit("head", "--workspace", workspaceId)).out).chains
        expect(lines(rest.out)[1]?.mac).toBe(chain.mac)
      }).pipe(Effect.scoped)
      const file = `${root}/events.jsonl`
      const written = yield* audit("export", "--output", file, "--json")
      const all = lines(yield* files.readFileString(file))
      expect(JSON.parse(written.out)).toEqual({ file, events: all.length })
      expect(all.length).toBeGreaterThanOrEqual(1202)
      expect((yield* audit("export", "--output", file)).error).toContain("exists already")
      const none = yield* audit("export", "--until", "2020-01-01T00:00:00Z")
      expect([none.code, none.out.trim()]).toEqual([0, ""])
      const future = yield* audit(
        "export",
        "--workspace",
        workspaceId,
        "--since",
        "2020-01-01T00:00:00Z",
        "--actor",
        "usr_b"
      )
      expect([future.code, future.out.trim()]).toEqual([0, ""])
      expect((yield* audit("export", "--after", "3")).code).toBe(2)
    })
  )
})
