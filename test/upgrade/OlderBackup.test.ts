import { fileURLToPath } from "node:url"
import { expect } from "bun:test"
import { Effect, FileSystem, Redacted, Schedule } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { makeClient } from "../../src/client/index.ts"
import { folder, live, svc } from "../src/cli/support/CommandLine.ts"
import { serve } from "../src/operator/support/Server.ts"
import { decodeFixture, fixtureFile } from "./Fixture.ts"

/**
 * A backup from the last release that backed up only the database, and its key. The contents match the contents of {@link
 * fixtureFile}.
 */
const fileOfFirstFormat = fileURLToPath(new URL("backups/v1.tar.gz", import.meta.url))

const unpack = Effect.fn("unpack")(function* (file: string) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const into = yield* folder
  expect(Number(yield* spawner.exitCode(ChildProcess.make("tar", ["-C", into, "-xzf", file])))).toBe(0)
  return into
})

const ok = Effect.fnUntraced(function* (...args: ReadonlyArray<string>) {
  const ended = yield* svc([...args, "--json"])
  expect([args[0], ended.code, ended.error]).toEqual([args[0], 0, ended.error])
  return JSON.parse(ended.out === "" ? "{}" : (ended.out.split("\n").at(-1) ?? ""))
})

live("svc verifies, restores and uses a backup in the first format, and reports its missing parts", () =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const from = yield* unpack(fileOfFirstFormat)
    const fixture = yield* decodeFixture(yield* files.readFileString(`${from}/fixture.json`))
    const [backup, restored] = [`${from}/backup`, `${from}/restored`]
    const key = ["--master-key-file", `${from}/master.key`]
    yield* files.chmod(`${from}/master.key`, 0o600)

    const verified = yield* ok("backup", "verify", backup, "--data-dir", `${from}/none`, ...key)
    expect(verified).toMatchObject({ authenticated: true, snapshots: 0, problems: [] })
    expect(verified.neededKeyIds).toHaveLength(1)
    expect(verified.absent.length).toBeGreaterThan(0)

    const data = ["--data-dir", restored, ...key]
    yield* ok("restore", backup, ...data)
    yield* ok("admin", "restore-review", "confirm", "--all", ...data)
    const named = ["--subject", "demo@example.com", "--name", "restored", "--scopes", "read,write"]
    const { token } = yield* ok("admin", "create-token", ...named, ...data)
    const { url } = yield* serve(
      restored,
      new Map([
        ["masterKeyFile", `${from}/master.key`],
        ["gitAllowOrigins", fixture.gitOrigin]
      ] as const)
    )
    const client = yield* makeClient({ baseUrl: url, token: Redacted.make(token) })
    const params = { capsuleId: fixture.appliedCapsuleId }
    const { outputs } = yield* client.capsules.outputs({ params })
    expect(outputs.find(({ name }) => name === "greeting")?.value).toBe("applied")

    const planned = Effect.gen(function* () {
      const { run } = yield* client.capsules.plan({ params, headers: {}, payload: {} })
      const ended = yield* Effect.repeat(client.runs.read({ params: { runId: run.id } }), {
        until: (answer) => answer.run.status !== "queued" && answer.run.status !== "running",
        schedule: Schedule.spaced("50 millis")
      })
      return [ended.run.status, ended.run.error?.code]
    })
    // The original Git server no longer exists, and the backup contains no snapshots.
    expect(yield* planned).toEqual(["failed", "snapshot_unavailable"])
    const then = yield* unpack(fixtureFile(fixture.version))
    yield* files.copy(`${then}/data/snapshots`, `${restored}/snapshots`, { overwrite: true })
    expect(yield* planned).toEqual(["waiting_approval", undefined])
  })
)
