import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Layer, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleBackups } from "../../../../actors/commands/capsule/CapsuleBackups.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import type { BackupId, CapsuleId } from "../../../../schema/records/Ids.ts"
import { suite } from "../../../support/Effect.ts"
import { active, applied, applying, freshKey, replanned, settled } from "../../../support/Journey.ts"
import { killPoints, processEnd } from "../../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState } from "../../support/OrphanedStateList.ts"
import { newCommit, pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { insertConflictingRun, removeConflictingRun } from "../../support/ConflictingRun.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"
import { RunCommands } from "../../../../schema/commands/RunCommands.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

const backedUp = Effect.fnUntraced(function* (capsuleId: CapsuleId | undefined) {
  const { context, workspaceId } = yield* TestPlane
  return yield* (yield* Capsules).backup(context, workspaceId, capsuleId)
})

const asked = Effect.fnUntraced(function* (id: BackupId, capsuleId?: CapsuleId) {
  const { context, workspaceId } = yield* TestPlane
  const request = capsuleId === undefined ? {} : { capsuleId }
  return (yield* (yield* CapsuleBackups).restorePlan(context, workspaceId, id, request, undefined)).value
})

const reviewed = (id: BackupId, capsuleId?: CapsuleId) => Effect.flatMap(asked(id, capsuleId), (run) => settled(run.id))

const configured = Effect.fnUntraced(function* (capsuleId: CapsuleId, a: string) {
  const { context } = yield* TestPlane
  const capsules = yield* Capsules
  const capsuleCommands = yield* CapsuleCommands
  const { authorityGuard } = (yield* capsules.read(capsuleId)).installConfigReAdoption
  const { value } = yield* capsuleCommands.ConfigurationPlan(capsuleId, {
    context,
    request: { variablePatch: { set: { a } }, expected: { authorityGuard } },
    idempotency: freshKey()
  })
  return yield* settled(value.planRunId)
})

const outputOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  return (yield* (yield* Capsules).outputs(capsuleId)).find(({ name }) => name === "value")?.value
})

/**
 * Creates a Capsule with a backup of its first state, and then applies a second state from a newer commit with another
 * input.
 */
const moved = Effect.fnUntraced(function* (name: string) {
  const { capsule } = yield* active(name, pureModule)
  const first = { state: yield* currentState(capsule.id), output: yield* outputOf(capsule.id), capsule }
  const backup = yield* backedUp(capsule.id)
  yield* applied(yield* configured(capsule.id, "second"))
  yield* newCommit(capsule.id)
  yield* applied(yield* replanned(capsule.id))
  return { backup, capsuleId: capsule.id, first, second: yield* currentState(capsule.id) }
})

/** Returns all records that a restore may write, except its Runs. */
const written = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  return {
    capsules: yield* sql`SELECT * FROM capsules WHERE id = ${capsuleId}`,
    states: yield* sql`SELECT id FROM state_versions WHERE capsule_id = ${capsuleId}`,
    outputs: yield* sql`SELECT id FROM outputs WHERE capsule_id = ${capsuleId}`,
    configs: yield* sql`SELECT id FROM install_configs WHERE capsule_id = ${capsuleId}`,
    audit: yield* sql`SELECT id FROM audit_events WHERE action = 'capsule.restored' AND capsule_id = ${capsuleId}`
  }
})

describe("Capsule restores", () => {
  tests.live("the review of a restore shows names and positions, and nothing changes before its approval", () =>
    Effect.gen(function* () {
      const { backup, capsuleId, first, second } = yield* moved("reviewed")
      const before = yield* written(capsuleId)
      const review = yield* reviewed(backup.id)
      expect(review).toMatchObject({ type: "restore", status: "waiting_approval", requiresApproval: true })
      expect(review.restore).toMatchObject({
        backupId: backup.id,
        current: { stateVersionId: second.id, generation: 3, serial: second.serial },
        restored: { stateVersionId: first.state.id, generation: 1, serial: first.state.serial },
        next: { generation: 4, serial: second.serial + 1, executionAuthorityEpoch: 3 },
        configuration: [{ kind: "input", name: "a", change: "removed" }]
      })
      expect(review.restore?.pointers.map(({ name }) => name)).toEqual([
        "installConfigId",
        "sourceSnapshotId",
        "resolvedCommit"
      ])
      expect(JSON.stringify(review.restore)).not.toContain("second")
      expect(yield* written(capsuleId)).toEqual(before)
    })
  )

  tests.live(
    "a restore creates a new state, generation, epoch and configuration, and the Capsule must be planned afterwards",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const capsules = yield* Capsules
        const capsuleCommands = yield* CapsuleCommands
        const runs = yield* Runs
        const states = yield* StateVersions
        const { backup, capsuleId, first, second } = yield* moved("restored")
        yield* capsuleCommands.Update(capsuleId, { context, autoUpdate: { enabled: true, apply: true } })
        const review = yield* reviewed(backup.id)
        const before = yield* capsules.read(capsuleId)
        const restore = yield* applied(review)
        expect(restore).toMatchObject({ type: "restore", status: "succeeded", planRunId: review.id })

        const version = yield* currentState(capsuleId)
        expect(version).toMatchObject({
          generation: 4,
          serial: second.serial + 1,
          lineage: first.state.lineage,
          created_by_run_id: restore.id,
          source_snapshot_id: first.state.source_snapshot_id
        })
        const text = (row: typeof version) =>
          Effect.map(states.open(row), (bytes) => new TextDecoder().decode(Redacted.value(bytes)))
        expect(yield* text(version)).toBe(
          (yield* text(first.state)).replace(`"serial":${first.state.serial}`, `"serial":${version.serial}`)
        )
        expect(yield* outputOf(capsuleId)).toBe(first.output)
        const after = yield* capsules.read(capsuleId)
        expect(after).toMatchObject({
          status: "stale",
          runtimeSafety: "unknown",
          driftStatus: "unknown",
          currentStateVersionId: version.id,
          currentStateGeneration: 4,
          executionAuthorityEpoch: before.executionAuthorityEpoch + 1,
          adoptedSourceRevision: { resolvedCommit: first.capsule.adoptedSourceRevision?.resolvedCommit },
          autoUpdate: { pinnedBy: { runId: review.id } }
        })
        expect(after.staleReasons.map(({ kind }) => kind)).toEqual(["commit", "restore"])
        expect([before.installConfigId, first.capsule.installConfigId]).not.toContain(after.installConfigId)
        expect(yield* codeOf(runs.apply(context, review.id, undefined))).toBe("run_conflict")

        const plan = yield* replanned(capsuleId)
        expect(plan).toMatchObject({ status: "waiting_approval", baseStateGeneration: 4 })
        expect((yield* applied(plan)).status).toBe("succeeded")
        const settledCapsule = yield* capsules.read(capsuleId)
        expect(settledCapsule).toMatchObject({ status: "active", runtimeSafety: "safe", staleReasons: [] })
      })
  )

  tests.live("a restore voids every plan made under the earlier authority, and reuses an unchanged configuration", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const { capsule } = yield* active("unchanged", pureModule)
      const backup = yield* backedUp(undefined)
      const review = yield* reviewed(backup.id, capsule.id)
      const sql = yield* SqlClient.SqlClient
      // Makes the review approvable again, as if the plan had been computed during the review.
      const plan = yield* replanned(capsule.id)
      yield* sql`UPDATE runs SET status = 'waiting_approval' WHERE id = ${review.id}`
      yield* runCommands.Approve(plan.id, { context })
      expect((yield* applied(yield* runs.read(review.id))).status).toBe("succeeded")
      expect((yield* runs.read(plan.id)).status).toBe("superseded")
      expect(yield* codeOf(runs.apply(context, plan.id, undefined))).toBe("failed_precondition")
      expect(yield* (yield* Capsules).read(capsule.id)).toMatchObject({
        installConfigId: capsule.installConfigId,
        executionAuthorityEpoch: 2,
        currentStateGeneration: 2
      })
    })
  )

  tests.live("svc rejects a restore if the backup or the Capsule is unsuitable", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const { capsule } = yield* active("fitting", pureModule)
      const { capsule: other } = yield* active("fitting-other", pureModule)
      const own = yield* backedUp(capsule.id)
      const whole = yield* backedUp(undefined)
      const { capsule: later } = yield* active("fitting-later", pureModule)
      expect(yield* codeOf(asked(own.id, other.id))).toBe("invalid_request")
      expect(yield* codeOf(asked(whole.id))).toBe("invalid_request")
      expect((yield* reviewed(whole.id, later.id)).error?.message).toContain("does not hold this Capsule")
      yield* (yield* CapsuleCommands).Update(capsule.id, { context, status: "disabled" })
      expect(yield* codeOf(asked(own.id))).toBe("failed_precondition")
      expect((yield* (yield* CapsuleBackups).archive(context, workspaceId, own.id)).capsules).toMatchObject([
        { capsuleId: capsule.id, generation: 1 }
      ])
    })
  )
})

describe("Concurrent changes", () => {
  tests.live("svc does not restore a Capsule while a Run is in progress, or after the Capsule has changed", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const { backup, capsuleId } = yield* moved("moving")
      yield* insertConflictingRun(capsuleId, "plan")
      expect(yield* codeOf(asked(backup.id))).toBe("run_conflict")
      yield* removeConflictingRun
      const review = yield* reviewed(backup.id)
      yield* runCommands.Approve(review.id, { context })
      yield* insertConflictingRun(capsuleId, "plan")
      expect(yield* codeOf(runs.apply(context, review.id, undefined))).toBe("run_conflict")
      yield* removeConflictingRun
      const sql = yield* SqlClient.SqlClient
      yield* sql`UPDATE capsules SET current_state_generation = current_state_generation + 1 WHERE id = ${capsuleId}`
      expect(yield* codeOf(runs.apply(context, review.id, undefined))).toBe("guard_conflict")
    })
  )

  tests.live("a restore checks the Capsule again in the transaction that commits it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { backup, capsuleId } = yield* moved("moved-late")
      const review = yield* reviewed(backup.id)
      kills.at.set(
        "restore.claimed",
        Effect.orDie(
          Effect.asVoid(
            sql`UPDATE capsules SET execution_authority_epoch = execution_authority_epoch + 1 WHERE id = ${capsuleId}`
          )
        )
      )
      const restore = yield* settled((yield* applying(review)).id)
      expect(restore).toMatchObject({ status: "failed", error: { code: "guard_conflict" } })
      expect((yield* written(capsuleId)).audit).toEqual([])
      expect((yield* currentState(capsuleId)).generation).toBe(3)
    })
  )

  tests.live("a restored state gets a higher serial than every state that was not adopted", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { backup, second } = yield* moved("serials")
      const review = yield* reviewed(backup.id)
      expect(review.restore?.next.serial).toBe(second.serial + 1)
      yield* sql`UPDATE state_versions SET serial = 40 WHERE id = ${review.restore?.restored.stateVersionId ?? ""}`
      // With this serial, the restore would no longer make the changes that were reviewed.
      const restore = yield* applied(review)
      expect(restore).toMatchObject({ status: "failed", error: { code: "guard_conflict" } })
      expect((yield* reviewed(backup.id)).restore?.next.serial).toBe(41)
    })
  )
})

describe("Invalid restores", () => {
  tests.live("a restore cannot be approved with another digest, applied twice, or applied after another restore", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      const runCommands = yield* RunCommands
      const sql = yield* SqlClient.SqlClient
      const one = yield* moved("forged")
      const other = yield* moved("forged-other")
      const review = yield* reviewed(one.backup.id)
      const theirs = yield* reviewed(other.backup.id)
      const again = yield* reviewed(one.backup.id)
      const before = yield* written(one.capsuleId)
      const digest = review.planDigest ?? ""
      expect(digest).toMatch(/^sha256:/)
      expect(theirs.planDigest).not.toBe(digest)
      const forged = [
        theirs.planDigest ?? "",
        `sha256:${"0".repeat(64)}`,
        digest.toUpperCase(),
        `${digest} `,
        digest.slice(0, -1),
        ""
      ]
      for (const planDigest of forged) {
        expect([planDigest, yield* codeOf(runCommands.Approve(review.id, { context, planDigest }))]).toEqual([
          planDigest,
          "guard_conflict"
        ])
        expect(yield* codeOf(runs.apply(context, review.id, undefined))).toBe("failed_precondition")
      }
      expect(yield* written(one.capsuleId)).toEqual(before)

      const restored = yield* applied(review)
      expect(restored.status).toBe("succeeded")
      const after = yield* written(one.capsuleId)
      expect(yield* codeOf(runs.apply(context, review.id, undefined))).toBe("run_conflict")
      // The Capsule has changed since the second review, so that review is outdated.
      const late = yield* Effect.result(
        runCommands.Approve(again.id, {
          context,
          ...(again.planDigest === undefined ? {} : { planDigest: again.planDigest })
        })
      )
      if (late._tag === "Success") expect(yield* codeOf(runs.apply(context, again.id, undefined))).not.toBe("")
      expect(yield* written(one.capsuleId)).toEqual(after)
      const restores = yield* sql`SELECT id FROM runs WHERE capsule_id = ${one.capsuleId} AND type = 'restore'
        AND plan_run_id IS NOT NULL`
      expect(restores).toHaveLength(1)
    })
  )
})

describe("Interrupted restores", () => {
  tests.live("a restore interrupted just before its commit writes nothing, and a repeated restore runs once", () =>
    Effect.gen(function* () {
      const { backup, capsuleId } = yield* moved("cut-off")
      const review = yield* reviewed(backup.id)
      const before = yield* written(capsuleId)
      kills.at.set("restore.committing", processEnd)
      const restore = yield* settled((yield* applying(review)).id)
      expect(restore.status).toBe("succeeded")
      const after = yield* written(capsuleId)
      expect([after.states.length, after.configs.length, after.audit.length]).toEqual([
        before.states.length + 1,
        before.configs.length + 1,
        1
      ])
    })
  )
})
