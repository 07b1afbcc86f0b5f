import { afterAll, describe, expect } from "bun:test"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import { Audit } from "../../../actors/audit/Audit.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { transaction } from "../../../actors/database/Transaction.ts"
import { newId } from "../../../actors/Identity.ts"
import { RunLedger } from "../../../actors/run/RunLedger.ts"
import { expirePlans } from "../../../actors/cleanup/BackgroundCleanup.ts"
import { Runs, RunStreams } from "../../../actors/run/Runs.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { suite } from "../../support/Effect.ts"
import {
  active,
  applied,
  applying,
  bound,
  demoConnection,
  demoModule,
  eventOf,
  freshKey,
  note,
  planned,
  replanned,
  settled
} from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"
import { setRun } from "../../support/HeldRuns.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const main = { "main.tf": `resource "terraform_data" "a" { input = "a" }` }
const day = 24 * 60 * 60 * 1000

/** A plan waiting for review that has not been computed. */
const waitingPlan = Effect.gen(function* () {
  const { workspaceId } = yield* TestPlane
  const sql = yield* SqlClient.SqlClient
  const ledger = yield* RunLedger
  const id = yield* newId(RunId, "run")
  yield* transaction(sql)(
    Effect.gen(function* () {
      yield* ledger.insert({ id, workspaceId, type: "plan", trigger: "user", spec: {} })
      yield* setRun(id, { status: "waiting_approval", plan_digest: "sha256:x" })
    })
  )
  return id
})

const planFiles = Effect.fnUntraced(function* (runId: string) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT run_id FROM run_plans WHERE run_id = ${runId}`).length
})

describe.skipIf(Bun.which("terraform") === null)("decisions about Runs", () => {
  tests.live("when approvals and cancels race, at most one of each succeeds, and a cancel is final", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const streams = yield* RunStreams
      for (let round = 0; round < 50; round += 1) {
        const id = yield* waitingPlan
        const approve = Effect.result(runs.approve(context, id, { planDigest: "sha256:x" }))
        const cancel = Effect.result(runs.cancel(context, id, undefined))
        const both = yield* Effect.all(round % 2 === 0 ? [approve, cancel, approve] : [cancel, approve, cancel], {
          concurrency: "unbounded"
        })
        const won = both.filter(Result.isSuccess).map(({ success }) => success.status)
        expect(won.filter((status) => status === "cancelled")).toHaveLength(1)
        expect(won.length).toBeLessThanOrEqual(2)
        for (const lost of both.filter(Result.isFailure)) expect(lost.failure.code).toBe("failed_precondition")
        expect((yield* runs.read(id)).status).toBe("cancelled")
        // The cancel has withdrawn the first approval.
        const kinds = (yield* streams.events(id, 0, 10)).items.map((event) => event.kind)
        const approved = won.includes("succeeded") ? ["run.approved" as const] : []
        expect(kinds).toEqual(["run.queued", ...approved, "run.cancelled"])
      }
    })
  )

  tests.live(
    "a plan is approved as it was seen, applied once, and only before it expires",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* Runs
        const capsules = yield* Capsules
        const { capsuleId, plan } = yield* planned("once", main)
        const codeOf = (planRunId: RunId) =>
          Effect.map(Effect.flip(runs.apply(context, planRunId, undefined)), (error) => error.code)

        expect(yield* codeOf(plan.id)).toBe("failed_precondition")
        const another = { planDigest: `sha256:${"0".repeat(64)}` }
        expect((yield* Effect.flip(runs.approve(context, plan.id, another))).code).toBe("guard_conflict")
        const comment = "looks right"
        const approved = yield* runs.approve(context, plan.id, { planDigest: plan.planDigest ?? "", comment })
        expect<string | undefined>(approved.approvedBy).toBe(context.actor.subject)
        expect((yield* Effect.flip(runs.approve(context, plan.id, {}))).code).toBe("failed_precondition")

        // A newer plan also replaces an approved one.
        const newer = yield* replanned(capsuleId)
        expect((yield* runs.read(plan.id)).status).toBe("superseded")
        expect(yield* planFiles(plan.id)).toBe(0)
        expect(yield* codeOf(plan.id)).toBe("failed_precondition")

        // One key means one apply, however often and concurrently it is sent; another key is another request.
        yield* runs.approve(context, newer.id, {})
        const key = freshKey("apply")
        const asked = yield* Effect.all(
          Array.from({ length: 4 }, () => runs.apply(context, newer.id, key)),
          { concurrency: "unbounded" }
        )
        expect(new Set(asked.map(({ value }) => value.id)).size).toBe(1)
        expect(asked.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(yield* codeOf(newer.id)).toBe("run_conflict")
        expect((yield* Effect.flip(runs.apply(context, newer.id, freshKey()))).code).toBe("run_conflict")
        const apply = yield* settled(asked[0]?.value.id ?? newer.id)
        expect(apply.status).toBe("succeeded")
        expect((yield* runs.apply(context, newer.id, key)).value.id).toBe(apply.id)
        expect(yield* planFiles(newer.id)).toBe(0)

        // Waiting or approved, a plan expires on time, even before the job that records it has run.
        const waiting = yield* replanned(capsuleId)
        const sql = yield* SqlClient.SqlClient
        yield* sql`UPDATE runs SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${waiting.id}`
        expect(yield* Effect.flip(runs.approve(context, waiting.id, {}))).toMatchObject({
          code: "failed_precondition",
          message: expect.stringContaining("has expired")
        })
        yield* expirePlans
        expect((yield* runs.read(waiting.id)).status).toBe("expired")
        const late = yield* replanned(capsuleId)
        yield* runs.approve(context, late.id, {})
        yield* expirePlans
        expect((yield* runs.read(late.id)).status).toBe("succeeded")
        const inAWeek = TestClock.setTime(Date.now() + 7 * day + 60_000).pipe(
          Effect.andThen(expirePlans),
          Effect.provide(TestClock.layer())
        )
        yield* sql`UPDATE runs SET expires_at = '2020-01-01T00:00:00.000Z' WHERE id = ${late.id}`
        expect(yield* codeOf(late.id)).toBe("failed_precondition")
        const fresh = yield* replanned(capsuleId)
        yield* inAWeek
        expect((yield* runs.read(fresh.id)).status).toBe("expired")
        expect(yield* planFiles(fresh.id)).toBe(0)
        expect((yield* capsules.read(capsuleId)).status).toBe("active")
      }),
    120_000
  )

  tests.live(
    "an unapplied approval is withdrawn and its comment kept; if a withdrawal and an apply race, only one wins",
    () =>
      Effect.gen(function* () {
        const { context, workspaceId } = yield* TestPlane
        const sql = yield* SqlClient.SqlClient
        const runs = yield* Runs
        const streams = yield* RunStreams
        const audit = yield* Audit
        const newest = (action: string) =>
          Effect.map(
            audit.list(workspaceId, context.actor.subject ?? "", { action }, { limit: 1 }),
            ({ items }) => items[0]
          )
        const { capsule } = yield* active("withdrawn", main)
        const plan = yield* replanned(capsule.id)
        const comment = "Checked with the network team."
        expect((yield* runs.approve(context, plan.id, { comment })).approvalComment).toBe(comment)
        expect((yield* newest("run.approve"))?.data).toMatchObject({ comment })
        const withdrawn = yield* runs.cancel(context, plan.id, "The window closed.")
        expect(withdrawn).toMatchObject({ status: "cancelled", approvalComment: comment })
        expect<string | undefined>(withdrawn.approvedBy).toBe(context.actor.subject)
        expect(withdrawn.finishedAt).toBeDefined()
        expect((yield* newest("run.withdraw_approval"))?.data).toEqual({ type: "plan", reason: "The window closed." })
        expect((yield* streams.events(plan.id, 0, 1000)).items.at(-1)).toMatchObject({
          kind: "run.cancelled",
          data: { approvalWithdrawn: true, reason: "The window closed." }
        })
        expect(yield* planFiles(plan.id)).toBe(0)
        expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("failed_precondition")
        expect((yield* Effect.flip(runs.cancel(context, plan.id, undefined))).code).toBe("failed_precondition")
        expect((yield* Effect.flip(runs.approve(context, plan.id, {}))).message).toContain("is cancelled")
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")

        const { installConfigId, executionAuthorityEpoch, currentStateGeneration } = yield* (yield* Capsules).read(
          capsule.id
        )
        const ledger = yield* RunLedger
        const approvedPlan = Effect.gen(function* () {
          const id = yield* newId(RunId, "run")
          yield* ledger.insert({
            id,
            workspaceId,
            type: "plan",
            capsuleId: capsule.id,
            sourceSnapshotId: plan.sourceSnapshotId,
            installConfigId,
            executionAuthorityEpoch,
            baseStateGeneration: currentStateGeneration,
            trigger: "user",
            spec: {}
          })
          yield* setRun(id, {
            status: "succeeded",
            approved_at: "2026-01-01T00:00:00.000Z",
            plan_digest: "sha256:x"
          })
          return id
        }).pipe(transaction(sql))
        for (let round = 0; round < 20; round += 1) {
          const id = yield* approvedPlan
          const apply = Effect.result(Effect.map(runs.apply(context, id, undefined), ({ value }) => value))
          const withdraw = Effect.result(runs.cancel(context, id, undefined))
          const both = yield* Effect.all(round % 2 === 0 ? [apply, withdraw] : [withdraw, apply], {
            concurrency: "unbounded"
          })
          expect(both.filter(Result.isSuccess)).toHaveLength(1)
          const [won] = both.filter(Result.isSuccess)
          const [lost] = both.filter(Result.isFailure)
          if (won?.success.type === "plan") {
            expect(lost?.failure.code).toBe("failed_precondition")
            expect((yield* runs.read(id)).status).toBe("cancelled")
          } else {
            expect(lost?.failure.code).toBe("run_conflict")
            expect(lost?.failure.message).toContain(won?.success.id ?? "?")
            expect((yield* runs.read(id)).status).toBe("succeeded")
            yield* settled(won?.success.id ?? id)
          }
        }
      }),
    60_000
  )

  tests.live(
    "Runs waiting behind an apply continue from its result",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* Runs
        const capsules = yield* Capsules
        const connection = yield* demoConnection("queue-canary-token-9a1c")
        const { capsuleId, plan } = yield* planned(
          "behind",
          { "main.tf": demoModule(note("behind", "delay_ms = 700")) },
          {
            options: { providerBindings: [bound(connection.id)] }
          }
        )
        const apply = yield* applying(plan)
        const behind = (yield* capsules.plan(context, capsuleId, undefined)).value
        expect(behind.queue).toMatchObject({ position: 2, reason: "capsule_busy", heldByRunId: apply.id })
        expect(behind.baseStateGeneration).toBe(0)
        const destroy = (yield* capsules.destroyPlan(context, capsuleId, undefined)).value
        expect(destroy.queue?.position).toBe(3)
        expect((yield* settled(apply.id)).status).toBe("succeeded")
        const rebased = yield* settled(behind.id)
        expect(rebased.baseStateGeneration).toBe(1)
        expect(rebased.planSummary).toMatchObject({ add: 0, change: 0, destroy: 0 })
        const teardown = yield* settled(destroy.id)
        expect(teardown.baseStateGeneration).toBe(1)
        expect(teardown.planSummary).toMatchObject({ destroy: 1 })
        // The destroy plan is newer.
        expect((yield* runs.read(rebased.id)).status).toBe("superseded")

        // An apply that is cancelled before it starts has used up its plan and changed nothing.
        const fresh = yield* replanned(capsuleId)
        yield* runs.approve(context, fresh.id, {})
        const drift = yield* capsules.driftCheck(context, capsuleId)
        yield* eventOf(drift.id, "run.started")
        const queued = (yield* runs.apply(context, fresh.id, undefined)).value
        // The drift check yielded to it.
        const yielded = (yield* (yield* RunStreams).events(drift.id, 0, 100)).items.find(
          ({ kind }) => kind === "run.cancelling"
        )
        expect(yielded?.data).toEqual({ reason: "Another Run goes first." })
        expect((yield* settled(drift.id)).status).toBe("cancelled")
        expect((yield* settled(queued.id)).status).toBe("succeeded")
        expect((yield* capsules.read(capsuleId)).currentStateGeneration).toBe(2)
      }),
    120_000
  )

  tests.live(
    "cancelling a queued apply uses up its plan",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const runs = yield* Runs
        const capsules = yield* Capsules
        const { capsule } = yield* active("leaves", main)
        const plan = yield* replanned(capsule.id)
        yield* runs.approve(context, plan.id, {})
        // A plan ahead of it holds the Capsule briefly.
        const ahead = (yield* capsules.plan(context, capsule.id, undefined)).value
        const apply = (yield* runs.apply(context, plan.id, undefined)).value
        expect(apply.queue?.heldByRunId).toBe(ahead.id)
        expect((yield* runs.cancel(context, apply.id, undefined)).status).toBe("cancelled")
        expect(yield* planFiles(plan.id)).toBe(0)
        expect((yield* Effect.flip(runs.apply(context, plan.id, undefined))).code).toBe("run_conflict")
        expect((yield* settled(ahead.id)).status).toBe("waiting_approval")
        expect((yield* capsules.read(capsule.id)).currentStateGeneration).toBe(1)
        expect((yield* applied(yield* replanned(capsule.id))).status).toBe("succeeded")
      }),
    120_000
  )

  tests.live("the history records how the approved plan was isolated, or nothing if that is unknown", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const runs = yield* Runs
      const approval = Effect.fnUntraced(function* (id: RunId) {
        yield* runs.approve(context, id, {})
        const filter = { action: "run.approve" }
        const { items } = yield* (yield* Audit).list(workspaceId, context.actor.subject ?? "", filter, { limit: 1 })
        expect(items[0]?.runId).toBe(id)
        return items[0]?.data
      })
      const { plan } = yield* planned("history", main)
      const { isolation = "", network = "", planDigest = "" } = yield* runs.read(plan.id)
      expect([isolation, network]).not.toContain("")
      expect(yield* approval(plan.id)).toEqual({ type: "plan", planDigest, isolation, network })
      const unknown = { isolation: null, network: null }
      expect(yield* approval(yield* waitingPlan)).toEqual({ type: "plan", planDigest: "sha256:x", ...unknown })
    })
  )
})
