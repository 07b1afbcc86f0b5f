import { describe, expect, setDefaultTimeout } from "bun:test"
import { Effect } from "effect"
import { live } from "../cli/support/CommandLine.ts"
import { freshKey, servedPlane } from "./support/ServedPlane.ts"

setDefaultTimeout(120_000)

const files = { "main.tf": `output "greeting" { value = "hello" }` }

type Plane = Effect.Success<ReturnType<typeof servedPlane>>
type Columns = Readonly<Record<string, string | number | null>>

/** Reads the guard values just before each re-adoption, so that no refusal below is caused by a stale guard. */
const reAdoption = Effect.fnUntraced(function* ({ capsule }: Plane, capsuleId: string) {
  const { adoptedSourceRevision, installConfigId, installConfigReAdoption } = yield* capsule(capsuleId)
  return {
    baseInstallConfigId: installConfigId,
    sourceSnapshotId: adoptedSourceRevision?.sourceSnapshotId,
    reason: "reviewed",
    expected: { authorityGuard: installConfigReAdoption.authorityGuard }
  }
})

const reAdopt = Effect.fnUntraced(function* (plane: Plane, capsuleId: string, headers = freshKey()) {
  const body = yield* reAdoption(plane, capsuleId)
  return yield* plane.call("POST", `/api/v1/capsules/${capsuleId}/install-config-re-adoptions`, { headers, body })
})

/** Changes the columns of a row while the effect runs. */
const altered = <A, E, R>(
  { sql }: Plane,
  { columns, id, table }: { readonly table: string; readonly id: string; readonly columns: Columns },
  effect: Effect.Effect<A, E, R>
) =>
  Effect.acquireUseRelease(
    Effect.gen(function* () {
      const [row = {}] = yield* sql<Columns>`SELECT * FROM ${sql(table)} WHERE id = ${id}`
      yield* sql`UPDATE ${sql(table)} SET ${sql.update(columns)} WHERE id = ${id}`.pipe(sql.withTransaction)
      return Object.fromEntries(Object.keys(columns).map((name) => [name, row[name] ?? null]))
    }),
    () => effect,
    (before) =>
      Effect.orDie(sql`UPDATE ${sql(table)} SET ${sql.update(before)} WHERE id = ${id}`.pipe(sql.withTransaction))
  )

const authority = ({ sql }: Plane, capsuleId: string) =>
  sql`SELECT install_config_id, execution_authority_epoch, status, runtime_safety, current_state_version_id
    FROM capsules WHERE id = ${capsuleId}`

describe.skipIf(Bun.which("terraform") === null)("Re-adoption over HTTP", () => {
  live("a re-adoption is refused with 409 if the stored configuration or the receipt differs from the record", () =>
    Effect.gen(function* () {
      const plane = yield* servedPlane({ files })
      const { applied, call, capsule, installed, sql } = plane
      const { capsuleId, planRunId } = yield* installed("app")
      yield* applied(planRunId)
      const { installConfigId: id } = yield* capsule(capsuleId)
      const [stored = { config: "" }] = yield* sql<{ readonly config: string }>`SELECT config FROM install_configs
        WHERE id = ${id}`
      const drifts: ReadonlyArray<readonly [string, Columns]> = [
        ["another digest", { digest: `sha256:${"0".repeat(64)}` }],
        [
          "another document",
          { config: stored.config.replace('"outputs":[', '"outputs": [').replace("greeting", "gone") }
        ],
        ["no JSON", { config: "{" }],
        ["another module", { module_path: "other" }],
        ["another contract", { contract_digest: "other" }]
      ]
      const before = yield* authority(plane, capsuleId)
      for (const [name, columns] of drifts) {
        const refused = yield* altered(plane, { table: "install_configs", id, columns }, reAdopt(plane, capsuleId))
        expect([name, refused.status, refused.body.error?.code]).toEqual([name, 409, "failed_precondition"])
        expect(yield* authority(plane, capsuleId)).toEqual(before)
      }

      const headers = freshKey()
      const request = { headers, body: yield* reAdoption(plane, capsuleId) }
      const at = `/api/v1/capsules/${capsuleId}/install-config-re-adoptions`
      const first = yield* call("POST", at, request)
      expect([first.status, first.body.installConfigReAdoption.replayed]).toEqual([200, false])
      const replay = yield* call("POST", at, request)
      expect([replay.status, replay.body.installConfigReAdoption]).toEqual([
        200,
        { ...first.body.installConfigReAdoption, replayed: true }
      ])
      const other = yield* call("POST", at, { headers, body: { ...request.body, reason: "another" } })
      expect([other.status, other.body.error.code]).toEqual([409, "idempotency_conflict"])
      const { targetInstallConfigId } = first.body.installConfigReAdoption
      const moved = yield* altered(
        plane,
        { table: "install_configs", id: targetInstallConfigId, columns: { digest: `sha256:${"1".repeat(64)}` } },
        call("POST", at, request)
      )
      expect([moved.status, moved.body.error.code]).toEqual([409, "failed_precondition"])
      yield* sql`UPDATE idempotency_receipts SET request_digest = 'other' WHERE result_id = ${targetInstallConfigId}`.pipe(
        sql.withTransaction
      )
      const receipt = yield* call("POST", at, request)
      expect([receipt.status, receipt.body.error.code]).toEqual([409, "idempotency_conflict"])
      expect((yield* capsule(capsuleId)).executionAuthorityEpoch).toBe(2)
    })
  )

  live("a Capsule in error can be re-adopted only if just a check after the last apply failed", () =>
    Effect.gen(function* () {
      const plane = yield* servedPlane({ files })
      const { applied, capsule, installed, sql } = plane
      const { capsuleId, planRunId } = yield* installed("app")
      const apply = yield* applied(planRunId)
      const { currentStateVersionId: versionId = "" } = yield* capsule(capsuleId)
      // Changes the records to match a settlement whose operator check failed.
      const [{ evidence } = { evidence: "{}" }] = yield* sql<{ readonly evidence: string }>`SELECT evidence FROM runs
        WHERE id = ${apply.id}`
      const failedCheck = { postApply: [{ name: "health", status: "failed", attempts: 1 }] }
      const recorded = { ...JSON.parse(evidence), ...failedCheck }
      yield* sql`UPDATE runs SET ${sql.update({ status: "failed", error_code: "lifecycle_failed", error_message: "The check failed.", evidence: JSON.stringify(recorded) })}
        WHERE id = ${apply.id}`.pipe(sql.withTransaction)
      yield* sql`UPDATE capsules SET status = 'error', runtime_safety = 'unknown' WHERE id = ${capsuleId}`.pipe(
        sql.withTransaction
      )

      const refusals: ReadonlyArray<readonly [string, string, string, Columns]> = [
        ["provider success is uncertain", "runs", apply.id, { provider_apply_succeeded: null }],
        ["the provider failed", "runs", apply.id, { provider_apply_succeeded: 0 }],
        ["the state is partial", "state_versions", versionId, { partial: 1 }],
        ["the state is of another generation", "state_versions", versionId, { generation: 7 }],
        ["the last decisive Run destroyed", "runs", apply.id, { type: "destroy_apply" }],
        ["the last decisive Run restored", "runs", apply.id, { type: "restore" }],
        ["the apply was cancelled", "runs", apply.id, { status: "cancelled" }],
        ["the apply failed by itself", "runs", apply.id, { error_code: "tool_failed" }],
        ["the plan was used by another apply", "runs", planRunId, { used_by_run_id: planRunId }],
        ["the plan is another one", "runs", planRunId, { plan_digest: `sha256:${"0".repeat(64)}` }],
        ["the authority has moved", "capsules", capsuleId, { execution_authority_epoch: 5 }],
        [
          "more may have been created",
          "runs",
          apply.id,
          { evidence: JSON.stringify({ ...recorded, possiblyCreated: ["a.b"] }) }
        ]
      ]
      const before = yield* authority(plane, capsuleId)
      for (const [name, table, id, columns] of refusals) {
        const refused = yield* altered(plane, { table, id, columns }, reAdopt(plane, capsuleId))
        expect([name, refused.status, refused.body.error?.code]).toEqual([name, 409, "failed_precondition"])
        expect(yield* authority(plane, capsuleId)).toEqual(before)
      }
      // An apply newer than the recorded apply also prevents the re-adoption.
      const [row = {}] = yield* sql<Columns>`SELECT * FROM runs WHERE id = ${apply.id}`
      const newer = `run_${"q".repeat(24)}`
      yield* sql`INSERT INTO runs ${sql.insert({ ...row, id: newer, finished_at: "2999-01-01T00:00:00.000Z" })}`.pipe(
        sql.withTransaction
      )
      expect((yield* reAdopt(plane, capsuleId)).status).toBe(409)
      yield* sql`DELETE FROM runs WHERE id = ${newer}`.pipe(sql.withTransaction)

      const accepted = yield* reAdopt(plane, capsuleId)
      expect(accepted.status).toBe(200)
      expect(accepted.body.capsule).toMatchObject({
        status: "error",
        runtimeSafety: "unknown",
        currentStateVersionId: versionId,
        executionAuthorityEpoch: 2
      })
    })
  )

  live("a re-adoption voids older plans, and a plan without an epoch is applied only at epoch 1", () =>
    Effect.gen(function* () {
      const plane = yield* servedPlane({ files })
      const { applied, call, capsule, client, ended, installed, sql } = plane
      const withoutEpoch = (runId: string) =>
        sql`UPDATE runs SET execution_authority_epoch = NULL WHERE id = ${runId}`.pipe(sql.withTransaction)
      const { capsuleId, planRunId } = yield* installed("app")
      yield* ended(planRunId)
      yield* withoutEpoch(planRunId)
      expect((yield* applied(planRunId)).status).toBe("succeeded")

      const planned = Effect.map(call("POST", `/api/v1/capsules/${capsuleId}/plan`), ({ body }) => body.run.id)
      const older = yield* planned
      yield* ended(older)
      yield* withoutEpoch(older)
      expect((yield* reAdopt(plane, capsuleId)).status).toBe(200)
      expect((yield* client.runs.read({ params: { runId: older } })).run.status).toBe("superseded")

      const later = yield* planned
      expect((yield* ended(later)).status).toBe("waiting_approval")
      yield* withoutEpoch(later)
      expect((yield* capsule(capsuleId)).executionAuthorityEpoch).toBe(2)
      const approved = yield* call("POST", `/api/v1/runs/${later}/approve`, { body: {} })
      const refused =
        approved.status === 200 ? yield* call("POST", `/api/v1/runs/${later}/apply`, { body: {} }) : approved
      expect([refused.status, refused.body.error.code]).toEqual([409, expect.stringMatching(/conflict|precondition/)])
    })
  )
})
