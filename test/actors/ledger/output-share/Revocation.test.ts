import { afterAll, beforeEach, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { OutputShares } from "../../../../actors/ledger/output-share/OutputShares.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { Runs, RunStreams } from "../../../../actors/ledger/run/Runs.ts"
import type { CapsuleId, OutputShareId, RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { settled } from "../../../support/Journey.ts"
import { killPoints } from "../../../support/KillPoints.ts"
import { applied, Bench, deployed, hostedPlane, install, outputsOf } from "../../support/HostedPlane.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(120_000)

const points = killPoints()
const tests = suite(hostedPlane.pipe(Layer.provideMerge(points.layer)))
afterAll(tests.dispose)
beforeEach(() => points.at.clear())

const outputs = [{ from: "hello", to: "greeting", required: false }]

/**
 * Sets up a producer Capsule, and a consumer in another Workspace that reads the producer's greeting through an approved
 * share.
 */
const sharing = Effect.fnUntraced(function* (name: string) {
  const { context, otherWorkspaceId, workspaceId } = yield* Bench
  const shares = yield* OutputShares
  const producer = yield* deployed(`${name}-producer`, "plain/producer")
  const consumer = yield* install(`${name}-consumer`, "plain/consumer", { workspaceId: otherWorkspaceId })
  const capsuleId = consumer.capsuleId ?? (yield* Effect.die("no Capsule"))
  const offered = yield* shares.create(context, {
    fromWorkspaceId: workspaceId,
    toWorkspaceId: otherWorkspaceId,
    producerCapsuleId: producer.capsuleId,
    outputs: [{ name: "greeting", alias: "hello" }]
  })
  yield* shares.approve(context, offered.id, otherWorkspaceId)
  const dependency = yield* (yield* Dependencies).create(context, capsuleId, {
    producerCapsuleId: producer.capsuleId,
    mode: "published_output",
    outputs
  })
  return { capsuleId, dependencyId: dependency.id, shareId: offered.id }
})

const planOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* Bench
  return yield* settled((yield* (yield* CapsuleCommands).Plan(capsuleId, { context })).value.id)
})

const approved = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { context } = yield* Bench
  const plan = yield* planOf(capsuleId)
  return yield* (yield* RunCommands).Approve(plan.id, { context })
})

const reasonOf = Effect.fnUntraced(function* (id: RunId) {
  const { items } = yield* (yield* RunStreams).events(id, 0, 1000)
  return items.find((event) => event.kind === "run.superseded")?.data["reason"]
})

const auditOf = Effect.fnUntraced(function* (targetId: string, action: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ workspace_id: string; data: string }>`SELECT workspace_id, data FROM audit_events
    WHERE target_id = ${targetId} AND action = ${action}`
  return Object.fromEntries(rows.map((row) => [row.workspace_id, JSON.parse(row.data).supersededRunIds]))
})

/** Revokes the share, but does not void any plan. */
const revokeSilently = (id: OutputShareId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    Effect.orDie(sql`UPDATE output_shares SET status = 'revoked' WHERE id = ${id}`)
  )

const shareRevoked = "A share of Outputs that this plan used was revoked. Plan again."

describe("Share revocation", () => {
  tests.live("revoking a share voids exactly the plans that used its values, whether or not they are approved", () =>
    Effect.gen(function* () {
      const { context, otherWorkspaceId, workspaceId } = yield* Bench
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const shares = yield* OutputShares
      const one = yield* sharing("waiting")
      const other = yield* sharing("untouched")
      const waiting = yield* planOf(one.capsuleId)
      const untouched = yield* approved(other.capsuleId)
      expect(waiting.status).toBe("waiting_approval")
      yield* shares.revoke(context, one.shareId, workspaceId)
      expect((yield* runs.read(waiting.id)).status).toBe("superseded")
      expect(yield* reasonOf(waiting.id)).toBe(shareRevoked)
      expect((yield* Effect.flip(runCommands.Approve(waiting.id, { context }))).code).toBe("failed_precondition")
      // The audit trail shows the voided plan only in the consumer's Workspace.
      expect(yield* auditOf(one.shareId, "output_share.revoke")).toEqual({ [otherWorkspaceId]: [waiting.id] })

      expect((yield* runs.read(untouched.id)).status).toBe("succeeded")
      yield* shares.revoke(context, other.shareId, otherWorkspaceId)
      expect((yield* runs.read(untouched.id)).status).toBe("superseded")
      expect((yield* Effect.flip(runs.apply(context, untouched.id, undefined))).code).toBe("failed_precondition")

      // Later plans receive no value from the share.
      const after = yield* planOf(one.capsuleId)
      expect((yield* applied(after.id)).status).toBe("succeeded")
      expect((yield* outputsOf(one.capsuleId))["greeting"]).toBe("from the default")
    })
  )

  tests.live("removing a dependency voids the plan that used its values", () =>
    Effect.gen(function* () {
      const { context, otherWorkspaceId } = yield* Bench
      const { capsuleId, dependencyId } = yield* sharing("removed")
      const plan = yield* approved(capsuleId)
      yield* (yield* Dependencies).remove(context, dependencyId)
      expect((yield* (yield* Runs).read(plan.id)).status).toBe("superseded")
      expect(yield* reasonOf(plan.id)).toBe("A dependency that this plan used was removed. Plan again.")
      expect(yield* auditOf(dependencyId, "dependency.remove")).toEqual({ [otherWorkspaceId]: [plan.id] })
    })
  )

  tests.live(
    "a plan with revoked values can be neither approved nor started, even if the revocation did not void it",
    () =>
      Effect.gen(function* () {
        const { context } = yield* Bench
        const runs = yield* Runs
        const sql = yield* SqlClient.SqlClient
        const asked = yield* sharing("asked")
        const plan = yield* approved(asked.capsuleId)
        yield* revokeSilently(asked.shareId)
        const refused = yield* Effect.flip(runs.apply(context, plan.id, undefined))
        expect([refused.code, refused.message]).toEqual(["guard_conflict", shareRevoked])

        const starting = yield* sharing("starting")
        const second = yield* approved(starting.capsuleId)
        // Revokes the share in the transaction that admits the apply, just after the admission check.
        points.at.set(
          "apply.run.queued",
          Effect.provideService(revokeSilently(starting.shareId), SqlClient.SqlClient, sql)
        )
        const apply = yield* settled((yield* runs.apply(context, second.id, undefined)).value.id)
        expect([apply.status, apply.error?.code, apply.error?.message]).toEqual(["failed", "superseded", shareRevoked])
        expect(yield* outputsOf(starting.capsuleId)).toEqual({})
      })
  )

  tests.live("a plan that is computed while its share is revoked never becomes reviewable", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* Bench
      const shares = yield* OutputShares
      const { capsuleId, shareId } = yield* sharing("computing")
      points.at.set("plan.executed", Effect.asVoid(Effect.orDie(shares.revoke(context, shareId, workspaceId))))
      const plan = yield* planOf(capsuleId)
      expect(plan.status).toBe("superseded")
      expect(yield* reasonOf(plan.id)).toBe(shareRevoked)
    })
  )

  tests.live("revoking a share does not affect a running apply", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* Bench
      const shares = yield* OutputShares
      const runs = yield* Runs
      const { capsuleId, shareId } = yield* sharing("running")
      const plan = yield* approved(capsuleId)
      points.at.set("apply.executed", Effect.asVoid(Effect.orDie(shares.revoke(context, shareId, workspaceId))))
      const apply = yield* settled((yield* runs.apply(context, plan.id, undefined)).value.id)
      expect(apply.status).toBe("succeeded")
      expect((yield* shares.list(workspaceId, { limit: 50 })).items.find(({ id }) => id === shareId)?.status).toBe(
        "revoked"
      )
      expect((yield* outputsOf(capsuleId))["greeting"]).toBe("from the producer")
      expect((yield* runs.read(plan.id)).status).toBe("succeeded")
    })
  )

  tests.live("svc rejects an apply of a plan from an older release that did not record the values the plan used", () =>
    Effect.gen(function* () {
      const { context, otherWorkspaceId } = yield* Bench
      const sql = yield* SqlClient.SqlClient
      const alone = yield* install("older", "plain/consumer", { workspaceId: otherWorkspaceId })
      const planId = alone.planRunId ?? (yield* Effect.die("no plan"))
      yield* (yield* RunCommands).Approve(planId, { context })
      yield* sql`UPDATE run_plans SET consumed_outputs = NULL WHERE run_id = ${planId}`
      expect((yield* Effect.flip((yield* Runs).apply(context, planId, undefined))).code).toBe("guard_conflict")
      expect((yield* (yield* RunLedger).find(planId))?.used_by_run_id).toBeNull()
    })
  )
})
