import { createHmac } from "node:crypto"
import { afterAll, describe, expect } from "bun:test"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { RevisionPlans } from "../../../../actors/commands/revision-plan/RevisionPlans.ts"
import { Sources } from "../../../../actors/ledger/source/Sources.ts"
import { SourceSchedule } from "../../../../actors/commands/source/SourceSchedule.ts"
import { RevisionPlanId, RunId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, freshKey, replanned, settled, stepped } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { greeting, greetingsOf } from "../../support/GreetingModule.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RevisionPlanCommands } from "../../../../schema/commands/RevisionPlanCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"
import { SourceCommands } from "../../../../schema/commands/SourceCommands.ts"
import { createTrigger, dropTrigger } from "../../../support/Dialect.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const bytes = (text: string) => new TextEncoder().encode(text)

/** Waits for a revision plan to finish. */
const revised = Effect.fnUntraced(function* (id: RevisionPlanId) {
  const { context } = yield* TestPlane
  return yield* stepped((yield* RevisionPlanCommands).Reconcile(id, { context }))
})

/** Runs the effect while the Workspace is archived. */
const archived = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { workspaceId } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    const archive = (at: string | null) => sql`UPDATE workspaces SET archived_at = ${at} WHERE id = ${workspaceId}`
    return yield* Effect.acquireUseRelease(
      archive("2026-01-01T00:00:00.000Z"),
      () => effect,
      () => Effect.orDie(archive(null))
    )
  })

describe.skipIf(Bun.which("terraform") === null)("Source lanes", () => {
  tests.live("a Source accepts a webhook with a valid secret, once per delivery", () =>
    Effect.gen(function* () {
      const { commit, context, url, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      const sourceCommands = yield* SourceCommands
      yield* commit("hook", greeting("hook"))
      const request = { workspaceId, name: "hook", url, defaultRef: "hook", autoSync: true }
      const { hookSecret, source } = yield* sources.create(context, request)
      const payload = bytes(`{"ref":"refs/heads/elsewhere"}`)
      const body = Stream.make(payload)
      const signature = `sha256=${createHmac("sha256", hookSecret).update(payload).digest("hex")}`

      const offered = [{ signatures: [signature] }, { secrets: [hookSecret] }]
      const accepted: Array<RunId> = []
      for (const [index, proofs] of offered.entries()) {
        const delivery = { proofs, body, deliveryId: `delivery-${index}` }
        const { runIds } = yield* sources.hook(source.id, delivery)
        expect(runIds).toHaveLength(1)
        accepted.push(...runIds.map((id) => RunId.make(id)))
        expect((yield* sources.hook(source.id, delivery)).runIds).toEqual([])
      }
      // A webhook only syncs the Source's own lane, regardless of the ref in the payload, and starts no plan.
      const [sync] = yield* Effect.forEach(accepted, (id) => settled(id))
      expect([sync?.status, sync?.trigger]).toEqual(["succeeded", "webhook"])
      const { items } = yield* sources.snapshots(source.id, { limit: 10 })
      expect(new Set(items.map((snapshot) => snapshot.ref))).toEqual(new Set(["hook"]))

      const refused = [
        {},
        { signatures: [`sha256=${"0".repeat(64)}`] },
        { signatures: [signature.slice(0, -1)] },
        { secrets: [`${hookSecret}x`] },
        { secrets: [""] },
        { signatures: [signature], secrets: ["wrong"] }
      ]
      for (const proofs of refused) {
        expect((yield* Effect.flip(sources.hook(source.id, { proofs, body }))).code).toBe("unauthenticated")
      }
      const other = bytes(`{"ref":"refs/heads/other"}`)
      expect(
        (yield* Effect.flip(sources.hook(source.id, { proofs: { signatures: [signature] }, body: Stream.make(other) })))
          .code
      ).toBe("unauthenticated")

      // svc stores delivery ids for a day, so a delivery is processed again if its id is older than that.
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE webhook_deliveries SET received_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${source.id}`
      const late = yield* sources.hook(source.id, { proofs: { secrets: [hookSecret] }, body, deliveryId: "delivery-0" })
      expect(late.runIds).toHaveLength(1)
      yield* Effect.forEach(late.runIds, (id) => settled(RunId.make(id)))
      // A delivery that could not be processed may be sent again.
      yield* createTrigger(
        sql,
        "CREATE TRIGGER no_runs BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no runs'); END"
      )
      const failing = { proofs: { secrets: [hookSecret] }, body, deliveryId: "delivery-9" }
      expect((yield* Effect.exit(sources.hook(source.id, failing)))._tag).toBe("Failure")
      yield* dropTrigger(sql, "no_runs")
      expect((yield* sources.hook(source.id, failing)).runIds).toHaveLength(1)

      // Nothing starts in an archived Workspace. After the Workspace is restored, the same delivery is processed.
      const put = { proofs: { secrets: [hookSecret] }, body, deliveryId: "delivery-archived" }
      yield* archived(
        Effect.gen(function* () {
          expect((yield* sources.hook(source.id, put)).runIds).toEqual([])
          expect((yield* Effect.flip(sources.hook(source.id, { ...put, proofs: { secrets: ["wrong"] } }))).code).toBe(
            "unauthenticated"
          )
          expect((yield* Effect.flip(sources.sync(context, source.id, {}))).code).toBe("failed_precondition")
        })
      )
      const restored = yield* sources.hook(source.id, put)
      expect(restored.runIds).toHaveLength(1)
      yield* Effect.forEach(restored.runIds, (id) => settled(RunId.make(id)))

      yield* sourceCommands.Update(source.id, { context, request: { status: "disabled" } })
      expect((yield* sources.hook(source.id, { proofs: { secrets: [hookSecret] }, body })).runIds).toEqual([])
      expect((yield* Effect.flip(sources.sync(context, source.id, {}))).code).toBe("failed_precondition")
    })
  )

  tests.live(
    "a revision plan uses a different ref, and the Source and Capsule keep their lane until the plan is applied",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const revisions = yield* RevisionPlans
        const sources = yield* Sources
        const { capsule } = yield* active("revise", greeting("one"))
        const commitId = yield* commit("revise-next", greeting("two"))
        const key = freshKey("revise")
        const request = { ref: "revise-next" }
        const asked = yield* Effect.all(
          Array.from({ length: 3 }, () => revisions.create(context, capsule.id, request, key)),
          { concurrency: "unbounded" }
        )
        expect(asked.filter(({ replayed }) => !replayed)).toHaveLength(1)
        expect(new Set(asked.map(({ value }) => value.id)).size).toBe(1)
        const id = asked[0]?.value.id ?? RevisionPlanId.make(`rpl_${"a".repeat(16)}`)
        expect(
          (yield* Effect.flip(revisions.create(context, capsule.id, { ref: "main" }, { ...key, requestDigest: "x" })))
            .code
        ).toBe("idempotency_conflict")
        const plan = yield* revised(id)
        expect([plan.phase, plan.nextAction, plan.diagnostics]).toEqual(["reviewable", "review_run", []])
        const run = yield* settled(plan.planRunId ?? (yield* Effect.die("no plan")))
        expect(run.resolvedCommit).toBe(commitId)
        // A snapshot on another lane does not make the Capsule stale.
        const before = yield* capsules.read(capsule.id)
        expect([before.status, before.adoptedSourceRevision?.ref]).toEqual(["active", "revise"])
        expect((yield* sources.read(capsule.sourceId)).defaultRef).toBe("revise")
        expect((yield* replanned(capsule.id)).resolvedCommit).toBe(capsule.adoptedSourceRevision?.resolvedCommit)

        // The newer plan has voided the revision plan. The message explains why, and what to do next.
        const superseded = yield* revisions.read(id)
        expect([superseded.phase, superseded.nextAction]).toEqual(["superseded", "plan_again"])
        expect(superseded.diagnostics).toEqual([
          {
            severity: "info",
            code: "plan_superseded",
            message: "A newer plan was computed. To go on, create a revision plan of revise-next again."
          }
        ])
        expect(run.revisionPlanId).toBe(id)
        expect(yield* revised(id)).toEqual(superseded)
        const given = yield* revised((yield* revisions.create(context, capsule.id, request, freshKey())).value.id)
        yield* (yield* RunCommands).Cancel(given.planRunId ?? run.id, { context })
        const cancelled = yield* revisions.read(given.id)
        expect([cancelled.phase, cancelled.diagnostics[0]?.code]).toEqual(["superseded", "plan_cancelled"])

        const again = yield* revised((yield* revisions.create(context, capsule.id, request, freshKey())).value.id)
        expect((yield* applied(yield* settled(again.planRunId ?? run.id))).status).toBe("succeeded")
        const used = yield* revisions.read(again.id)
        expect([used.phase, used.nextAction, used.diagnostics]).toEqual(["applied", "none", []])
        const after = yield* capsules.read(capsule.id)
        expect(after.adoptedSourceRevision).toMatchObject({ ref: "revise-next", resolvedCommit: commitId })
        expect((yield* sources.read(capsule.sourceId)).defaultRef).toBe("revise")
        expect(yield* greetingsOf(capsule.id)).toEqual(["two"])

        // Neither rejected requests nor later failures affect the Source or the Capsule.
        const refused = (ref: string) =>
          Effect.map(Effect.flip(revisions.create(context, capsule.id, { ref }, freshKey())), ({ code }) => code)
        expect(yield* refused("bad..ref")).toBe("invalid_request")
        const noRef = yield* revised(
          (yield* revisions.create(context, capsule.id, { ref: "no-such-ref" }, freshKey())).value.id
        )
        expect([noRef.phase, noRef.diagnostics[0]?.code]).toEqual(["failed", "source_ref_not_found"])
        expect((yield* sources.read(capsule.sourceId)).status).toBe("active")
        yield* commit("revise-empty", { "README.md": "no module" })
        const noModule = yield* revised(
          (yield* revisions.create(context, capsule.id, { ref: "revise-empty" }, freshKey())).value.id
        )
        expect([noModule.phase, noModule.diagnostics[0]?.code]).toEqual(["failed", "module_not_found"])
        expect((yield* capsules.read(capsule.id)).status).toBe("active")
        yield* capsuleCommands.Update(capsule.id, { context, status: "disabled" })
        expect(yield* refused("revise-next")).toBe("failed_precondition")
      }),
    120_000
  )

  tests.live(
    "the schedule syncs the default lane and every adopted lane, and reports a failing lane on the Source",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const sources = yield* Sources
        const sourceCommands = yield* SourceCommands
        const { capsule } = yield* active("auto", greeting("one"))
        const { sourceId } = capsule
        yield* sourceCommands.Update(sourceId, { context, request: { autoSync: true, defaultRef: "auto-default" } })
        const sql = yield* SqlClient.SqlClient
        const due = Effect.gen(function* () {
          yield* sql`UPDATE source_lanes SET next_look_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${sourceId}`
          const known = yield* sql<{ id: string }>`SELECT id FROM runs`
          yield* (yield* SourceSchedule).syncDue
          const rows = yield* sql<{ id: RunId }>`SELECT id FROM runs WHERE source_id = ${sourceId}
            AND type = 'source_sync' AND trigger_kind = 'schedule'
            AND id NOT IN (SELECT value FROM json_each(${JSON.stringify(known.map(({ id }) => id))})) ORDER BY id`
          return yield* Effect.forEach(rows, ({ id }) => settled(id))
        })
        const first = yield* due
        expect(first.map(({ status }) => status).toSorted()).toEqual(["failed", "succeeded"])
        expect((yield* sources.read(sourceId)).status).toBe("error")
        yield* (yield* SourceSchedule).syncDue
        expect(yield* archived(due)).toEqual([])
        yield* commit("auto-default", greeting("default"))
        expect((yield* due).map(({ status }) => status)).toEqual(["succeeded", "succeeded"])
        expect((yield* sources.read(sourceId)).status).toBe("active")
        expect((yield* (yield* Capsules).read(capsule.id)).status).toBe("active")
        yield* commit("auto", greeting("two"))
        yield* due
        expect((yield* (yield* Capsules).read(capsule.id)).status).toBe("stale")
        yield* sourceCommands.Update(sourceId, { context, request: { autoSync: false } })
        expect(yield* due).toEqual([])
      }),
    120_000
  )
})
