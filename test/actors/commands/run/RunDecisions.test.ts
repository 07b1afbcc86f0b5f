import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { holdOf } from "../../../../actors/ledger/run/RunHold.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import { derivedId } from "../../../../actors/base/Identity.ts"
import { RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { planned, replanned } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

const tests = suite(testPlane({ runner: pureRunner(pureModules()) }))
afterAll(tests.dispose)

const reason = "Wait for the maintenance window."

const lastEvent = Effect.fnUntraced(function* (id: RunId, kind: string) {
  const { items } = yield* (yield* RunStreams).events(id, 0, 1000)
  return items.findLast((event) => event.kind === kind)?.data
})

describe("Run decisions", () => {
  tests.live("a Run records the person, reason and time when its plan is discarded", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const { plan } = yield* planned("discarded", pureModule)
      const { endedBy, finishedAt } = yield* (yield* RunCommands).Cancel(plan.id, { context, reason })
      const { subject } = context.actor
      expect(endedBy as unknown).toEqual({ kind: "discarded", subject, at: finishedAt, reason })
      expect(yield* lastEvent(plan.id, "run.cancelled")).toEqual({ reason, subject: subject ?? "" })
      const { items } = yield* (yield* Audit).list(workspaceId, "", { runId: plan.id }, { limit: 10 })
      expect(items[0]).toMatchObject({ action: "run.cancel", data: { reason } })
    })
  )

  tests.live("svc rejects discarding a Run whose plan differs from the plan that the person saw", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* RunCommands
      const { plan } = yield* planned("unseen", pureModule)
      const planDigest = `sha256:${"0".repeat(64)}`
      expect(yield* Effect.flip(runs.Cancel(plan.id, { context, planDigest }))).toMatchObject({
        code: "guard_conflict"
      })
      expect((yield* (yield* Runs).read(plan.id)).status).toBe("waiting_approval")
      const ended = yield* runs.Cancel(plan.id, { context, planDigest: plan.planDigest })
      expect(ended.status).toBe("cancelled")
    })
  )

  tests.live("a Run records the person, reason and time when its approval is withdrawn", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* RunCommands
      const { plan } = yield* planned("withdrawn", pureModule)
      const approved = yield* runs.Approve(plan.id, { context, comment: "Fine." })
      const { subject } = context.actor
      expect([approved.approvedBy as unknown, approved.approvalComment]).toEqual([subject, "Fine."])
      expect(yield* lastEvent(plan.id, "run.approved")).toMatchObject({ subject: subject ?? "", comment: "Fine." })
      const { endedBy } = yield* runs.Cancel(plan.id, { context, reason })
      expect(endedBy).toMatchObject({ kind: "approval_withdrawn", reason })
      expect(endedBy?.subject as unknown).toBe(subject)
    })
  )

  tests.live("a Run records the reason and time when a newer plan supersedes it", () =>
    Effect.gen(function* () {
      const { capsuleId, plan } = yield* planned("superseded", pureModule)
      yield* replanned(capsuleId)
      const { endedBy, finishedAt } = yield* (yield* Runs).read(plan.id)
      expect(endedBy as unknown).toEqual({
        kind: "superseded",
        at: finishedAt,
        reason: "A newer plan was computed."
      })
    })
  )

  tests.live("a Run records the person who requested a stop, and the time at which the Run stopped", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const ledger = yield* RunLedger
      const { capsuleId, plan } = yield* planned("stopped", pureModule)
      const id = derivedId(RunId, "run", plan.id, "running")
      yield* ledger.insert({
        id,
        workspaceId: plan.workspaceId,
        type: "plan",
        capsuleId,
        trigger: "user",
        spec: {}
      })
      yield* heldRun(id)
      const asked = yield* runCommands.Cancel(id, { context, reason })
      const subject: unknown = context.actor.subject
      expect(asked.cancelRequest).toMatchObject({ reason })
      expect(asked.cancelRequest?.subject as unknown).toBe(subject)
      expect(asked.endedBy).toBeUndefined()
      const row = (yield* ledger.find(id)) ?? (yield* Effect.die("no Run"))
      yield* (yield* RunLifecycle).cancel(holdOf(row))
      const { cancelRequest, endedBy, finishedAt } = yield* runs.read(id)
      expect(cancelRequest).toEqual(asked.cancelRequest)
      expect(endedBy as unknown).toEqual({ kind: "cancelled", subject, at: finishedAt, reason })
      expect(yield* lastEvent(id, "run.cancelled")).toMatchObject({ reason })
    })
  )
})
