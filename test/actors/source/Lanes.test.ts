import { createHmac } from "node:crypto"
import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { RevisionPlans } from "../../../actors/revision-plan/RevisionPlans.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import { Sources } from "../../../actors/source/Sources.ts"
import { SourceSchedule } from "../../../actors/source/SourceSchedule.ts"
import { type CapsuleId, RevisionPlanId, RunId, type SourceId } from "../../../schema/records/Ids.ts"
import { suite } from "../../support/Effect.ts"
import { eventually } from "../../support/Eventually.ts"
import { active, applied, freshKey, replanned, settled } from "../../support/Journey.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"

const tests = suite(testPlane())
afterAll(tests.dispose)

const main = (greeting: string) => ({
  "main.tf": `
    resource "terraform_data" "a" { input = "${greeting}" }
    output "a" { value = terraform_data.a.output }`
})

const outputsOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  return (yield* (yield* Capsules).outputs(capsuleId)).map((output) => output.value)
})

const bytes = (text: string) => new TextEncoder().encode(text)

/** A revision plan at its end. */
const revised = Effect.fnUntraced(function* (id: RevisionPlanId) {
  const revisions = yield* RevisionPlans
  const { context } = yield* TestPlane
  for (;;) {
    const plan = yield* revisions.reconcile(context, id)
    if (plan.nextAction !== "reconcile") return plan
    const run = plan.planRunId ?? plan.compatibilityCheckRunId ?? plan.syncRunId
    if (run !== undefined) yield* settled(run)
  }
})

/** Runs that the Capsule planned by itself, newest first, each at its end. */
const followed = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { workspaceId } = yield* TestPlane
  const runs = yield* Runs
  const { items } = yield* runs.list(workspaceId, { capsuleId }, { limit: 50 })
  return yield* Effect.forEach(
    items.filter(({ trigger }) => trigger === "auto_update"),
    ({ id }) => settled(id)
  )
})

const synced = Effect.fnUntraced(function* (sourceId: SourceId) {
  const { context } = yield* TestPlane
  const sync = yield* (yield* Sources).sync(context, sourceId, {})
  return yield* settled(sync.id)
})

/** While the effect runs, the Workspace is archived. */
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

/** Hand-overs are delivered after the sender's commit; a later command of the same mailbox comes after them. */
const delivered = (capsuleId: CapsuleId) =>
  Effect.gen(function* () {
    const { context } = yield* TestPlane
    const sql = yield* SqlClient.SqlClient
    yield* eventually(
      sql`SELECT COUNT(*) AS waiting FROM cluster_messages WHERE processed = 0`,
      ([open]) => open?.["waiting"] === 0
    )
    yield* (yield* Capsules).update(context, capsuleId, {})
  })

describe.skipIf(Bun.which("terraform") === null)("lanes of a Source", () => {
  tests.live("a webhook counts when it proves the secret, once a delivery", () =>
    Effect.gen(function* () {
      const { commit, context, url, workspaceId } = yield* TestPlane
      const sources = yield* Sources
      yield* commit("hook", main("hook"))
      const request = { workspaceId, name: "hook", url, defaultRef: "hook" }
      const { hookSecret, source } = yield* sources.create(context, request)
      const body = bytes(`{"ref":"refs/heads/elsewhere"}`)
      const signature256 = `sha256=${createHmac("sha256", hookSecret).update(body).digest("hex")}`

      const proofs = [{ signature256 }, { gitlabToken: hookSecret }, { bearer: hookSecret }]
      const accepted: Array<RunId> = []
      for (const [index, proof] of proofs.entries()) {
        const delivery = { ...proof, body, deliveryId: `delivery-${index}` }
        const { runIds } = yield* sources.hook(source.id, delivery)
        expect(runIds).toHaveLength(1)
        accepted.push(...runIds.map((id) => RunId.make(id)))
        expect((yield* sources.hook(source.id, delivery)).runIds).toEqual([])
      }
      // Whatever the payload names, the Source's own lane is what is synced, and only observed.
      const [sync] = yield* Effect.forEach(accepted, (id) => settled(id))
      expect([sync?.status, sync?.trigger]).toEqual(["succeeded", "webhook"])
      const { items } = yield* sources.snapshots(source.id, { limit: 10 })
      expect(new Set(items.map((snapshot) => snapshot.ref))).toEqual(new Set(["hook"]))

      const refused = [
        {},
        { signature256: `sha256=${"0".repeat(64)}` },
        { signature256: signature256.slice(0, -1) },
        { gitlabToken: `${hookSecret}x` },
        { bearer: "" },
        { signature256, bearer: "wrong" }
      ]
      for (const proof of refused) {
        expect((yield* Effect.flip(sources.hook(source.id, { ...proof, body }))).code).toBe("unauthenticated")
      }
      const other = bytes(`{"ref":"refs/heads/other"}`)
      expect((yield* Effect.flip(sources.hook(source.id, { signature256, body: other }))).code).toBe("unauthenticated")

      // A delivery is remembered for a day.
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE webhook_deliveries SET received_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${source.id}`
      const late = yield* sources.hook(source.id, { bearer: hookSecret, body, deliveryId: "delivery-0" })
      expect(late.runIds).toHaveLength(1)
      yield* Effect.forEach(late.runIds, (id) => settled(RunId.make(id)))
      // What could not be acted on may be delivered again.
      yield* sql`CREATE TRIGGER no_runs BEFORE INSERT ON runs BEGIN SELECT RAISE(ABORT, 'no runs'); END`
      const failing = { bearer: hookSecret, body, deliveryId: "delivery-9" }
      expect((yield* Effect.exit(sources.hook(source.id, failing)))._tag).toBe("Failure")
      yield* sql`DROP TRIGGER no_runs`
      expect((yield* sources.hook(source.id, failing)).runIds).toHaveLength(1)

      // Nothing starts in an archived Workspace; once it is restored, the same delivery counts.
      const put = { bearer: hookSecret, body, deliveryId: "delivery-archived" }
      yield* archived(
        Effect.gen(function* () {
          expect((yield* sources.hook(source.id, put)).runIds).toEqual([])
          expect((yield* Effect.flip(sources.hook(source.id, { ...put, bearer: "wrong" }))).code).toBe(
            "unauthenticated"
          )
          expect((yield* Effect.flip(sources.sync(context, source.id, {}))).code).toBe("failed_precondition")
        })
      )
      const restored = yield* sources.hook(source.id, put)
      expect(restored.runIds).toHaveLength(1)
      yield* Effect.forEach(restored.runIds, (id) => settled(RunId.make(id)))

      yield* sources.update(context, source.id, { status: "disabled" })
      expect((yield* sources.hook(source.id, { bearer: hookSecret, body })).runIds).toEqual([])
      expect((yield* Effect.flip(sources.sync(context, source.id, {}))).code).toBe("failed_precondition")
    })
  )

  tests.live(
    "a revision plan brings another ref without moving what the Source and the Capsule track, until its apply",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* Capsules
        const revisions = yield* RevisionPlans
        const sources = yield* Sources
        const { capsule } = yield* active("revise", main("one"))
        const commitId = yield* commit("revise-next", main("two"))
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
        // A snapshot on another lane makes nothing stale.
        const before = yield* capsules.read(capsule.id)
        expect([before.status, before.adoptedSourceRevision?.ref]).toEqual(["active", "revise"])
        expect((yield* sources.read(capsule.sourceId)).defaultRef).toBe("revise")
        expect((yield* replanned(capsule.id)).resolvedCommit).toBe(capsule.adoptedSourceRevision?.resolvedCommit)

        const again = yield* revised((yield* revisions.create(context, capsule.id, request, freshKey())).value.id)
        expect((yield* applied(yield* settled(again.planRunId ?? run.id))).status).toBe("succeeded")
        const after = yield* capsules.read(capsule.id)
        expect(after.adoptedSourceRevision).toMatchObject({ ref: "revise-next", resolvedCommit: commitId })
        expect((yield* sources.read(capsule.sourceId)).defaultRef).toBe("revise")
        expect(yield* outputsOf(capsule.id)).toEqual(["two"])

        // Refusals, and what fails on the way: neither touches Source or Capsule.
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
        yield* capsules.update(context, capsule.id, { status: "disabled" })
        expect(yield* refused("revise-next")).toBe("failed_precondition")
      }),
    120_000
  )

  tests.live(
    "the schedule syncs the default lane and every adopted one, and a failing lane says so on the Source",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const sources = yield* Sources
        const { capsule } = yield* active("auto", main("one"))
        const { sourceId } = capsule
        yield* sources.update(context, sourceId, { autoSync: true, defaultRef: "auto-default" })
        const sql = yield* SqlClient.SqlClient
        const due = Effect.gen(function* () {
          yield* sql`UPDATE sources SET last_synced_at = '2020-01-01T00:00:00.000Z' WHERE id = ${sourceId}`
          yield* sql`UPDATE runs SET created_at = '2020-01-01T00:00:00.000Z' WHERE source_id = ${sourceId} AND type = 'source_sync'`
          yield* (yield* SourceSchedule).syncDue
          const rows = yield* sql<{ id: RunId }>`SELECT id FROM runs WHERE source_id = ${sourceId}
            AND type = 'source_sync' AND trigger_kind = 'schedule' AND created_at > '2021'`
          return yield* Effect.forEach(rows, ({ id }) => settled(id))
        })
        const first = yield* due
        expect(first.map(({ status }) => status).toSorted()).toEqual(["failed", "succeeded"])
        expect((yield* sources.read(sourceId)).status).toBe("error")
        yield* (yield* SourceSchedule).syncDue
        expect(yield* archived(due)).toEqual([])
        yield* commit("auto-default", main("default"))
        expect((yield* due).map(({ status }) => status)).toEqual(["succeeded", "succeeded"])
        expect((yield* sources.read(sourceId)).status).toBe("active")
        expect((yield* (yield* Capsules).read(capsule.id)).status).toBe("active")
        yield* commit("auto", main("two"))
        yield* due
        expect((yield* (yield* Capsules).read(capsule.id)).status).toBe("stale")
        yield* sources.update(context, sourceId, { autoSync: false })
        expect(yield* due).toEqual([])
      }),
    120_000
  )

  tests.live(
    "a Capsule that opted in follows its lane: planned once a commit, applied where its owner said so",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* Capsules
        const runs = yield* Runs
        const { capsule } = yield* active("follow", main("one"))
        expect(
          (yield* Effect.flip(capsules.update(context, capsule.id, { autoUpdate: { enabled: false, apply: true } })))
            .code
        ).toBe("invalid_request")
        yield* capsules.update(context, capsule.id, { autoUpdate: { enabled: true, apply: false } })

        yield* commit("follow", main("two"))
        // A sync for a reviewed plan starts nothing by itself.
        yield* settled((yield* (yield* Sources).sync(context, capsule.sourceId, { intent: "manual_plan" })).id)
        yield* delivered(capsule.id)
        expect(yield* followed(capsule.id)).toEqual([])
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        const [plan, ...more] = yield* followed(capsule.id)
        expect(more).toEqual([])
        expect([plan?.type, plan?.status, plan?.createdBy]).toEqual(["plan", "waiting_approval", undefined])
        // The same commit again is not planned again, and a plan that somebody cancelled does not come back.
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        expect(yield* followed(capsule.id)).toHaveLength(1)
        yield* runs.cancel(context, plan?.id ?? (yield* Effect.die("no plan")), undefined)
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        expect(yield* followed(capsule.id)).toHaveLength(1)
        expect(yield* outputsOf(capsule.id)).toEqual(["one"])

        yield* capsules.update(context, capsule.id, { autoUpdate: { enabled: true, apply: true } })
        // A Workspace that is archived between the plan and its apply keeps the plan waiting.
        const sql = yield* SqlClient.SqlClient
        yield* commit("follow", main("held"))
        yield* sql`CREATE TRIGGER archives AFTER UPDATE OF status ON runs WHEN NEW.status = 'waiting_approval'
          BEGIN UPDATE workspaces SET archived_at = '2026-01-01T00:00:00.000Z' WHERE id = NEW.workspace_id; END`
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        yield* followed(capsule.id)
        yield* delivered(capsule.id)
        const [held] = yield* followed(capsule.id)
        expect([held?.type, held?.status]).toEqual(["plan", "waiting_approval"])
        yield* sql`DROP TRIGGER archives`
        yield* sql`UPDATE workspaces SET archived_at = NULL`
        expect(yield* outputsOf(capsule.id)).toEqual(["one"])

        yield* commit("follow", main("three"))
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        yield* followed(capsule.id)
        yield* delivered(capsule.id)
        const [apply, made] = yield* followed(capsule.id)
        expect([apply?.type, apply?.status, apply?.planRunId]).toEqual(["apply", "succeeded", made?.id])
        expect(made?.approvedBy).toBeUndefined()
        expect(made?.approvedAt).toBeDefined()
        expect(yield* outputsOf(capsule.id)).toEqual(["three"])
        expect((yield* capsules.read(capsule.id)).status).toBe("active")

        // What would destroy something waits for a person all the same.
        yield* commit("follow", { "main.tf": `output "a" { value = "gone" }` })
        yield* synced(capsule.sourceId)
        yield* delivered(capsule.id)
        yield* followed(capsule.id)
        yield* delivered(capsule.id)
        const [newest] = yield* followed(capsule.id)
        expect([newest?.type, newest?.status, newest?.planSummary?.destroy]).toEqual(["plan", "waiting_approval", 1])
        expect(yield* outputsOf(capsule.id)).toEqual(["three"])
      }),
    120_000
  )

  tests.live(
    "an opted-in Capsule does not apply a configuration by itself that nobody approved",
    () =>
      Effect.gen(function* () {
        const { commit, context } = yield* TestPlane
        const capsules = yield* Capsules
        const runs = yield* Runs
        const configurable = (greeting: string) => ({
          "main.tf": `
            variable "who" { default = "everybody" }
            resource "terraform_data" "a" { input = "${greeting} \${var.who}" }
            output "a" { value = terraform_data.a.output }`
        })
        const { capsule } = yield* active("unapproved", configurable("one"))
        yield* capsules.update(context, capsule.id, { autoUpdate: { enabled: true, apply: true } })
        const { installConfigReAdoption } = yield* capsules.read(capsule.id)
        const changed = yield* capsules.configurationPlan(
          context,
          capsule.id,
          { variablePatch: { set: { who: "nobody" } }, expected: installConfigReAdoption },
          freshKey()
        )
        yield* settled(changed.value.planRunId)
        yield* runs.cancel(context, changed.value.planRunId, undefined)

        const follow = Effect.fnUntraced(function* (greeting: string) {
          yield* commit("unapproved", configurable(greeting))
          yield* synced(capsule.sourceId)
          yield* delivered(capsule.id)
          yield* followed(capsule.id)
          yield* delivered(capsule.id)
          return yield* followed(capsule.id)
        })
        const [plan] = yield* follow("two")
        expect([plan?.type, plan?.status]).toEqual(["plan", "waiting_approval"])
        expect(yield* outputsOf(capsule.id)).toEqual(["one everybody"])

        // From the apply that a person approved on, commits are followed again.
        if (plan !== undefined) expect((yield* applied(plan)).status).toBe("succeeded")
        expect(yield* outputsOf(capsule.id)).toEqual(["two nobody"])
        expect((yield* follow("three")).map(({ type }) => type)[0]).toBe("apply")
        expect(yield* outputsOf(capsule.id)).toEqual(["three nobody"])
      }),
    120_000
  )
})
