import { afterAll, expect } from "bun:test"
import { Context, Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { StorageSpace } from "../../../src/database/StorageSpace.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { readiness } from "../../../src/http/Health.ts"
import { it, suite } from "../../support/Effect.ts"
import { servedPerson } from "../support/ServedPerson.ts"
import { matrixApplicationWith } from "./support/MatrixApplication.ts"
import { routes, verdictOf } from "./support/RouteRequests.ts"
import { world } from "./support/World.ts"

const disk = { isFull: true }
const tests = suite(
  matrixApplicationWith(
    Layer.succeed(StorageSpace, {
      free: Effect.succeed(0),
      isFull: Effect.sync(() => disk.isFull)
    })
  )
)
afterAll(tests.dispose)

const session = Effect.gen(function* () {
  const { secret } = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
  const headers: Readonly<Record<string, string>> = {
    cookie: `svc_session=${Redacted.value(secret)}`,
    origin: "http://svc.example.test",
    "sec-fetch-site": "same-origin"
  }
  return headers
})

tests.live("on a full disk svc refuses every write after admission and before validation, but reads succeed", () =>
  Effect.gen(function* () {
    const headers = yield* session
    for (const route of routes.filter(({ rule }) => rule.kind === "workspace" || rule.kind === "account")) {
      const { code, status, verdict } = yield* verdictOf(route, "sound", headers)
      const isRead = route.method === "GET"
      expect([route.name, isRead ? verdict : [status, code]]).toEqual([
        route.name,
        isRead ? "ok" : [503, "storage_full"]
      ])
      if (isRead) continue
      expect([route.name, (yield* verdictOf(route, "broken", headers)).code]).toEqual([route.name, "storage_full"])
      expect([route.name, (yield* verdictOf(route, "sound", {})).status]).toEqual([route.name, 401])
    }
    disk.isFull = false
    const [first] = routes.filter(({ method, rule }) => method === "POST" && rule.kind === "workspace")
    if (first !== undefined) expect((yield* verdictOf(first, "sound", headers)).code).not.toBe("storage_full")
  })
)

it.live("a server on a full disk is not ready, and becomes ready again once there is free space", () =>
  Effect.gen(function* () {
    const { services } = yield* servedPerson
    const space = { isFull: false }
    const look = yield* readiness.pipe(
      Effect.provideService(StorageSpace, {
        free: Effect.succeed(0),
        isFull: Effect.sync(() => space.isFull)
      }),
      Effect.provide(services)
    )
    expect(yield* look).toBe("ready")
    space.isFull = true
    expect(yield* look).toBe("storage_full")
    space.isFull = false
    expect(yield* look).toBe("ready")
  }).pipe(Effect.scoped, Effect.provide(platform))
)

it.live("a write without disk space returns 503, saves nothing, and succeeds once there is space", () =>
  Effect.gen(function* () {
    const { cookie, services, url } = yield* servedPerson
    const sql = Context.get(services, SqlClient.SqlClient)
    const create = (handle: string) =>
      Effect.promise(async () => {
        const response = await fetch(`${url}/api/v1/workspaces`, {
          method: "POST",
          headers: {
            cookie,
            origin: url,
            "content-type": "application/json",
            "idempotency-key": `key-${handle}-0123456789`
          },
          body: JSON.stringify({ handle, displayName: "x".repeat(80) })
        })
        return [response.status, (await response.json()).error?.code]
      })
    yield* sql.unsafe("PRAGMA max_page_count=1")
    // Writes can still succeed until the existing pages are full.
    const answers: Array<ReadonlyArray<unknown>> = []
    while (answers.at(-1)?.[0] !== 503 && answers.length < 200) answers.push(yield* create(`full-${answers.length}`))
    expect(answers.at(-1)).toEqual([503, "storage_full"])
    const refused = `full-${answers.length - 1}`
    expect(yield* sql`SELECT id FROM workspaces WHERE handle = ${refused}`).toEqual([])
    yield* sql.unsafe("PRAGMA max_page_count=1073741823")
    expect(yield* create(refused)).toEqual([201, undefined])
  }).pipe(Effect.scoped, Effect.provide(platform))
)
