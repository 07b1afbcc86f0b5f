import { describe, expect } from "bun:test"
import { readdir, readFile } from "node:fs/promises"
import { Config, ConfigProvider, Context, Effect, Exit, FileSystem, Layer, Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { fileURLToPath } from "node:url"
import { platform } from "../../../src/composition/Platform.ts"
import {
  Administration,
  ControlPlane,
  handler,
  layer,
  layerConfig,
  layerFromSqlClient,
  layerServer,
  layerSqlite,
  RunSettings,
  SqlClientUnsuitable,
  StartFailed,
  SvcClient
} from "../../../src/index.ts"
import { makeClient } from "../../../src/client/index.ts"
import { it } from "../../support/Effect.ts"
import { quiet, temporaryFolder as folder } from "./support/Plane.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(Layer.merge(platform, quiet))))

const baseUrl = "https://svc.example.com"
const settings = { toolDownload: "off" } as const

/** Counts the open files, sockets and processes of this process. */
const held = Effect.promise(async () => {
  const handles = await readdir("/proc/self/fd")
  const children = await readFile(`/proc/self/task/${process.pid}/children`, "utf8")
  return { handles: handles.length, children: children.trim() }
})

const ada = { email: "ada@example.com" }

describe("embedding", () => {
  live("two embedded control planes in one layer graph share nothing", () =>
    Effect.gen(function* () {
      const memo = yield* Layer.makeMemoMap
      const scope = yield* Scope.Scope
      const build = (dataDir: string) =>
        Layer.buildWithMemoMap(layerServer({ dataDir, listen: "127.0.0.1:0", settings }), memo, scope)
      const first = yield* build(yield* migratedFolder)
      const second = yield* build(yield* migratedFolder)
      expect(Context.get(first, ControlPlane).baseUrl).not.toBe(Context.get(second, ControlPlane).baseUrl)
      const [ofFirst, ofSecond] = yield* Effect.all([
        Context.get(first, Administration).createAccount(ada),
        Context.get(second, Administration).createAccount(ada)
      ])
      // An address is unique within a database. Both control planes accepted the same address, so their databases are separate.
      expect(ofFirst.user.subject).not.toBe(ofSecond.user.subject)
    })
  )

  live("an embedded control plane runs on the HTTP server and database of the host application", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const host = layerSqlite({ filename: `${yield* folder}/host.sqlite` })
      const notes = Layer.effectDiscard(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE notes (email TEXT)`)
      )
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Layer.provideMerge(
          Layer.merge(notes, layer({ dataDir, baseUrl, settings, database: layerFromSqlClient })),
          host
        ),
        scope
      )
      const handle = yield* Effect.provideContext(handler, services)
      const get = (path: string) => Effect.promise(() => handle(new Request(`${baseUrl}${path}`)))
      expect((yield* get("/readyz")).status).toBe(200)
      const discovery = yield* get("/.well-known/svc")
      expect(yield* Effect.promise(() => discovery.json())).toMatchObject({ apiBaseUrl: `${baseUrl}/api/v1` })
      expect((yield* get("/api/v1/workspaces")).status).toBe(401)

      const sql = Context.get(services, SqlClient.SqlClient)
      yield* Context.get(services, Administration).createAccount(ada)
      yield* sql.withTransaction(sql`INSERT INTO notes SELECT email FROM users`)
      expect(yield* sql`SELECT email FROM notes`).toEqual([{ email: ada.email }])
      const files = yield* FileSystem.FileSystem
      expect(yield* files.exists(`${dataDir}/svc.sqlite`)).toBe(false)

      yield* Scope.close(scope, Exit.void)
      expect((yield* get("/readyz")).status).toBe(503)
    })
  )

  live("an embedded control plane propagates failures of the host services, and adds only one error type", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const file = `${yield* folder}/host.sqlite`
      const careless = Layer.effectDiscard(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`PRAGMA foreign_keys=OFF`)
      ).pipe(Layer.provideMerge(layerSqlite({ filename: file })))
      const unsuitable = layer({ dataDir, baseUrl, settings, database: layerFromSqlClient })
      const refused = yield* Effect.flip(Layer.build(Layer.provide(unsuitable, careless)))
      expect(refused).toBeInstanceOf(SqlClientUnsuitable)

      yield* Layer.build(layer({ dataDir, baseUrl, settings }))
      const second = yield* Effect.flip(Layer.build(layer({ dataDir, baseUrl, settings })))
      expect(second).toBeInstanceOf(StartFailed)
      expect(second).toMatchObject({ reason: "InstanceAlreadyRunning", cause: { _tag: "InstanceAlreadyRunning" } })
    })
  )

  live("an embedded control plane refuses an origin with a path, and unknown or invalid settings", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      for (const origin of ["https://example.com/svc", "https://example.com/", "example.com"]) {
        const refused = yield* Effect.flip(Layer.build(layer({ dataDir, baseUrl: origin })))
        expect(refused).toMatchObject({ _tag: "StartFailed", reason: "SettingsRefused" })
      }
      const misspelt: object = { runConcurency: 3 }
      for (const [settings, message] of [
        [{ runConcurrency: 0 }, "runConcurrency (SVC_RUN_CONCURRENCY): Expected a value between 1 and 256"],
        [
          { gitAllowOrigins: ["https://a.example.com,https://b.example.com"] },
          "gitAllowOrigins (SVC_GIT_ALLOW_ORIGINS): Expected an origin"
        ],
        [{ runTmp: "1.5GiB" }, "runTmp (SVC_RUN_TMP): Expected a size such as 512MiB"],
        [misspelt, "There is no setting runConcurency."]
      ] as const) {
        const refused = yield* Effect.flip(Layer.build(layer({ dataDir, baseUrl, settings })))
        expect(refused).toMatchObject({ reason: "SettingsRefused", message: expect.stringContaining(message) })
      }
    })
  )

  live("an embedded control plane reads its options from the host's configuration, never from the environment", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const environment = ConfigProvider.fromUnknown({
        PLANE_DATA: dataDir,
        PLANE_URL: baseUrl,
        SVC_BASE_URL: "https://elsewhere.example.com",
        SVC_PASSWORD_SIGN_IN: "off"
      })
      const configured = layerConfig({ dataDir: Config.String("PLANE_DATA"), baseUrl: Config.String("PLANE_URL") })
      const services = yield* Layer.build(configured).pipe(
        Effect.provideService(ConfigProvider.ConfigProvider, environment)
      )
      expect(Context.get(services, ControlPlane).baseUrl).toBe(baseUrl)
    })
  )

  live("an embedded control plane uses the grace period from its options, and accepts a custom runner", () =>
    Effect.gen(function* () {
      let seen: unknown
      const observed = Layer.effectDiscard(
        Effect.map(RunSettings, ({ concurrency, drainGrace }) => {
          seen = { concurrency, drainGrace }
        })
      )
      const options = { dataDir: yield* migratedFolder, baseUrl, settings: { ...settings, runConcurrency: 3 } }
      yield* Layer.build(layer({ ...options, runner: (shipped) => Layer.provideMerge(observed, shipped) }))
      expect(seen).toEqual({ concurrency: 3, drainGrace: "30 seconds" })
      const graced = yield* Layer.build(
        layer({ ...options, dataDir: yield* migratedFolder, drain: { grace: "2 seconds" } })
      )
      expect(Context.getOrUndefined(graced, RunSettings)?.drainGrace).toBe("2 seconds")
    })
  )

  live("a closed control plane leaves no file, socket or process behind", () =>
    Effect.gen(function* () {
      const once = Effect.scoped(
        Effect.gen(function* () {
          const services = yield* Layer.build(
            layerServer({ dataDir: yield* migratedFolder, listen: "127.0.0.1:0", settings })
          )
          const client = yield* makeClient({ baseUrl: Context.get(services, ControlPlane).baseUrl })
          yield* client.discovery.capabilities()
          yield* Context.get(services, SvcClient).discovery.capabilities()
        })
      )
      // Starts measuring after the first control plane, because the first one loads everything that stays in the process
      // permanently.
      yield* once
      const before = yield* held
      yield* once
      yield* once
      const after = yield* held
      expect(after.children).toBe(before.children)
      expect(after.handles).toBeLessThanOrEqual(before.handles)
    })
  )
})

live("a process that embedded a control plane can exit, because no timer, fiber or handle keeps it alive", () =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const program = fileURLToPath(new URL("support/EmbedAndLeave.ts", import.meta.url))
    const child = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [program, yield* migratedFolder], { extendEnv: true, stderr: "inherit" })
    )
    const printed = yield* Stream.mkString(Stream.decodeText(child.stdout))
    expect(printed).toBe("disposed\nactive fibers: 0\n")
    expect(Number(yield* child.exitCode)).toBe(0)
  })
)
