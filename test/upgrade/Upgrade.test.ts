import { readdirSync } from "node:fs"
import { expect } from "bun:test"
import { Config, Effect, FileSystem, Redacted, Schedule } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { newestKnown } from "../../src/database/Migrations.ts"
import { makeClient } from "../../src/client/index.ts"
import { folder, live, svc } from "../src/cli/support/CommandLine.ts"
import { serve } from "../src/operator/support/Server.ts"
import { decodeFixture, fixtureFile, fixtureFolder, type Fixture } from "./Fixture.ts"

// Upgrades data folders that servers of earlier releases created (Main.ts), and uses the upgraded folders.
const versions = readdirSync(fixtureFolder)
  .map((name) => Number.parseInt(name, 10))
  .toSorted((a, b) => a - b)

const unpack = Effect.fn("unpack")(function* (version: number) {
  const files = yield* FileSystem.FileSystem
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const into = yield* folder
  expect(Number(yield* spawner.exitCode(ChildProcess.make("tar", ["-C", into, "-xzf", fixtureFile(version)])))).toBe(0)
  const fixture = yield* decodeFixture(yield* files.readFileString(`${into}/fixture.json`))
  return { into, dataDir: `${into}/data`, fixture }
})

type Client = Effect.Success<ReturnType<typeof makeClient>>

const greetingOf = (client: Client, { appliedCapsuleId }: Fixture) =>
  Effect.map(
    client.capsules.outputs({ params: { capsuleId: appliedCapsuleId } }),
    ({ outputs }) => outputs.find(({ name }) => name === "greeting")?.value
  )

const settled = (client: Client, runId: string) =>
  Effect.map(
    Effect.repeat(client.runs.read({ params: { runId } }), {
      until: ({ run }) => run.status !== "queued" && run.status !== "running",
      schedule: Schedule.spaced("50 millis")
    }),
    ({ run }) => run
  )

const approveAndApply = Effect.fnUntraced(function* (client: Client, runId: string) {
  const { run: plan } = yield* client.runs.read({ params: { runId } })
  yield* client.runs.approve({
    params: { runId },
    payload: plan.planDigest === undefined ? {} : { planDigest: plan.planDigest }
  })
  const { run } = yield* client.runs.apply({ params: { runId }, headers: { "idempotency-key": runId }, payload: {} })
  return yield* settled(client, run.id)
})

/** Checks values, sealed values and history right after the upgrade. */
const look = Effect.fnUntraced(function* (url: string, fixture: Fixture) {
  const client = yield* makeClient({ baseUrl: url, token: Redacted.make(fixture.token) })
  expect(yield* greetingOf(client, fixture)).toBe("applied")
  const { runs } = yield* client.workspaces.runs({ params: { workspaceId: fixture.workspaceId }, query: {} })
  expect(runs.length).toBeGreaterThanOrEqual(3)
  const { events } = yield* client.workspaces.activity({
    params: { workspaceId: fixture.workspaceId },
    query: { limit: 100 }
  })
  expect(events.length).toBeGreaterThan(2)
  // Waits for the background work that reads the Capsule's states.
  const { resources } = yield* Effect.repeat(
    client.stateResources.list({ params: { capsuleId: fixture.appliedCapsuleId }, query: {} }),
    { until: ({ indexed }) => indexed, schedule: Schedule.spaced("50 millis") }
  )
  expect(resources.map(({ changedByRunId }) => runs.some(({ id }) => id === changedByRunId))).toContain(true)
  return client
})

/** Applies a plan with a changed input and a private input, then the plan that the older release created. */
const use = Effect.fnUntraced(function* (client: Client, fixture: Fixture) {
  const params = { capsuleId: fixture.appliedCapsuleId }
  const { capsule } = yield* client.capsules.read({ params })
  const { run } = yield* client.capsules.configurationPlan({
    params,
    headers: { "idempotency-key": "after-the-upgrade" },
    payload: {
      variablePatch: { set: { name: "new" } },
      expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
    }
  })
  const plan = yield* settled(client, run.id)
  expect([plan.status, plan.error]).toEqual(["waiting_approval", undefined])
  const applied = yield* approveAndApply(client, plan.id)
  expect([applied.status, applied.error]).toEqual(["succeeded", undefined])
  expect(yield* greetingOf(client, fixture)).toBe("new")
  // The plan has not been reviewed yet. Either the plan can still be applied, or the upgrade has superseded it and a new
  // plan is needed.
  const { run: waiting } = yield* client.runs.read({ params: { runId: fixture.waitingPlanId } })
  if (waiting.status === "waiting_approval") {
    const second = yield* approveAndApply(client, waiting.id)
    expect([second.status, second.error]).toEqual(["succeeded", undefined])
  } else {
    // The plan may also have expired, a week after the fixture was created.
    expect(["superseded", "expired"]).toContain(waiting.status)
    const { run: again } = yield* client.capsules.plan({
      params: { capsuleId: fixture.waitingCapsuleId },
      headers: {},
      payload: {}
    })
    expect((yield* approveAndApply(client, (yield* settled(client, again.id)).id)).status).toBe("succeeded")
  }
})

/** Backs up the upgraded installation, and restores it into another folder. */
const restore = Effect.fnUntraced(function* (into: string, fixture: Fixture) {
  const dataDir = `${into}/data`
  const backup = `${into}/backup`
  const restored = `${into}/restored`
  const run = Effect.fnUntraced(function* (args: ReadonlyArray<string>) {
    const ended = yield* svc(args)
    expect([args[0], ended.code, ended.error]).toEqual([args[0], 0, ended.error])
    return ended.out
  })
  yield* run(["backup", "--data-dir", dataDir, backup])
  const key = ["--master-key-file", `${dataDir}/master.key`]
  yield* run(["restore", "--data-dir", restored, ...key, backup])
  yield* run(["admin", "restore-review", "confirm", "--all", "--data-dir", restored, ...key])
  const made = yield* run([
    "admin",
    "create-token",
    "--data-dir",
    restored,
    ...key,
    "--subject",
    "demo@example.com",
    "--name",
    "restored",
    "--scopes",
    "read,write",
    "--json"
  ])
  const { token } = JSON.parse(made)
  const { url } = yield* serve(restored, new Map([["masterKeyFile", `${dataDir}/master.key`]]))
  const client = yield* makeClient({ baseUrl: url, token: Redacted.make(token) })
  expect(yield* greetingOf(client, fixture)).toBe("new")
})

live("every released version since the second has a fixture, and so does the current version", () =>
  Effect.sync(() => {
    expect(versions.length).toBeGreaterThan(12)
    expect(versions.at(0)).toBe(2)
    expect(versions.at(-1)).toBe(newestKnown)
  })
)

// Opens the fixtures of all versions. In addition, uses the installations of the first, middle and last version, or of all
// versions with SVC_UPGRADE_ALL.
const fewToUse: ReadonlySet<number | undefined> = new Set([
  versions.at(0),
  versions[Math.floor(versions.length / 2)],
  versions.at(-1)
])

for (const version of versions) {
  live(`an upgrade keeps all data from version ${version} usable`, () =>
    Effect.gen(function* () {
      const isUsed = (yield* Config.Boolean("SVC_UPGRADE_ALL").pipe(Config.withDefault(false))) || fewToUse.has(version)
      const { dataDir, fixture, into } = yield* unpack(version)
      const settings = new Map([["gitAllowOrigins", fixture.gitOrigin] as const])
      yield* Effect.scoped(
        Effect.gen(function* () {
          const { url } = yield* serve(dataDir, settings)
          const client = yield* look(url, fixture)
          if (isUsed) yield* use(client, fixture)
        })
      )
      const doctor = yield* svc(["doctor", "--data-dir", dataDir, "--json"])
      const { findings } = JSON.parse(doctor.out)
      const checks = ["database", "migrations", "installation", "sealed", "vault"]
      expect(
        findings.flatMap(({ check, status }: { check: string; status: string }) =>
          checks.includes(check) ? [[check, status]] : []
        )
      ).toEqual(checks.map((check) => [check, "ok"]))
      if (isUsed) yield* Effect.scoped(restore(into, fixture))
    })
  )
}
