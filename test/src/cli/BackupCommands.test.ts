import { describe, expect } from "bun:test"
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { RelativePath } from "../../../schema/records/Primitives.ts"
import { makeClient } from "../../../src/client/index.ts"
import { active, applied, planned } from "../../support/Journey.ts"
import { testPlane, TestPlane } from "../../support/TestPlane.ts"
import { serve } from "../operator/support/Server.ts"
import { folder, live, svc } from "./support/CommandLine.ts"

const module = { "main.tf": `resource "terraform_data" "a" { input = "first" }` }

/** Returns the paths of all files below a folder. */
const filesBelow = Effect.fnUntraced(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  if (!(yield* files.exists(root))) return []
  const names = yield* files.readDirectory(root, { recursive: true })
  return names.filter((name) => name.endsWith(".tar.zst") || name.endsWith(".tar")).toSorted()
})

/** Copies `file`, flipping one bit in the byte at `at`. */
const damaged = Effect.fnUntraced(function* (file: string, at: number) {
  const files = yield* FileSystem.FileSystem
  const bytes = yield* files.readFile(file)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  yield* files.writeFile(`${file}.damaged`, bytes)
  return `${file}.damaged`
})

describe("Whole-installation backups", () => {
  live("a backup contains everything that existing Capsules need, and can be verified and restored elsewhere", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      const { dataDir } = yield* TestPlane
      const data = ["--data-dir", dataDir, "--json"]
      yield* active("steady", module)
      const archives = yield* filesBelow(`${dataDir}/snapshots`)
      expect(archives).toHaveLength(1)
      const archive = `${dataDir}/snapshots/${archives[0]}`
      const digest = `sha256:${archive.slice(-72, -8)}`

      const backup = (name: string, ...more: ReadonlyArray<string>) =>
        Effect.map(svc(["backup", `${root}/${name}`, ...data, ...more]), ({ code, out }) => {
          expect([name, code]).toEqual([name, 0])
          return JSON.parse(out)
        })
      const verify = (file: string) => svc(["backup", "verify", file, ...data])
      const verified = (name: string) =>
        Effect.map(verify(`${root}/${name}`), ({ code, out }) => ({ code, ...JSON.parse(out) }))

      const temporary = process.env["TMPDIR"]
      yield* files.makeDirectory(`${root}/temporary`)
      process.env["TMPDIR"] = `${root}/temporary`
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          if (temporary === undefined) delete process.env["TMPDIR"]
          else process.env["TMPDIR"] = temporary
        })
      )

      const whole = yield* backup("whole")
      expect(whole).toMatchObject({ files: "included", entries: [{ kind: "snapshot", digest }], missing: [] })
      expect(whole.neededKeyIds).toHaveLength(1)
      expect(yield* verified("whole")).toMatchObject({
        code: 0,
        authenticated: true,
        neededKeyIds: whole.neededKeyIds,
        snapshots: 1,
        absent: [],
        problems: []
      })

      // Verification covers every byte, including the snapshot files.
      const size = Number((yield* files.stat(archive)).size)
      const bytes = Buffer.from(yield* files.readFile(`${root}/whole`))
      const manifestAt = bytes.lastIndexOf('{"format":"svc.backup@v2"')
      const edited = yield* damaged(`${root}/whole`, manifestAt - Math.ceil(size / 2))
      const refused = yield* verify(edited)
      expect([refused.code, JSON.parse(refused.error).error.message]).toEqual([
        1,
        expect.stringContaining(`the snapshot ${digest} in it is not what was sealed`)
      ])
      // Another installation's key can neither authenticate nor open the backup.
      yield* files.makeDirectory(`${root}/foreign`)
      yield* files.writeFileString(`${root}/foreign/key`, "ab".repeat(32), { mode: 0o600 })
      const foreign = yield* svc([
        "backup",
        "verify",
        `${root}/whole`,
        ...data,
        "--master-key-file",
        `${root}/foreign/key`
      ])
      expect([foreign.code, JSON.parse(foreign.error).error.message]).toEqual([
        1,
        expect.stringContaining(`was written with the master key ${whole.neededKeyIds[0]}`)
      ])

      // `--backup-snapshots false` omits the files. A backup never contains a damaged file.
      expect(yield* backup("lean", "--backup-snapshots", "false")).toMatchObject({ files: "left_out", entries: [] })
      expect(yield* verified("lean")).toMatchObject({ code: 0, snapshots: 0, absent: [{ digest }], problems: [] })
      const healthy = yield* files.readFile(archive)
      yield* files.copyFile(yield* damaged(archive, 100), archive)
      expect(yield* backup("holed")).toMatchObject({ files: "included", entries: [], missing: [{ digest }] })
      expect(yield* verified("holed")).toMatchObject({ code: 0, snapshots: 0, absent: [{ digest }], problems: [] })
      yield* files.remove(archive)
      expect(yield* backup("gone")).toMatchObject({ missing: [{ digest }] })
      yield* files.writeFile(archive, healthy)

      // Restoring replaces a damaged file with the file from the backup.
      const target = `${root}/found`
      yield* files.makeDirectory(`${target}/snapshots/${archives[0]?.slice(0, 2)}`, { recursive: true, mode: 0o700 })
      yield* files.writeFileString(`${target}/snapshots/${archives[0]}`, "damaged")
      yield* files.copyFile(`${dataDir}/master.key`, `${target}/master.key`)
      yield* files.chmod(`${target}/master.key`, 0o600)
      const restored = yield* svc(["restore", `${root}/whole`, "--data-dir", target, "--json"])
      expect([restored.code, restored.error]).toEqual([0, ""])
      expect(Buffer.from(yield* files.readFile(`${target}/snapshots/${archives[0]}`)).equals(healthy)).toBe(true)
      const names = yield* files.readDirectory(target)
      expect(names.filter((name) => name.startsWith("restoring"))).toEqual([])
      const head = Buffer.from(yield* files.readFile(`${target}/svc.sqlite`))
      expect(head.includes("svc-backup-seal")).toBe(false)

      // Verifying the backup detects a sealed value that was moved to another row.
      const sql = yield* SqlClient.SqlClient
      const [state] = yield* sql`SELECT id, state FROM state_versions LIMIT 1`
      yield* sql`UPDATE state_versions SET generation = generation + 1 WHERE id = ${String(state?.["id"])}`
      yield* backup("moved")
      expect(yield* verified("moved")).toMatchObject({
        code: 1,
        problems: expect.arrayContaining([expect.stringContaining("state_versions.state of")])
      })
      expect(yield* files.readDirectory(`${root}/temporary`)).toEqual([])
    }).pipe(Effect.provide(testPlane()))
  )

  live("a backup includes the build of an applied Capsule, because the next drift check needs that build", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const root = yield* folder
      const { dataDir } = yield* TestPlane
      const sourceBuild = {
        commands: [{ argv: ["sh", "-c", "mkdir out && date +%N > out/made.txt"] }],
        outputs: [RelativePath.make("out")]
      }
      const built = {
        "main.tf": `resource "terraform_data" "a" { input = file("\${path.module}/out/made.txt") }`
      }
      const { capsuleId, plan } = yield* planned("built", built, { initialConfiguration: { sourceBuild } })
      expect((yield* applied(plan)).status).toBe("succeeded")
      const [name = ""] = yield* filesBelow(`${dataDir}/builds`)
      const ok = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
        const ended = yield* svc([...args, "--json"])
        expect([args[0], ended.code, ended.error]).toEqual([args[0], 0, ended.error])
        return JSON.parse(ended.out)
      })
      const made = yield* ok("backup", `${root}/backup`, "--data-dir", dataDir)
      expect(made.entries.map(({ kind }: { kind: string }) => kind).toSorted()).toEqual(["build", "snapshot"])
      expect(yield* ok("backup", "verify", `${root}/backup`, "--data-dir", dataDir)).toMatchObject({ problems: [] })

      const target = `${root}/restored`
      const data = ["--data-dir", target, "--master-key-file", `${dataDir}/master.key`]
      yield* ok("restore", `${root}/backup`, ...data)
      const [before, after] = yield* Effect.all([
        files.readFile(`${dataDir}/builds/${name}`),
        files.readFile(`${target}/builds/${name}`)
      ])
      expect(Buffer.from(after).equals(Buffer.from(before))).toBe(true)
      yield* ok("admin", "restore-review", "confirm", "--all", ...data)
      const { context } = yield* TestPlane
      const named = ["--subject", context.actorKey, "--name", "restored", "--scopes", "read,write"]
      const { token } = yield* ok("admin", "create-token", ...named, ...data)
      const { url } = yield* serve(target, new Map([["masterKeyFile", `${dataDir}/master.key`]]))
      const client = yield* makeClient({ baseUrl: url, token: Redacted.make(token) })
      const { run } = yield* client.capsules.driftCheck({ params: { capsuleId }, payload: {} })
      const drift = yield* Effect.repeat(client.runs.read({ params: { runId: run.id } }), {
        until: (answer) => answer.run.status !== "queued" && answer.run.status !== "running",
        schedule: Schedule.spaced("50 millis")
      })
      expect([drift.run.status, drift.run.error, drift.run.drifted]).toEqual(["succeeded", undefined, false])
    }).pipe(Effect.provide(testPlane()))
  )
})
