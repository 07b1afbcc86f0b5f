import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Context, Deferred, Effect, FileSystem, Layer, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { type RemoteChange, RemoteChanges } from "../../../../actors/base/database/RemoteChanges.ts"
import { RunCancels } from "../../../../actors/ledger/run/RunCancels.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { DataFolder } from "../../../../src/database/DataFolder.ts"
import * as PostgresDatabase from "../../../../src/database/postgres/PostgresDatabase.ts"
import { AuthorityChanges } from "../../../../src/streams/AuthorityChanges.ts"
import { withoutForeignKeys } from "../../../support/Dialect.ts"
import { it } from "../../../support/Effect.ts"
import { hasPostgres, migratedDatabase } from "../../../support/PostgresTests.ts"

const runId = RunId.make("run_000000000000000000000001")

/** Builds the part of a server with a shared database that receives other servers' commits. */
const server = (url: Redacted.Redacted) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
    const parts = Layer.mergeAll(RunJournal.layer, RunCancels.layer, AuthorityChanges.layer).pipe(
      Layer.provideMerge(PostgresDatabase.layer(url)),
      Layer.provide(DataFolder.layer(folder))
    )
    return yield* Layer.build(parts)
  }).pipe(Effect.provide(NodeServices.layer))

const twoServers = Effect.gen(function* () {
  const url = yield* migratedDatabase
  const [one, other] = [yield* server(url), yield* server(url)]
  const sql = Context.get(other, SqlClient.SqlClient)
  yield* withoutForeignKeys(sql)
  yield* sql`INSERT INTO runs ${sql.insert({
    id: runId,
    workspace_id: "ws_1",
    type: "source_sync",
    status: "running",
    requires_approval: 0,
    trigger_kind: "user",
    attempt: 1,
    spec: "{}",
    evidence: "{}",
    created_at: "",
    queued_at: ""
  })}`
  return { one, other, sql }
})

/** Makes this change on the other server, and waits until the first server reports the change. */
const heard = (
  one: Context.Context<never>,
  isIt: (change: RemoteChange) => boolean,
  change: Effect.Effect<unknown, unknown>
) =>
  Effect.gen(function* () {
    const found = yield* Deferred.make<RemoteChange>()
    const remove = Context.get(one, RemoteChanges).listen((seen) => {
      if (isIt(seen)) Deferred.doneUnsafe(found, Effect.succeed(seen))
    })
    yield* change
    const seen = yield* Deferred.await(found)
    remove()
    return seen
  })

describe.skipIf(!hasPostgres)("Two servers that share a database", () => {
  it.live("an event of a Run is delivered after the commit to the followers on the other server", () =>
    Effect.gen(function* () {
      const { one, other, sql } = yield* twoServers
      const woken = yield* Deferred.make<void>()
      Context.get(one, RunJournal).listen(runId, () => Deferred.doneUnsafe(woken, Effect.void))
      yield* sql.withTransaction(Context.get(other, RunJournal).append(runId, "run.phase", { phase: "plan" }))
      yield* Deferred.await(woken)
    })
  )

  it.live("a new Run, or a new status of a Run, is announced to the queue of the other server", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* twoServers
      const isQueue = ({ kind }: RemoteChange) => kind === "queue"
      yield* heard(one, isQueue, sql`UPDATE runs SET status = 'queued' WHERE id = ${runId}`)
    })
  )

  it.live("a request to cancel a Run reaches the other server, which executes the Run", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* twoServers
      const stopped = yield* Context.get(one, RunCancels).register(runId)
      yield* sql`UPDATE runs SET cancel_requested_at = '2026-01-01T00:00:00.000Z' WHERE id = ${runId}`
      yield* stopped
    })
  )

  it.live("a revocation on one server notifies every follower of authority changes on the other server", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* twoServers
      const watch = yield* Context.get(one, AuthorityChanges).follow
      const seen = watch.seen()
      yield* sql`UPDATE authority_changes SET count = count + 1`
      yield* watch.changedSince(seen)
    })
  )

  it.live("a policy reload on one server reaches the other server, but other operator commands do not", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* twoServers
      const seen: Array<RemoteChange["kind"]> = []
      Context.get(one, RemoteChanges).listen(({ kind }) => void seen.push(kind))
      const event = (kind: string, position: number) =>
        sql`INSERT INTO audit_events ${sql.insert({
          id: `act_${kind}`,
          actor_kind: "service",
          actor_subject: "svc",
          action: "operator.command",
          target_kind: kind,
          target_id: "sha256:0",
          data: "{}",
          created_at: "2026-01-01T00:00:00.000Z",
          position
        })}`
      yield* event("agent_pool", 900)
      yield* heard(one, ({ kind }) => kind === "policy", event("policy", 901))
      expect(seen.filter((kind) => kind === "policy")).toHaveLength(1)
    })
  )

  it.live("after a lost connection, a server reads the pending cancel requests as soon as it listens again", () =>
    Effect.gen(function* () {
      const { one, sql } = yield* twoServers
      const stopped = yield* Context.get(one, RunCancels).register(runId)
      const cut = sql`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN%'`
      yield* heard(
        one,
        ({ kind }) => kind === "unknown",
        Effect.andThen(cut, sql`UPDATE runs SET cancel_requested_at = '2026-01-01T00:00:00.000Z' WHERE id = ${runId}`)
      )
      yield* stopped
    })
  )
})
