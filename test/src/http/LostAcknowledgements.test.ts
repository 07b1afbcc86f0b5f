import { describe, expect, setDefaultTimeout } from "bun:test"
import { createServer, request as requestTo } from "node:http"
import { Context, Effect, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { Readmission } from "../../../actors/base/Readmission.ts"
import { eventually } from "../../support/Eventually.ts"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"
import { createTrigger, dropTrigger } from "../../support/Dialect.ts"

setDefaultTimeout(120_000)

const files = {
  "main.tf": `
    variable "name" {
      type    = string
      default = "one"
    }
    output "name" { value = var.name }`
}

/**
 * Creates a database that makes the next commit of a request durable but does not acknowledge the commit. The command fails
 * as if the connection had dropped between the commit and the response.
 */
const unacknowledged = () => {
  let isArmed = false
  const layer = Layer.effect(
    SqlClient.SqlClient,
    Effect.map(SqlClient.SqlClient, (sql) => {
      const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
        Effect.gen(function* () {
          const context = yield* Effect.context<never>()
          const isNested = Option.isSome(Context.getOption(context, sql.transactionService))
          const result = yield* sql.withTransaction(effect)
          if (!isArmed || isNested || Context.get(context, Readmission) === undefined) return result
          isArmed = false
          return yield* Effect.die(new Error("The acknowledgement of this commit is lost"))
        })
      return new Proxy(sql, {
        get: (target, key, receiver) =>
          key === "withTransaction" ? withTransaction : Reflect.get(target, key, receiver)
      })
    })
  )
  const next = Effect.sync(() => {
    isArmed = true
  })
  return { layer, next }
}

/** Creates a proxy in front of a Git server that holds every request until the test opens the proxy. */
const gate = () => {
  let opened = Promise.withResolvers<void>()
  opened.resolve()
  const through = (origin: string) =>
    Effect.gen(function* () {
      const server = createServer((request, response) => {
        void opened.promise.then(() => {
          const { headers, method, url = "/" } = request
          request.pipe(
            requestTo(new URL(url, origin), { method, headers }, (answer) => {
              response.writeHead(answer.statusCode ?? 502, answer.headers)
              answer.pipe(response)
            })
          )
        })
      })
      yield* Effect.acquireRelease(
        Effect.callback<void>((resume) => {
          server.listen(0, "127.0.0.1", () => resume(Effect.void))
        }),
        () =>
          Effect.sync(() => {
            opened.resolve()
            server.closeAllConnections()
            server.close()
          })
      )
      const address = server.address()
      return `http://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`
    })
  return {
    through,
    close: Effect.sync(() => {
      opened = Promise.withResolvers<void>()
    }),
    open: Effect.sync(() => opened.resolve())
  }
}

type Plane = Effect.Success<ReturnType<typeof servedPlane>>

/** Returns the records that an accepted request may change only once. */
const records = ({ sql }: Plane, capsuleId: string) =>
  Effect.map(
    Effect.all([
      sql`SELECT install_config_id, execution_authority_epoch FROM capsules WHERE id = ${capsuleId}`,
      sql`SELECT id FROM install_configs WHERE capsule_id = ${capsuleId} ORDER BY id`,
      sql`SELECT id, type FROM runs WHERE capsule_id = ${capsuleId} ORDER BY id`,
      sql`SELECT result_id FROM idempotency_receipts ORDER BY result_id`
    ]),
    ([capsule, configs, runs, receipts]) => ({ capsule, configs, runs, receipts })
  )

/** Makes every write of a Run fail while the effect runs. */
const withoutRuns = <A, E, R>({ sql }: Plane, effect: Effect.Effect<A, E, R>) =>
  Effect.acquireUseRelease(
    createTrigger(sql, "CREATE TRIGGER no_runs BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no Runs here'); END"),
    () => effect,
    () => Effect.orDie(dropTrigger(sql, "no_runs"))
  )

const configuring = Effect.fnUntraced(function* (plane: Plane, capsuleId: string, name: string) {
  const { installConfigReAdoption } = yield* plane.capsule(capsuleId)
  const request = {
    headers: freshKey(),
    body: {
      variablePatch: { set: { name } },
      expected: { authorityGuard: installConfigReAdoption.authorityGuard }
    }
  }
  const send = (body: unknown = request.body) =>
    plane.call("POST", `/api/v1/capsules/${capsuleId}/configuration-plans`, { ...request, body })
  return { send, body: request.body }
})

describe.skipIf(Bun.which("terraform") === null)("Lost acknowledgements", () => {
  live("svc finishes a configuration plan once, whether or not the plan was committed before the error", () =>
    Effect.gen(function* () {
      const { layer, next } = unacknowledged()
      const plane = yield* servedPlane({ files, writer: layer })
      const { applied, capsule, ended, installed } = plane
      const { capsuleId, planRunId } = yield* installed("app")
      yield* applied(planRunId)

      // The transaction would commit the successor and the authority, but cannot write the plan, so it writes nothing.
      const before = yield* records(plane, capsuleId)
      const first = yield* configuring(plane, capsuleId, "two")
      expect((yield* withoutRuns(plane, first.send())).status).toBe(500)
      expect(yield* records(plane, capsuleId)).toEqual(before)
      const finished = yield* first.send()
      expect([finished.status, finished.body.replayed]).toEqual([201, false])
      expect((yield* ended(finished.body.planRunId)).status).toBe("waiting_approval")

      // The command has committed everything, but returns an error, so the caller must retry.
      const second = yield* configuring(plane, capsuleId, "three")
      yield* next
      expect((yield* second.send()).status).toBe(500)
      const durable = yield* records(plane, capsuleId)
      expect((yield* capsule(capsuleId)).executionAuthorityEpoch).toBe(3)
      const replays = [yield* second.send(), yield* second.send()]
      for (const { body, status } of replays) {
        expect([status, body.replayed]).toEqual([200, true])
        expect(durable.runs.map(({ id }) => id)).toContain(body.planRunId)
        expect(durable.capsule).toEqual([
          { install_config_id: body.targetInstallConfigId, execution_authority_epoch: 3 }
        ])
      }
      expect(replays[0]?.body.planRunId).toBe(replays[1]?.body.planRunId)
      expect(yield* records(plane, capsuleId)).toEqual(durable)
      const other = yield* second.send({ ...second.body, variablePatch: { set: { name: "four" } } })
      expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"])
    })
  )

  live("re-adopts once", () =>
    Effect.gen(function* () {
      const { layer, next } = unacknowledged()
      const plane = yield* servedPlane({ files, writer: layer })
      const { applied, call, capsule, installed, sql } = plane
      const { capsuleId, planRunId } = yield* installed("app")
      yield* applied(planRunId)
      const { adoptedSourceRevision, installConfigId, installConfigReAdoption } = yield* capsule(capsuleId)
      const request = {
        headers: freshKey(),
        body: {
          baseInstallConfigId: installConfigId,
          sourceSnapshotId: adoptedSourceRevision?.sourceSnapshotId,
          reason: "reviewed",
          expected: { authorityGuard: installConfigReAdoption.authorityGuard }
        }
      }
      const send = call("POST", `/api/v1/capsules/${capsuleId}/install-config-re-adoptions`, request)
      const before = yield* records(plane, capsuleId)
      // The command writes its activity record last.
      yield* createTrigger(
        sql,
        `CREATE TRIGGER no_events BEFORE INSERT ON audit_events WHEN NEW.action = 'capsule.re_adopt'
        BEGIN SELECT RAISE(ABORT, 'no events here'); END`
      )
      expect((yield* send).status).toBe(500)
      yield* dropTrigger(sql, "no_events")
      expect(yield* records(plane, capsuleId)).toEqual(before)

      yield* next
      expect((yield* send).status).toBe(500)
      const durable = yield* records(plane, capsuleId)
      const replay = yield* send
      expect([replay.status, replay.body.installConfigReAdoption]).toEqual([
        200,
        expect.objectContaining({ replayed: true, previousInstallConfigId: installConfigId })
      ])
      expect(replay.body.capsule).toEqual(yield* capsule(capsuleId))
      expect(replay.body.capsule.executionAuthorityEpoch).toBe(2)
      expect(yield* records(plane, capsuleId)).toEqual(durable)
    })
  )

  live("a revision plan is created once, and returns 202 until it can be reviewed", () =>
    Effect.gen(function* () {
      const { layer, next } = unacknowledged()
      const git = gate()
      const plane = yield* servedPlane({ files, writer: layer, gitThrough: git.through })
      const { applied, call, installed, sql } = plane
      const { capsuleId, planRunId } = yield* installed("app")
      yield* applied(planRunId)
      const at = `/api/v1/capsules/${capsuleId}/revision-plans`
      const headers = freshKey()
      const create = (ref: string) => call("POST", at, { headers, body: { ref } })

      yield* git.close
      yield* next
      expect((yield* create("main")).status).toBe(500)
      const created = yield* create("main")
      expect([created.status, created.body.replayed, created.body.revisionPlan.nextAction]).toEqual([
        200,
        true,
        "reconcile"
      ])
      expect((yield* create("other")).status).toBe(409)
      const { id } = created.body.revisionPlan
      const reconcile = call("POST", `/api/v1/revision-plans/${id}/reconcile`, { body: {} })
      for (const answer of [yield* reconcile, yield* reconcile]) {
        expect([answer.status, answer.body.revisionPlan.nextAction]).toEqual([202, "reconcile"])
      }
      const read = yield* call("GET", `/api/v1/revision-plans/${id}`)
      expect([read.status, read.body.revisionPlan.phase]).toEqual([200, "syncing_source"])

      yield* git.open
      const reviewable = yield* eventually(reconcile, ({ status }) => status !== 202)
      expect([reviewable.status, reviewable.body.revisionPlan.nextAction]).toEqual([200, "review_run"])
      expect(yield* sql`SELECT id FROM revision_plans`).toEqual([{ id }])
      expect((yield* reconcile).body.revisionPlan.planRunId).toBe(reviewable.body.revisionPlan.planRunId)
      const runs = yield* sql<{
        readonly id: string
      }>`SELECT id FROM runs WHERE capsule_id = ${capsuleId} AND type = 'plan'
        AND id <> ${planRunId}`
      expect(runs.map((run) => run.id)).toEqual([reviewable.body.revisionPlan.planRunId])
    })
  )
})
