import { describe, expect } from "bun:test"
import { readdir, readFile } from "node:fs/promises"
import { Context, Effect, Exit, FileSystem, Layer, Option, Scope, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { SqlClient } from "effect/sql"
import { fileURLToPath } from "node:url"
import { platform } from "../../../src/composition/Platform.ts"
import { layerWriter } from "../../../src/database/SqliteClient.ts"
import {
  HttpListener,
  layer,
  layerFromSqlClient,
  layerHandler,
  loadSettings,
  MountedHandler,
  serviceContext,
  SqlClientUnsuitable,
  Users
} from "../../../src/index.ts"
import { makeClient } from "../../../src/client/index.ts"
import { it } from "../../support/Effect.ts"

const live = (
  name: string,
  body: () => Effect.Effect<unknown, unknown, Layer.Success<typeof platform> | Scope.Scope>
) => it.live(name, () => Effect.suspend(body).pipe(Effect.provide(platform)))

const folder = Effect.flatMap(FileSystem.FileSystem, (files) => files.makeTempDirectoryScoped({ prefix: "svc-embed-" }))

const settingsIn = (dataDir: string) =>
  loadSettings(
    new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "error", toolDownload: "off" })),
    Option.none()
  )

const baseUrl = "https://svc.example.com"

/** Files, sockets and processes held by this process. */
const held = Effect.promise(async () => {
  const handles = await readdir("/proc/self/fd")
  const children = await readFile(`/proc/self/task/${process.pid}/children`, "utf8")
  return { handles: handles.length, children: children.trim() }
})

describe("embedding", () => {
  live("keeps two in one layer graph apart", () =>
    Effect.gen(function* () {
      const [one, two] = yield* Effect.all([folder, folder])
      const memo = yield* Layer.makeMemoMap
      const scope = yield* Scope.Scope
      const build = (dataDir: string) =>
        Effect.flatMap(settingsIn(dataDir), (settings) => Layer.buildWithMemoMap(layer({ settings }), memo, scope))
      const first = yield* build(one)
      const second = yield* build(two)
      expect(Context.get(first, HttpListener).url).not.toBe(Context.get(second, HttpListener).url)
      const ada = { email: "ada@example.com", isOperator: false }
      const [ofFirst, ofSecond] = yield* Effect.all([
        Context.get(first, Users).create(serviceContext, ada),
        Context.get(second, Users).create(serviceContext, ada)
      ])
      // The address is unique within a database: both were free.
      expect(ofFirst.subject).not.toBe(ofSecond.subject)
    })
  )

  live("answers on a server of the host's, over a database of the host's", () =>
    Effect.gen(function* () {
      const dataDir = yield* folder
      const settings = yield* settingsIn(dataDir)
      const host = layerWriter(`${yield* folder}/host.sqlite`)
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        layerHandler({ settings, baseUrl, database: layerFromSqlClient }).pipe(Layer.provideMerge(host)),
        scope
      )
      const { handle } = Context.get(services, MountedHandler)
      const get = (path: string) => Effect.promise(() => handle(new Request(`${baseUrl}${path}`)))
      expect((yield* get("/readyz")).status).toBe(200)
      const discovery = yield* get("/.well-known/svc")
      expect(yield* Effect.promise(() => discovery.json())).toMatchObject({ apiBaseUrl: `${baseUrl}/api/v1` })
      expect((yield* get("/api/v1/workspaces")).status).toBe(401)

      const sql = Context.get(services, SqlClient.SqlClient)
      yield* Context.get(services, Users).create(serviceContext, { email: "ada@example.com", isOperator: false })
      expect(yield* sql`SELECT email FROM users`).toEqual([{ email: "ada@example.com" }])
      const files = yield* FileSystem.FileSystem
      expect(yield* files.exists(`${dataDir}/svc.sqlite`)).toBe(false)

      yield* Scope.close(scope, Exit.void)
      expect((yield* get("/readyz")).status).toBe(503)
    })
  )

  live("refuses a database that cannot keep its guarantees", () =>
    Effect.gen(function* () {
      const settings = yield* settingsIn(yield* folder)
      const file = `${yield* folder}/host.sqlite`
      const careless = Layer.effectDiscard(
        Effect.flatMap(SqlClient.SqlClient, (sql) => sql`PRAGMA foreign_keys=OFF`)
      ).pipe(Layer.provideMerge(layerWriter(file)))
      const refused = yield* Layer.build(
        layerHandler({ settings, baseUrl, database: layerFromSqlClient }).pipe(Layer.provide(careless))
      ).pipe(Effect.flip)
      expect(refused).toBeInstanceOf(SqlClientUnsuitable)
    })
  )

  live("leaves no file, socket or process behind", () =>
    Effect.gen(function* () {
      const once = Effect.scoped(
        Effect.gen(function* () {
          const settings = yield* settingsIn(yield* folder)
          const services = yield* Layer.build(layer({ settings }))
          const client = yield* makeClient({ baseUrl: Context.get(services, HttpListener).url })
          yield* client.discovery.capabilities()
        })
      )
      // The first one loads what the process keeps permanently.
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

live("a process that embedded it exits on its own: no timer, fiber or handle keeps it alive", () =>
  Effect.gen(function* () {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const program = fileURLToPath(new URL("support/EmbedAndLeave.ts", import.meta.url))
    const child = yield* spawner.spawn(
      ChildProcess.make(process.execPath, [program, yield* folder], { extendEnv: true, stderr: "inherit" })
    )
    const printed = yield* Stream.mkString(Stream.decodeText(child.stdout))
    expect(printed).toBe("disposed\nactive fibers: 0\n")
    expect(Number(yield* child.exitCode)).toBe(0)
  })
)
