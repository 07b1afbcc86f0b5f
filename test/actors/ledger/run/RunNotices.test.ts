import { afterAll, expect } from "bun:test"
import { Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { transaction } from "../../../../actors/base/database/Transaction.ts"
import { NoticeDataJson, NoticeRow } from "../../../../actors/base/notice/NoticeRows.ts"
import { CapsuleLedger } from "../../../../actors/ledger/capsule/CapsuleLedger.ts"
import { RunJournal } from "../../../../actors/ledger/run/RunJournal.ts"
import { RunLedger } from "../../../../actors/ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../../../actors/ledger/run/RunLifecycle.ts"
import { SourceLanes } from "../../../../actors/ledger/source/SourceLanes.ts"
import { noticeKinds, noticeSchema } from "../../../../schema/records/Notice.ts"
import { NoticeKind } from "../../../../schema/records/NoticeEndpoint.ts"
import {
  CapsuleId,
  ChangeApprovalId,
  RunId,
  SourceId,
  SourceSnapshotId,
  WorkspaceId
} from "../../../../schema/records/Ids.ts"
import type { RunType } from "../../../../schema/records/Run.ts"
import { testAccounts } from "../../../support/Accounts.ts"
import { suite } from "../../../support/Effect.ts"
import { heldRun } from "../../../support/HeldRuns.ts"
import { add, emptyWorld, living, named, snapshot, workspaceId } from "../../upkeep/retention/support/RetainedWorld.ts"

const tests = suite(
  Layer.mergeAll(RunLedger.layer, CapsuleLedger.layer, SourceLanes.layer).pipe(
    Layer.provideMerge(RunLifecycle.layer),
    Layer.provideMerge(RunJournal.layer),
    Layer.provideMerge(testAccounts)
  )
)
afterAll(tests.dispose)

const capsuleId = CapsuleId.make(living)
const secret = "canary-of-a-value"

/** A Workspace whose only endpoint receives every kind of notice. */
const listening = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* emptyWorld
  yield* sql`DELETE FROM notice_deliveries`
  yield* sql`DELETE FROM notices`
  yield* sql`DELETE FROM notice_sequences`
  yield* sql`DELETE FROM notice_endpoints`
  yield* add("notice_endpoints", { kinds: JSON.stringify(NoticeKind.literals) })
}).pipe(Effect.orDie)

const written = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* NoticeRow.rows(sql)`SELECT * FROM notices ORDER BY created_at, id`
  for (const { data, kind } of rows) {
    const schema: Schema.Codec<unknown, unknown> = noticeKinds[kind].data
    Schema.decodeUnknownSync(schema, { onExcessProperty: "error" })(NoticeDataJson.read(data))
    expect(noticeSchema(kind)).toBeDefined()
    expect(data).not.toContain(secret)
  }
  return rows.map(({ data, kind, path, subject_kind }) => ({
    kind,
    path,
    subject_kind,
    data: NoticeDataJson.read(data)
  }))
}).pipe(Effect.orDie)

const started = Effect.fnUntraced(function* (name: string, type: RunType, more: { readonly planRunId?: RunId } = {}) {
  const id = RunId.make(named("run", name))
  yield* (yield* RunLedger).insert({
    id,
    workspaceId: WorkspaceId.make(workspaceId),
    type,
    capsuleId,
    createdBy: "usr_ada",
    trigger: "user",
    spec: {},
    ...more
  })
  return { id, hold: yield* heldRun(id) }
})

const changes = { add: 1, change: 0, destroy: 2, replace: 0, import: 0, forget: 0 }

tests.live(
  "a plan with carried-over approvals creates a notice that it is approved, but no notice that requests approval",
  () =>
    Effect.gen(function* () {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const lifecycle = yield* RunLifecycle
      const plan = yield* started("carried", "plan")
      const carriedFrom = {
        changeApprovalIds: [ChangeApprovalId.make(named("cha", "carried"))],
        runId: RunId.make(named("run", "change")),
        planDigest: "sha256:x",
        changeDigest: "hmac-sha256:x"
      }
      yield* transaction(sql)(
        lifecycle.waitForApproval(plan.hold, { planDigest: "sha256:y", hasChanges: true }, { carriedFrom })
      )
      const row = yield* (yield* RunLedger).find(plan.id)
      if (row === undefined) throw new Error("the plan is gone")
      yield* transaction(sql)(lifecycle.approve(row, { subject: "usr_bob", data: { planDigest: "sha256:y" } }))
      expect((yield* written).map(({ kind }) => kind)).toEqual(["run.approved"])
    })
)

tests.live(
  "svc writes a notice with counts and digests when a plan starts waiting, when it is approved and when it is applied",
  () =>
    Effect.gen(function* () {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const lifecycle = yield* RunLifecycle
      const plan = yield* started("plan", "plan")
      yield* add("approval_rules", { id: named("apr", "rule"), team_id: null, environment: null, approvers: 2 })
      yield* transaction(sql)(
        lifecycle.waitForApproval(plan.hold, { planDigest: "sha256:x", hasChanges: true }, { planSummary: changes })
      )
      const [row] = yield* (yield* RunLedger)
        .find(plan.id)
        .pipe(Effect.map((found) => (found === undefined ? [] : [found])))
      if (row === undefined) throw new Error("the plan is gone")
      yield* add("run_approvals", { run_id: plan.id, approver: "usr_bob", behind: null })
      yield* transaction(sql)(
        lifecycle.approve(row, { subject: "usr_bob", comment: secret, data: { planDigest: "sha256:x" } })
      )
      const apply = yield* started("apply", "apply", { planRunId: plan.id })
      yield* transaction(sql)(lifecycle.succeedApply(apply.hold, {}, {}))
      const notices = yield* written
      expect(notices.map(({ kind, path, subject_kind }) => [kind, path, subject_kind])).toEqual([
        ["run.waiting_approval", `runs/${plan.id}`, "capsule"],
        ["run.approved", `runs/${plan.id}`, "capsule"],
        ["run.applied", `runs/${apply.id}`, "capsule"]
      ])
      expect(notices.map(({ data }) => data)).toMatchObject([
        { changes, waitsFor: [{ approvers: 2, role: "admin" }], run: { startedBy: "usr_ada", type: "plan" } },
        { approvedBy: ["usr_bob"] },
        { changes, planRunId: plan.id }
      ])
      yield* sql`DELETE FROM approval_rules WHERE id = ${named("apr", "rule")}`
    })
)

tests.live(
  "a failure notice contains the error code but never the message, and a notice about a superseded plan contains the status",
  () =>
    Effect.gen(function* () {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const lifecycle = yield* RunLifecycle
      const failed = yield* started("failed", "apply")
      yield* transaction(sql)(lifecycle.fail(failed.hold, { code: "apply_failed", message: secret }))
      const backup = yield* started("backup", "backup")
      yield* transaction(sql)(lifecycle.fail(backup.hold, { code: "storage_full", message: secret }))
      const old = yield* started("old", "plan")
      yield* transaction(sql)(lifecycle.supersede(old.hold, secret))
      const check = yield* started("check", "drift_check")
      yield* transaction(sql)(lifecycle.cancel(check.hold))
      expect((yield* written).map(({ data, kind }) => [kind, data])).toMatchObject([
        ["run.failed", { code: "apply_failed" }],
        ["backup.failed", { code: "storage_full" }],
        ["run.cancelled", { status: "superseded" }]
      ])
    })
)

tests.live(
  "svc sends one notice each if the safety of a Capsule becomes unknown, its drift is resolved or a newer commit arrives",
  () =>
    Effect.gen(function* () {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const capsules = yield* CapsuleLedger
      yield* sql`UPDATE capsules SET drift_status = 'drifted', runtime_safety = 'safe', stale_reasons = '[]', status = 'active'
      WHERE id = ${living}`
      for (let times = 0; times < 2; times++) {
        yield* transaction(sql)(capsules.annotate(capsuleId, { runtime_safety: "unknown", drift_status: "none" }))
      }
      const id = SourceSnapshotId.make(yield* snapshot("newer"))
      for (let times = 0; times < 2; times++) {
        const row = yield* capsules.find(capsuleId)
        if (row === undefined) throw new Error("the Capsule is gone")
        yield* transaction(sql)(capsules.setStaleReasons(row, [{ kind: "commit", sourceSnapshotId: id }]))
      }
      expect((yield* written).map(({ kind }) => kind)).toEqual(["run.unknown", "drift.gone", "update.available"])
    })
)

tests.live(
  "svc sends one notice for each failure and each recovery of a lane in use, however often it checks the lane",
  () =>
    Effect.gen(function* () {
      yield* listening
      const sql = yield* SqlClient.SqlClient
      const lanes = yield* SourceLanes
      const [source] = yield* sql<{ id: string; default_ref: string; default_path: string }>`SELECT id, default_ref,
      default_path FROM sources LIMIT 1`
      if (source === undefined) throw new Error("there is no Source")
      const sourceId = SourceId.make(source.id)
      const lane = { ref: source.default_ref, path: source.default_path }
      const snapshotId = SourceSnapshotId.make(yield* snapshot("lane"))
      const failed = (at: string) =>
        transaction(sql)(lanes.failed(sourceId, lane, { code: "git_unreachable", message: secret }, at))
      const seen = (at: string) =>
        transaction(sql)(lanes.seen(sourceId, lane, { snapshotId, commit: "a".repeat(40), lookedAt: at }))
      yield* seen("2026-01-01T00:00:00.000Z")
      yield* failed("2026-01-01T00:01:00.000Z")
      yield* failed("2026-01-01T00:02:00.000Z")
      yield* seen("2026-01-01T00:03:00.000Z")
      yield* seen("2026-01-01T00:04:00.000Z")
      expect((yield* written).map(({ data, kind }) => [kind, data])).toMatchObject([
        ["source.broken", { ref: lane.ref, code: "git_unreachable" }],
        ["source.healed", { ref: lane.ref, commit: "a".repeat(40) }]
      ])
    })
)
