import { fileURLToPath } from "node:url"
import { describe, expect } from "bun:test"
import { Context, Effect, FileSystem } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"
import { newestKnown } from "../../../src/database/Migrations.ts"
import { folder, live, svc } from "../cli/support/CommandLine.ts"
import { serve } from "../operator/support/Server.ts"
import { decodeFixture } from "../../upgrade/Fixture.ts"

const packed = fileURLToPath(new URL("../../fixtures/backups/v1.tar.gz", import.meta.url))

/** A backup that the last release of the first format wrote, and the key of its installation. */
const earlierBackup = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const root = yield* folder
  expect(Number(yield* spawner.exitCode(ChildProcess.make("tar", ["-C", root, "-xzf", packed])))).toBe(0)
  const fixture = yield* decodeFixture(yield* files.readFileString(`${root}/fixture.json`))
  return { root, file: `${root}/svc.backup`, fixture, key: ["--master-key-file", `${root}/master.key`] }
})

describe("a backup of the first format, which holds the database alone", () => {
  live("is authenticated, verified and restored, and its installation goes on with the present tables", () =>
    Effect.gen(function* () {
      const { file, fixture, key, root } = yield* earlierBackup
      const verified = yield* svc(["backup", "verify", file, ...key, "--data-dir", `${root}/none`, "--json"])
      expect([verified.code, verified.error]).toEqual([0, ""])
      expect(JSON.parse(verified.out)).toMatchObject({
        authenticated: true,
        snapshots: 0,
        builds: 0,
        // It holds no snapshot: the next plan fetches the one that its Capsules need.
        absent: [{ kind: "snapshot" }],
        problems: []
      })

      const dataDir = `${root}/restored`
      const restored = yield* svc(["restore", file, "--data-dir", dataDir, ...key, "--json"])
      expect([restored.code, restored.error]).toEqual([0, ""])
      expect(JSON.parse(restored.out)).toMatchObject({ authenticated: true })
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, ...key, "--json"])
      const found = new Map<string, { readonly status: string; readonly message: string }>(
        JSON.parse(doctor.out).findings.map((finding: { readonly check: string }) => [finding.check, finding])
      )
      for (const check of ["database", "migrations", "installation", "sealed", "vault"]) {
        expect([check, found.get(check)?.status]).toEqual([check, "ok"])
      }
      expect(found.get("migrations")?.message).toContain(`version ${newestKnown}`)
      expect(found.get("archives")?.status).toBe("warning")

      const { services } = yield* serve(dataDir, new Map([["masterKeyFile", `${root}/master.key`]]))
      const capsules = Context.get(services, Capsules)
      const outputs = yield* capsules.outputs(CapsuleId.make(fixture.appliedCapsuleId))
      expect(outputs.find(({ name }) => name === "greeting")?.value).toBe("applied")
    })
  )

  live("is refused when a byte of it was changed", () =>
    Effect.gen(function* () {
      const { file, key, root } = yield* earlierBackup
      const files = yield* FileSystem.FileSystem
      const bytes = yield* files.readFile(file)
      bytes[bytes.length / 2] = (bytes[bytes.length / 2] ?? 0) ^ 1
      yield* files.writeFile(file, bytes)
      const restored = yield* svc(["restore", file, "--data-dir", `${root}/restored`, ...key])
      expect([restored.code, restored.error]).toEqual([1, expect.stringContaining("is not what was sealed")])
      expect(yield* files.exists(`${root}/restored/svc.sqlite`)).toBe(false)
    })
  )
})
