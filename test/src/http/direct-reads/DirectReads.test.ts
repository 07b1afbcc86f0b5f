import { afterAll, expect } from "bun:test"
import { Context, Effect, Layer, Option, Redacted, References, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/account/AccessTokens.ts"
import { serviceContext } from "../../../../actors/Command.ts"
import { PointReads } from "../../../../actors/database/PointReads.ts"
import { ReadSql } from "../../../../actors/database/ReadSql.ts"
import { type RunRow, toRun } from "../../../../actors/run/RunRow.ts"
import { Runs } from "../../../../actors/run/Runs.ts"
import { Interfaces } from "../../../../actors/interface/Interfaces.ts"
import { notFound } from "../../../../schema/errors/ApiError.ts"
import { unlimitedAttempts } from "../../../support/Attempts.ts"
import { authenticatorLayer } from "../../../../src/accounts/AuthenticatorLayer.ts"
import { tokenHandlers } from "../../../../src/http/handlers/TokenHandlers.ts"
import { workspaceHandlers } from "../../../../src/http/handlers/WorkspaceHandlers.ts"
import { apiMiddleware } from "../../../../src/http/ApiRoutes.ts"
import { DirectReads } from "../../../../src/http/direct-reads/DirectReads.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { matrixIssuer, Principals } from "../support/Principals.ts"
import { applicationWith, origin, send, settings } from "../support/TestApplication.ts"
import { world } from "../support/World.ts"

/** Runs as stored in the database, without the actors that change them. */
const storedRuns = Layer.unwrap(
  Effect.map(ReadSql, (sql) =>
    Layer.mock(Runs)({
      read: Effect.fnUntraced(function* (id) {
        const [row] = yield* Effect.orDie(sql<RunRow>`SELECT * FROM runs WHERE id = ${id}`)
        return row === undefined ? yield* notFound("Run") : toRun(row)
      })
    })
  )
)

const untraced = Layer.succeed(References.TracerEnabled, false)

const accountGroups = Layer.mergeAll(tokenHandlers, workspaceHandlers).pipe(
  Layer.provide(apiMiddleware),
  Layer.provide(Layer.mock(Interfaces)({}))
)

const application = applicationWith(
  Layer.mergeAll(authenticatorLayer, storedRuns, unlimitedAttempts),
  accountGroups
).pipe(
  Layer.provideMerge(DirectReads.layer.pipe(Layer.provide(Layer.merge(storedRuns, settings)))),
  Layer.provideMerge(Principals.layer),
  Layer.provideMerge(matrixIssuer),
  Layer.provideMerge(Layer.merge(untraced, Layer.succeed(References.MinimumLogLevel, "None"))),
  Layer.provideMerge(testAccounts)
)

const tests = suite(application)
afterAll(tests.dispose)

const project = `/api/v1/projects/${world.projectId}`
const run = `/api/v1/runs/${world.runId}`

const directly = Effect.fnUntraced(function* (path: string, init: RequestInit) {
  const reads = yield* DirectReads
  return reads.answer(new Request(`${origin}${path}`, init), "req_direct")
})

const headersOf = Effect.fnUntraced(function* (name: string) {
  const headers = (yield* Principals).get(name)
  return headers === undefined ? yield* Effect.die(`There is no principal "${name}"`) : headers
})

/** Everything a client sees, except the request's own id. */
const seen = (response: Response) =>
  Effect.promise(async () => ({
    status: response.status,
    headers: Object.fromEntries(
      [...response.headers].filter(([name]) => name !== "x-request-id" && name !== "content-length")
    ),
    body: await response.text()
  }))

/** Callers whose reads are answered directly; the routes judge all others. */
const answered = new Set(["token", "read-only token", "token for A", "viewer's token"])

tests.live("a direct answer equals the routes' answer, and a caller the routes refuse gets none", () =>
  Effect.gen(function* () {
    for (const name of (yield* Principals).keys()) {
      const headers = yield* headersOf(name)
      for (const path of [project, run]) {
        // The route records the first use of a token.
        const ordinary = yield* Effect.flatMap(send(path, { headers }), seen)
        const direct = yield* directly(path, { headers })
        expect([name, path, Option.isSome(direct)]).toEqual([name, path, answered.has(name)])
        if (Option.isSome(direct)) {
          expect(direct.value.headers.get("x-request-id")).toBe("req_direct")
          expect(yield* seen(direct.value)).toEqual(ordinary)
          expect(ordinary.status).toBe(200)
        }
      }
    }
  })
)

tests.live("any other spelling, query or authentication is left to the routes", () =>
  Effect.gen(function* () {
    const headers = yield* headersOf("token")
    const { authorization = "" } = headers
    yield* send(project, { headers })
    expect(Option.isSome(yield* directly(project, { headers }))).toBe(true)
    const others: ReadonlyArray<readonly [string, RequestInit]> = [
      [project, { headers, method: "HEAD" }],
      [project, { headers, method: "DELETE" }],
      [`${project}?`, { headers }],
      [`${project}?bogus=1`, { headers }],
      [`${project}/`, { headers }],
      [`/api/v1//projects/${world.projectId}`, { headers }],
      [`/API/v1/projects/${world.projectId}`, { headers }],
      [`/api/v1/projects/${world.projectId.toUpperCase()}`, { headers }],
      [`/api/v1/projects/%70rj_${world.projectId.slice(4)}`, { headers }],
      [`/api/v1/projects/${world.runId}`, { headers }],
      [`/api/v1/projects/prj_${"z".repeat(24)}`, { headers }],
      [`/api/v1/runs/${world.projectId}`, { headers }],
      [`/api/v1/runs/run_${"z".repeat(24)}`, { headers }],
      [`/api/v1/sources/${world.sourceId}`, { headers }],
      [project, { headers: { ...headers, "x-svc-account-session": "svcs_second" } }],
      [project, { headers: { authorization: `${authorization}, ${authorization}` } }],
      [project, { headers: { authorization: `${authorization}x` } }],
      [project, { headers: { authorization: authorization.replace("Bearer", "Basic") } }]
    ]
    for (const [path, init] of others) {
      expect([path, Option.isNone(yield* directly(path, init))]).toEqual([path, true])
    }
  })
)

/** Whether a token is answered while `change` is in effect; `undo` restores everything. */
const during = (change: string, undo: string, name = "token") =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const headers = yield* headersOf(name)
    const isAnswered = Effect.map(directly(project, { headers }), Option.isSome)
    yield* send(project, { headers })
    const before = yield* isAnswered
    const meanwhile = yield* Effect.acquireUseRelease(
      sql.unsafe(change),
      () => isAnswered,
      () => Effect.orDie(sql.unsafe(undo))
    )
    return [before, meanwhile, yield* isAnswered]
  })

tests.live("nothing outlives a commit: revoked authority counts for the next read", () =>
  Effect.gen(function* () {
    const changes = [
      [
        "UPDATE access_tokens SET revoked_at = '2026-01-01T00:00:00.000Z' WHERE revoked_at IS NULL",
        "UPDATE access_tokens SET revoked_at = NULL"
      ],
      [
        "UPDATE access_tokens SET expires_at = '2026-01-01T00:00:00.000Z'",
        "UPDATE access_tokens SET expires_at = '9999-01-01T00:00:00.000Z'"
      ],
      ["UPDATE users SET status = 'disabled'", "UPDATE users SET status = 'active'"],
      [
        `UPDATE memberships SET status = 'suspended' WHERE subject = '${world.ada}'`,
        `UPDATE memberships SET status = 'active' WHERE subject = '${world.ada}'`
      ]
    ] as const
    for (const [change, undo] of changes) expect(yield* during(change, undo)).toEqual([true, false, true])
  })
)

tests.live("an archived Workspace is read as before", () =>
  Effect.gen(function* () {
    const archived = yield* during(
      "UPDATE workspaces SET archived_at = '2026-01-01T00:00:00.000Z'",
      "UPDATE workspaces SET archived_at = NULL"
    )
    expect(archived).toEqual([true, true, true])
  })
)

tests.live("a token whose use has to be recorded is left to the route that records it", () =>
  Effect.gen(function* () {
    const tokens = yield* AccessTokens
    const { secret } = yield* tokens.create(serviceContext, world.ada, { name: "new", scopes: ["read"] })
    const headers = { authorization: `Bearer ${Redacted.value(secret)}` }
    expect(Option.isNone(yield* directly(project, { headers }))).toBe(true)
    yield* send(project, { headers })
    expect(Option.isSome(yield* directly(project, { headers }))).toBe(true)
  })
)

/** The same service in another environment. */
const answeredWith = (surroundings: Layer.Layer<never>) =>
  Effect.gen(function* () {
    const headers = yield* headersOf("token")
    yield* send(project, { headers })
    return yield* Effect.map(directly(project, { headers }), Option.isSome).pipe(
      Effect.provide(
        Layer.fresh(DirectReads.layer).pipe(
          Layer.provide(surroundings),
          Layer.provide(Layer.merge(storedRuns, settings))
        )
      )
    )
  })

tests.live("where requests are traced, the routes answer all of them", () =>
  Effect.gen(function* () {
    expect(yield* answeredWith(Layer.empty)).toBe(true)
    expect(yield* answeredWith(Layer.succeed(References.TracerEnabled, true))).toBe(false)
  })
)

tests.live("concurrent reads share one snapshot, and later reads do not see it", () =>
  Effect.gen(function* () {
    const reads = yield* PointReads
    const read = yield* ReadSql
    const sql = yield* SqlClient.SqlClient
    const Named = Schema.Struct({ name: Schema.String })
    const nameOf = reads.prepare(Named, (id) => read`SELECT name FROM projects WHERE id = ${id}`)
    const name = () => nameOf(world.projectId).pipe(Option.map((row) => row.name))
    const rename = (to: string) => Effect.runSync(sql`UPDATE projects SET name = ${to} WHERE id = ${world.projectId}`)
    const both = reads.together(() => {
      const before = name()
      rename("Renamed")
      return Option.some([before, name()])
    })
    expect(both).toEqual(Option.some([Option.some("Default"), Option.some("Default")]))
    expect(name()).toEqual(Option.some("Renamed"))
    const broken = reads.together(() => {
      name()
      throw new Error("a reader with a fault")
    })
    expect(broken).toEqual(Option.none())
    rename("Default")
    expect(name()).toEqual(Option.some("Default"))
    expect(nameOf("prj_unknown")).toEqual(Option.none())
  })
)

tests.live("the cache is invalidated by any commit, and only concurrent reads fill it", () =>
  Effect.gen(function* () {
    const reads = yield* PointReads
    const read = yield* ReadSql
    const sql = yield* SqlClient.SqlClient
    // Changes whenever the statement is really executed.
    const Drawn = Schema.Struct({ number: Schema.Finite })
    const draw = (id: string) => read`SELECT random() / 2048 AS number FROM projects WHERE id = ${id}`
    const remembered = reads.untilCommit(reads.prepare(Drawn, draw))
    const fresh = reads.prepare(Drawn, draw)
    const together = () => reads.together(() => Option.all([remembered(world.projectId), fresh(world.projectId)]))
    const [first, second] = [Option.getOrThrow(together()), Option.getOrThrow(together())]
    expect(second[0]).toEqual(first[0])
    expect(second[1]).not.toEqual(first[1])
    expect(remembered(world.projectId)).not.toEqual(Option.some(first[0]))
    yield* sql`UPDATE workspaces SET display_name = 'Another' WHERE id = ${world.workspaceB}`
    const third = Option.getOrThrow(together())
    expect(third[0]).not.toEqual(first[0])
    expect(Option.getOrThrow(together())[0]).toEqual(third[0])
  })
)

tests.live(
  "a row that does not match its schema counts as missing, and without an embedded database every row does",
  () =>
    Effect.gen(function* () {
      const reads = yield* PointReads
      const read = yield* ReadSql
      const Numbered = Schema.Struct({ name: Schema.Int })
      const select = (id: string) => read`SELECT name FROM projects WHERE id = ${id}`
      expect(reads.prepare(Numbered, select)(world.projectId)).toEqual(Option.none())
      const nowhere = Context.get(Context.empty(), PointReads)
      expect(nowhere.prepare(Schema.Unknown, select)(world.projectId)).toEqual(Option.none())
    })
)
