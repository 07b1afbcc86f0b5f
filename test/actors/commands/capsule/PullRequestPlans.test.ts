import { afterAll, describe, expect } from "bun:test"
import { Deferred, Effect, Layer } from "effect"
import * as fc from "fast-check"
import { SqlClient } from "effect/sql"
import { SourceStore } from "../../../../actors/ledger/source/SourceStore.ts"
import { newId } from "../../../../actors/base/Identity.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { RunQueue } from "../../../../actors/running/queue/RunQueue.ts"
import { ModuleRunner } from "../../../../runner/execution/ModuleRunner.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import type { Capsule } from "../../../../schema/records/Capsule.ts"
import { PullRequestId, RunId, SourceSnapshotId, Subject } from "../../../../schema/records/Ids.ts"
import { notSpeculative } from "../../../../schema/tables/RunTables.ts"
import { tableNames } from "../../../support/Dialect.ts"
import { suite } from "../../../support/Effect.ts"
import { eventually } from "../../../support/Eventually.ts"
import { active, applied, eventOf, replanned, settled } from "../../../support/Journey.ts"
import { newMember, TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"

/** While this gate is set, plans of commits whose id starts with `e` wait for the gate to open. */
const gate: { open?: Deferred.Deferred<void> } = {}

const modules = pureModules()

const gatedRunner = Layer.effect(
  ModuleRunner,
  Effect.gen(function* () {
    const runner = yield* ModuleRunner
    const sql = yield* SqlClient.SqlClient
    return ModuleRunner.of({
      ...runner,
      plan: Effect.fnUntraced(function* (job, control) {
        const [run] = yield* Effect.orDie(
          sql<{ resolved_commit: string }>`SELECT resolved_commit FROM runs WHERE id = ${job.runId}`
        )
        if (gate.open !== undefined && run?.resolved_commit.startsWith("e") === true) {
          yield* Effect.raceFirst(Deferred.await(gate.open), control?.cancelRequested ?? Effect.never)
        }
        return yield* runner.plan(job, control)
      })
    })
  })
).pipe(Layer.provideMerge(pureRunner(modules)))

const tests = suite(testPlane({ runner: gatedRunner }))
afterAll(tests.dispose)

let made = 0
const name = (prefix: string) => `${prefix}_${(made += 1).toString().padStart(24, "0")}`
const pullRequest = () => PullRequestId.make(name("pr"))

/** Stores a snapshot of the head of a pull request, as a sync of its ref would. */
const headOf = Effect.fnUntraced(function* (capsule: Capsule, commit: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* Effect.orDie(
    sql<{ id: SourceSnapshotId }>`SELECT adopted_snapshot_id AS id FROM capsules WHERE id = ${capsule.id}`
  )
  const adopted = yield* (yield* SourceStore).findSnapshot(row?.id ?? null)
  if (adopted === undefined) return yield* Effect.die(new Error("The Capsule has adopted nothing"))
  const id = SourceSnapshotId.make(name("snap"))
  const resolved_commit = commit.padEnd(40, "0")
  yield* Effect.orDie(
    sql`INSERT INTO source_snapshots ${sql.insert({ ...adopted, id, ref: "refs/pull/7/head", resolved_commit })}`
  )
  return id
})

const allow = Effect.fnUntraced(function* (capsule: Capsule, pullRequests: "static" | "own_branches") {
  const { context } = yield* TestPlane
  return yield* (yield* SourceCommands).Update(capsule.sourceId, { context, request: { pullRequests } })
})

const rowsOf = (capsule: Capsule) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`SELECT (SELECT COUNT(*) FROM runs) AS runs, (SELECT COUNT(*) FROM audit_events) AS events,
      (SELECT COUNT(*) FROM plan_authors) AS authors, (SELECT updated_at FROM capsules WHERE id = ${capsule.id}) AS at`
  )

/** Tables into which a speculative plan may insert rows. */
const ownTables = [
  "runs",
  "run_events",
  "run_log_chunks",
  "run_turns",
  "run_follow_due",
  "run_preparations",
  "plan_authors",
  "change_bases",
  "compatibility_reports",
  "audit_events",
  "audit_chains"
]

/** Returns every row of all other tables, and all Runs except speculative plans. */
const otherRows = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const tables = (yield* tableNames(sql)).filter((name) => !ownTables.includes(name))
  const rows = yield* Effect.forEach(tables, (name) =>
    Effect.map(sql`SELECT * FROM ${sql(name)}`, (found) => [name, found] as const)
  )
  const runs = yield* sql`SELECT * FROM runs WHERE ${sql.literal(notSpeculative())} ORDER BY id`
  return [...rows, ["runs", runs] as const]
})

const nothingUnderWay = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const open = yield* sql`SELECT id FROM runs WHERE status IN ('queued', 'running')
    UNION ALL SELECT run_id FROM run_follow_due d JOIN runs r ON r.id = d.run_id WHERE r.coordinator_id IS NULL
    UNION ALL SELECT id FROM capsules WHERE follow_snapshot_id IS NOT NULL`
  return open.length === 0
})

describe("Speculative plans of pull requests", () => {
  tests.live("a commit of a pull request is planned only once, unless another attempt is requested", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsule } = yield* active("once", pureModule)
      const pullRequestId = pullRequest()
      const request = { context, pullRequestId, sourceSnapshotId: yield* headOf(capsule, "a1") }
      const first = yield* capsules.PlanSpeculatively(capsule.id, request)
      expect(first).toMatchObject({ speculative: true, trigger: "user", requiresApproval: false })
      expect(first.pullRequestId).toBe(pullRequestId)
      const again = yield* capsules.PlanSpeculatively(capsule.id, request)
      expect(again.id).toBe(first.id)
      expect((yield* settled(first.id)).status).toBe("succeeded")
      const another = yield* capsules.PlanSpeculatively(capsule.id, { ...request, attempt: 1 })
      expect(another.id).not.toBe(first.id)
      expect((yield* settled(another.id)).status).toBe("succeeded")
      expect((yield* (yield* Runs).read(first.id)).status).toBe("succeeded")
    })
  )

  tests.live(
    "a newer head supersedes the running plan of its pull request, but not the plans of other pull requests",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const { capsule } = yield* active("newer", pureModule)
        const pullRequestId = pullRequest()
        const open = yield* Deferred.make<void>()
        gate.open = open
        const plan = Effect.fnUntraced(function* (commit: string, of = pullRequestId) {
          const sourceSnapshotId = yield* headOf(capsule, commit)
          return yield* capsules.PlanSpeculatively(capsule.id, { context, pullRequestId: of, sourceSnapshotId })
        })
        const running = yield* plan("e1")
        yield* eventOf(running.id, "run.started")
        const other = yield* plan("b2", pullRequest())
        const newest = yield* plan("a2")
        const replaced = yield* settled(running.id)
        expect(replaced.status).toBe("superseded")
        expect(replaced.endedBy).toMatchObject({ kind: "superseded", reason: expect.stringContaining("newer commit") })
        expect((yield* settled(newest.id)).status).toBe("succeeded")
        yield* Deferred.succeed(open, undefined)
        delete gate.open
        expect((yield* settled(other.id)).status).toBe("succeeded")
      })
  )

  tests.live("closing a pull request cancels its unfinished plans and keeps the finished ones", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const capsules = yield* CapsuleCommands
      const { capsule } = yield* active("closed", pureModule)
      const pullRequestId = pullRequest()
      const plan = Effect.fnUntraced(function* (commit: string) {
        const sourceSnapshotId = yield* headOf(capsule, commit)
        return yield* capsules.PlanSpeculatively(capsule.id, { context, pullRequestId, sourceSnapshotId })
      })
      const finished = yield* settled((yield* plan("a3")).id)
      const open = yield* Deferred.make<void>()
      gate.open = open
      const running = yield* plan("e3")
      yield* eventOf(running.id, "run.started")
      const reason = "The pull request was closed."
      yield* capsules.CancelSpeculative(capsule.id, { context: serviceContext, pullRequestId, reason })
      const cancelled = yield* settled(running.id)
      yield* Deferred.succeed(open, undefined)
      delete gate.open
      expect(cancelled.status).toBe("cancelled")
      const sql = yield* SqlClient.SqlClient
      expect(yield* sql`SELECT id FROM notices WHERE instr(data, ${running.id}) > 0`).toEqual([])
      expect(cancelled.endedBy).toMatchObject({ kind: "cancelled", reason })
      expect((yield* (yield* Runs).read(finished.id)).status).toBe("succeeded")
    })
  )

  tests.live(
    "svc automatically plans only heads from the same repository, and only if the Source's rule allows automatic plans",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const { capsule } = yield* active("ruled", pureModule)
        const sourceSnapshotId = yield* headOf(capsule, "a4")
        const request = { context: serviceContext, pullRequestId: pullRequest(), sourceSnapshotId }
        const by = Subject.make(context.actor.subject ?? "")
        const refused = Effect.fnUntraced(function* (more: { readonly ofOwnBranch?: boolean }) {
          const before = yield* rowsOf(capsule)
          const error = yield* Effect.flip(capsules.PlanSpeculatively(capsule.id, { ...request, ...more, by }))
          expect(yield* rowsOf(capsule)).toEqual(before)
          return error
        })
        expect(yield* refused({ ofOwnBranch: true })).toMatchObject({
          code: "permission_denied",
          message: expect.stringContaining("own_branches")
        })
        yield* allow(capsule, "own_branches")
        expect(yield* refused({})).toMatchObject({
          code: "permission_denied",
          message: expect.stringContaining("another repository")
        })
        const run = yield* capsules.PlanSpeculatively(capsule.id, { ...request, ofOwnBranch: true, by })
        expect(run).toMatchObject({ trigger: "service", speculative: true })
        const ended = yield* settled(run.id)
        expect(ended.status).toBe("succeeded")
        expect(ended.openedForRef).toEqual({ ref: "refs/pull/7/head", opened: ["state"], basis: "rule" })
        const sql = yield* SqlClient.SqlClient
        expect(yield* sql`SELECT subject, part FROM plan_authors WHERE run_id = ${run.id}`).toEqual([
          { subject: "service", part: "starter" }
        ])
      })
  )

  tests.live(
    "svc rejects a plan of the head by a member who may not read the Capsule's state, and writes nothing",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const { capsule } = yield* active("member", pureModule)
        const member = yield* newMember(workspaceId, context, "member")
        const sourceSnapshotId = yield* headOf(capsule, "a5")
        const request = { pullRequestId: pullRequest(), sourceSnapshotId }
        const before = yield* rowsOf(capsule)
        const error = yield* Effect.flip(capsules.PlanSpeculatively(capsule.id, { ...request, context: member }))
        expect(error.code).toBe("permission_denied")
        expect(yield* rowsOf(capsule)).toEqual(before)
        const run = yield* capsules.PlanSpeculatively(capsule.id, { ...request, context })
        expect((yield* settled(run.id)).openedForRef).toMatchObject({ basis: "other_ref" })
      })
  )

  tests.live("an automatic plan does not run once the Source's rule no longer allows it", () =>
    Effect.gen(function* () {
      const { capsule } = yield* active("withdrawn", pureModule)
      const ledger = yield* RunLedger
      const queue = yield* RunQueue
      const sourceSnapshotId = yield* headOf(capsule, "a6")
      const start = Effect.fnUntraced(function* (given: Readonly<Record<string, unknown>>) {
        const sql = yield* SqlClient.SqlClient
        const id = yield* newId(RunId, "run")
        yield* sql.withTransaction(
          ledger.insert({
            id,
            workspaceId: capsule.workspaceId,
            type: "plan",
            purpose: "speculative",
            capsuleId: capsule.id,
            sourceId: capsule.sourceId,
            sourceSnapshotId,
            installConfigId: capsule.installConfigId,
            coordinator: { kind: "pull_request", id: pullRequest() },
            trigger: "service",
            spec: given
          })
        )
        yield* queue.wake
        return yield* settled(id)
      })
      expect((yield* start({ ofOwnBranch: true })).status).toBe("cancelled")
      yield* allow(capsule, "own_branches")
      expect((yield* start({})).status).toBe("cancelled")
      expect((yield* start({ ofOwnBranch: true })).status).toBe("succeeded")
    })
  )

  tests.live(
    "a speculative plan changes only its own rows, whatever its Capsule is doing and however the plan ends",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* CapsuleCommands
        const { capsule } = yield* active("rows", pureModule)
        yield* allow(capsule, "own_branches")
        const steps = {
          newCommit: Effect.asVoid(newCommit(capsule.id)),
          waitingPlan: Effect.asVoid(replanned(capsule.id)),
          applied: Effect.flatMap(replanned(capsule.id), applied),
          driftCheck: Effect.flatMap(capsules.DriftCheck(capsule.id, { context }), ({ id }) => settled(id)),
          autoUpdate: capsules.Update(capsule.id, { context, autoUpdate: { enabled: true } })
        }
        const story = fc.array(
          fc.record({
            before: fc.constantFrom(...(Object.keys(steps) as ReadonlyArray<keyof typeof steps>)),
            end: fc.constantFrom("succeeds" as const, "fails" as const, "is cancelled" as const),
            isAsked: fc.boolean()
          }),
          { minLength: 12, maxLength: 12 }
        )
        const [events = []] = fc.sample(story, { seed: 55, numRuns: 1 })
        for (const [at, { before, end, isAsked }] of events.entries()) {
          yield* steps[before]
          yield* eventually(nothingUnderWay, (isIdle) => isIdle)
          const sourceSnapshotId = yield* headOf(capsule, `${end === "is cancelled" ? "e" : "a"}${at}f`)
          const pullRequestId = pullRequest()
          const asked = isAsked ? { context } : { context: serviceContext, ofOwnBranch: true }
          const open = yield* Deferred.make<void>()
          gate.open = open
          if (end === "fails") modules.faults.set(capsule.id, "plan_fails")
          const rows = yield* otherRows
          const run = yield* capsules.PlanSpeculatively(capsule.id, { ...asked, pullRequestId, sourceSnapshotId })
          if (end === "is cancelled") {
            yield* eventOf(run.id, "run.started")
            yield* capsules.CancelSpeculative(capsule.id, { context, pullRequestId, reason: "closed" })
          }
          const ended = yield* settled(run.id)
          yield* Deferred.succeed(open, undefined)
          delete gate.open
          const expected = { succeeds: "succeeded", fails: "failed", "is cancelled": "cancelled" } as const
          expect([at, ended.status]).toEqual([at, expected[end]])
          expect(yield* otherRows).toEqual(rows)
        }
      })
  )
})
