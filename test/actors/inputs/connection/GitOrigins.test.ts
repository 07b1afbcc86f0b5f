import { afterAll, describe, expect } from "bun:test"
import { Context, Effect, Layer, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { Connections } from "../../../../actors/inputs/connection/Connections.ts"
import { InstallPlans } from "../../../../actors/commands/install-plan/InstallPlans.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { awaitRun } from "../../../../actors/ledger/run/RunJournal.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { CreateConnection } from "../../../../schema/api/ConnectionsApi.ts"
import { GivenCredentialOrigin } from "../../../../schema/records/CredentialOrigin.ts"
import type { ConnectionId, SourceId } from "../../../../schema/records/Ids.ts"
import { connectionOriginColumns } from "../../../../schema/tables/ConnectionTables.ts"
import { attentionOf } from "../../../../src/http/handlers/Attention.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { repository } from "../../../runner/git/support/RemoteFixture.ts"
import { suite } from "../../../support/Effect.ts"
import { serveByHttpBackend } from "../../../support/GitServer.ts"
import { freshKey, requestOf } from "../../../support/Journey.ts"
import { newOwner, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { ConnectionCommands } from "../../../../schema/commands/ConnectionCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"

const token = "svc-canary-git-77ac"
const header = `Basic ${Buffer.from(`git:${token}`).toString("base64")}`

/** Two Git servers that record request headers: one that the admin trusts, and one that a member chose. */
class Servers extends Context.Service<
  Servers,
  {
    readonly trusted: Effect.Success<ReturnType<typeof serveByHttpBackend>>
    readonly foreign: Effect.Success<ReturnType<typeof serveByHttpBackend>>
  }
>()("test/GitOrigins/Servers") {}

const servers = Layer.effect(
  Servers,
  Effect.gen(function* () {
    const { gitdir } = yield* repository
    return { trusted: yield* serveByHttpBackend(gitdir), foreign: yield* serveByHttpBackend(gitdir) }
  })
)

const tests = suite(
  Layer.unwrap(
    Effect.map(Servers, ({ foreign, trusted }) => testPlane({ gitOrigins: [trusted.origin, foreign.origin] }))
  ).pipe(Layer.provideMerge(servers), Layer.provideMerge(platform))
)
afterAll(tests.dispose)

const given = Schema.decodeSync(Schema.Array(GivenCredentialOrigin))
const bodyOf = Schema.decodeUnknownSync(CreateConnection)

const connectionBody = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>>) {
  const { workspaceId } = yield* TestPlane
  return bodyOf({
    workspaceId,
    provider: "git",
    kind: "git_https",
    recipeId: "git-https-token",
    displayName: "Deploy token",
    values: { token },
    ...more
  })
})

const connectionFor = Effect.fnUntraced(function* (...origins: ReadonlyArray<string>) {
  const { context } = yield* TestPlane
  return yield* (yield* Connections).create(context, yield* connectionBody({ origins }))
})

const refusedConnection = Effect.fnUntraced(function* (more: Readonly<Record<string, unknown>>) {
  const { context } = yield* TestPlane
  const error = yield* Effect.flip((yield* Connections).create(context, yield* connectionBody(more)))
  return [error.code, error.message.split(":")[0]]
})

const sourceAt = Effect.fnUntraced(function* (url: string, authConnectionId?: ConnectionId) {
  const { context, workspaceId } = yield* TestPlane
  const made = yield* (yield* Sources).create(context, {
    workspaceId,
    name: "app",
    url,
    ...(authConnectionId === undefined ? {} : { authConnectionId })
  })
  return made.source
})

const synced = Effect.fnUntraced(function* (id: SourceId) {
  const { context } = yield* TestPlane
  const run = yield* (yield* Sources).sync(context, id, {})
  yield* awaitRun(run.id)
  return yield* (yield* Runs).read(run.id)
})

const countOf = Effect.fnUntraced(function* (table: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ n: number }>`SELECT COUNT(*) AS n FROM ${sql(table)}`
  return rows[0]?.n
})

/** A Source from a release that stored addresses exactly as typed. */
const sourceOfBefore = Effect.fn(function* (url: string) {
  const sql = yield* SqlClient.SqlClient
  const source = yield* sourceAt("https://git.example.com/app.git")
  yield* sql`UPDATE sources SET url = ${url} WHERE id = ${source.id}`
  return { ...source, url }
})

/** Attaches the Connection to the Source without validation, as an older release may have done. */
const chosenBehindTheCheck = Effect.fnUntraced(function* (source: SourceId, connection: ConnectionId) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`UPDATE sources SET auth_connection_id = ${connection} WHERE id = ${source}`
})

const connectionNow = Effect.fnUntraced(function* (id: ConnectionId) {
  const { workspaceId } = yield* TestPlane
  const { items } = yield* (yield* Connections).list(workspaceId, { limit: 100 })
  return Option.getOrThrow(Option.fromUndefinedOr(items.find((each) => each.id === id)))
})

/** Restores the previous release's tables and rows, then runs this release's migration. */
const upgradedFromBefore = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`ALTER TABLE connections DROP COLUMN origins`
  yield* sql`ALTER TABLE connections DROP COLUMN proposed_origins`
  for (const statement of connectionOriginColumns) yield* sql.unsafe(statement).unprepared
})

describe("Git origins", () => {
  tests.live("a Git Connection's origins are fixed at creation, and shown in canonical spelling", () =>
    Effect.gen(function* () {
      const { trusted } = yield* Servers
      const made = yield* connectionFor(
        "https://GIT.example.com:443/Team",
        trusted.origin,
        "https://git.example.com/Team/"
      )
      expect(made.origins).toEqual(given(["https://git.example.com/Team/", trusted.origin]))
      expect(made.proposedOrigins).toBeUndefined()
      expect(yield* refusedConnection({})).toEqual(["invalid_request", "origins"])
      expect(yield* refusedConnection({ origins: ["ssh://git.example.com"] })).toEqual([
        "invalid_request",
        "origins[0]"
      ])
      expect(yield* refusedConnection({ origins: [trusted.origin, "http://git.example.com"] })).toEqual([
        "invalid_request",
        "origins[1]"
      ])
      expect(yield* refusedConnection({ origins: ["https://10.0.0.1"] })).toEqual(["invalid_request", "origins[0]"])
      expect(yield* refusedConnection({ kind: "git_ssh", origins: ["https://git.example.com"] })).toEqual([
        "invalid_request",
        "origins[0]"
      ])
      const provider = { kind: "provider", recipeId: "generic-env", values: { A_TOKEN: token } }
      expect(yield* refusedConnection({ ...provider, origins: ["https://git.example.com"] })).toEqual([
        "invalid_request",
        "origins"
      ])
      expect(() => bodyOf({ origins: [] })).toThrow()
    })
  )

  tests.live(
    "svc rejects a Source or install plan before anything is written if its Connection is not for the Source's server",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const { foreign, trusted } = yield* Servers
        const connection = yield* connectionFor(trusted.origin)
        const own = yield* sourceAt(trusted.url, connection.id)
        expect((yield* synced(own.id)).status).toBe("succeeded")
        expect(new Set(trusted.authorizations)).toEqual(new Set([header]))

        const before = [yield* countOf("sources"), yield* countOf("install_plans"), yield* countOf("runs")]
        const named = (message: string) =>
          message.includes('"Deploy token"') && message.includes(trusted.origin) && !message.includes(token)
        const written = yield* Effect.flip(sourceAt(foreign.url, connection.id))
        expect([written.code, named(written.message)]).toEqual(["invalid_request", true])
        const request = yield* requestOf("main")
        const planned = yield* Effect.flip(
          (yield* InstallPlans).create(
            context,
            workspaceId,
            { ...request, source: { name: "app", url: foreign.url, authConnectionId: connection.id } },
            freshKey()
          )
        )
        expect([planned.code, named(planned.message)]).toEqual(["invalid_request", true])
        expect([yield* countOf("sources"), yield* countOf("install_plans"), yield* countOf("runs")]).toEqual(before)

        const plain = yield* sourceAt(foreign.url)
        const changed = yield* Effect.flip(
          (yield* SourceCommands).Update(plain.id, {
            context,
            request: { authConnectionId: connection.id, name: "renamed" }
          })
        )
        expect([changed.code, named(changed.message)]).toEqual(["invalid_request", true])
        expect(yield* (yield* Sources).read(plain.id)).toMatchObject(plain)
        expect(foreign.requests).toEqual([])
      }),
    60_000
  )

  tests.live(
    "svc checks Git requests again when it sends them, so a Source on another server receives no credentials",
    () =>
      Effect.gen(function* () {
        const { foreign, trusted } = yield* Servers
        const connection = yield* connectionFor(trusted.origin)
        const source = yield* sourceAt(foreign.url)
        yield* chosenBehindTheCheck(source.id, connection.id)
        const asked = foreign.requests.length
        const run = yield* synced(source.id)
        expect([run.status, run.error?.code]).toEqual(["failed", "source_origin_refused"])
        expect(foreign.requests.length).toBe(asked)
      }),
    60_000
  )

  tests.live(
    "svc proposes origins from an earlier release, shows who chose them, and requires confirmation",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const { foreign, trusted } = yield* Servers
        const member = yield* newOwner("member")
        const connection = yield* connectionFor(trusted.origin)
        const unused = yield* connectionFor(trusted.origin)
        const own = yield* sourceAt(trusted.url, connection.id)
        const attack = yield* sourceAt(foreign.url)
        yield* chosenBehindTheCheck(attack.id, connection.id)
        // The order is unspecified, because events in the same millisecond are not ordered.
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE audit_events SET created_at = '2020-01-01T00:00:00.000Z' WHERE target_id = ${attack.id}`
        yield* (yield* Audit).append({
          workspaceId,
          actor: member.context.actor,
          action: "source.update",
          target: { kind: "source", id: attack.id },
          data: { fields: ["authConnectionId"] }
        })
        const shouting = yield* sourceOfBefore("https://GIT.example.com:443/Team/App.git")
        const unnamable = yield* sourceOfBefore("https://*.example.com/app.git")
        for (const { id } of [shouting, unnamable]) yield* chosenBehindTheCheck(id, connection.id)
        yield* upgradedFromBefore
        const asked = [trusted.requests.length, foreign.requests.length]

        const proposed = yield* connectionNow(connection.id)
        expect(proposed.origins).toEqual([])
        const subjectOf = (given: typeof context) => given.actor.subject
        expect(new Map(proposed.proposedOrigins?.map(({ origin, sources }) => [String(origin), sources]))).toEqual(
          new Map([
            [trusted.origin, [{ id: own.id, name: "app", url: trusted.url, chosenBy: `${subjectOf(context)}` }]],
            [
              foreign.origin,
              [{ id: attack.id, name: "app", url: foreign.url, chosenBy: `${subjectOf(member.context)}` }]
            ],
            [
              "https://git.example.com",
              [{ id: shouting.id, name: "app", url: shouting.url, chosenBy: `${subjectOf(context)}` }]
            ]
          ])
        )
        expect((yield* connectionNow(unused.id)).proposedOrigins).toEqual([])

        // Until an origin is confirmed, svc does not send the credentials anywhere, and no new Source may use the
        // Connection.
        for (const id of [own.id, attack.id]) {
          const run = yield* synced(id)
          expect([run.status, run.error?.code]).toEqual(["failed", "connection_origins_unconfirmed"])
        }
        expect((yield* Effect.flip(sourceAt(trusted.url, connection.id))).code).toBe("failed_precondition")
        expect([trusted.requests.length, foreign.requests.length]).toEqual(asked)
        const connections = yield* Connections
        const connectionCommands = yield* ConnectionCommands
        const waiting = yield* connections.awaitingOrigins(workspaceId)
        expect(attentionOf({ unconfirmed: waiting })).toContainEqual({
          kind: "origins_unconfirmed",
          connectionId: connection.id,
          connectionName: "Deploy token",
          since: proposed.updatedAt
        })
        expect(waiting.map(({ id }) => id)).not.toContain(unused.id)

        // A person can confirm all or some of the proposed origins, but no other origin.
        const confirm = (...origins: ReadonlyArray<string>) =>
          connectionCommands.ConfirmOrigins(connection.id, { context, origins: given(origins) })
        expect((yield* Effect.flip(confirm(trusted.origin, "https://git.example.org"))).code).toBe("invalid_request")
        expect((yield* connectionNow(connection.id)).origins).toEqual([])
        const confirmed = yield* confirm(`${trusted.origin}/repository.git`)
        expect(confirmed.origins).toEqual(given([`${trusted.origin}/repository.git/`]))
        expect(confirmed.proposedOrigins).toBeUndefined()
        expect(yield* confirm(`${trusted.origin}/repository.git`)).toEqual(confirmed)
        expect((yield* Effect.flip(confirm(trusted.origin, foreign.origin))).code).toBe("guard_conflict")
        const { items } = yield* (yield* Audit).list(
          workspaceId,
          `${subjectOf(context)}`,
          { action: "connection.origins.confirm" },
          { limit: 10 }
        )
        expect(items.map(({ data }) => data)).toEqual([
          {
            provider: "git",
            displayName: "Deploy token",
            origins: [`${trusted.origin}/repository.git/`],
            proposed: expect.arrayContaining([trusted.origin, foreign.origin])
          }
        ])

        expect((yield* synced(own.id)).status).toBe("succeeded")
        expect((yield* synced(attack.id)).error?.code).toBe("source_origin_refused")
        expect(foreign.requests.length).toBe(asked[1] ?? -1)
        const still = yield* connections.awaitingOrigins(workspaceId)
        expect(still.map(({ id }) => id)).not.toContain(connection.id)
      }),
    60_000
  )
})
