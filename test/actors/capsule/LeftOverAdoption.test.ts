import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Exit, Layer, Option, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../actors/audit/Audit.ts"
import { CapsuleLeftOvers } from "../../../actors/capsule/CapsuleLeftOvers.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { Dependencies } from "../../../actors/dependency/Dependencies.ts"
import { RunLedger } from "../../../actors/run/RunLedger.ts"
import { Runs } from "../../../actors/run/Runs.ts"
import { LeftOverStates } from "../../../actors/state/LeftOverStates.ts"
import { RunCheckpoints } from "../../../actors/state/RunCheckpoints.ts"
import { StateVersions } from "../../../actors/state/StateVersions.ts"
import type { CapsuleId, LeftOverStateId } from "../../../schema/records/Ids.ts"
import { suite } from "../../support/Effect.ts"
import { expectIndexed } from "../../support/IndexedState.ts"
import { active, freshKey, replanned, settled } from "../../support/Journey.ts"
import { killPoints, processEnd } from "../../support/KillPoints.ts"
import { TestPlane, testPlane } from "../../support/TestPlane.ts"
import { currentState, leftOver, stateFile } from "../support/LeftOvers.ts"
import { pureModule, pureModules, pureRunner } from "../support/PureRunner.ts"

setDefaultTimeout(60_000)

const kills = killPoints()
const tests = suite(testPlane({ runner: pureRunner(pureModules()) }).pipe(Layer.provide(kills.layer)))
afterAll(tests.dispose)

const guardOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { installConfigReAdoption, name } = yield* (yield* Capsules).read(capsuleId)
  return { confirm: name, expected: { authorityGuard: installConfigReAdoption.authorityGuard } }
})

const adopt = Effect.fnUntraced(function* (capsuleId: CapsuleId, id: LeftOverStateId, key = freshKey()) {
  const { context } = yield* TestPlane
  return yield* (yield* CapsuleLeftOvers).adopt(context, capsuleId, id, yield* guardOf(capsuleId), key)
})

const succeeds = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.result(effect), Result.isSuccess)

const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

const problemsOf = Effect.fnUntraced(function* (capsuleId: CapsuleId, id: LeftOverStateId) {
  const { adoptionProblems } = yield* (yield* CapsuleLeftOvers).read(capsuleId, id)
  return adoptionProblems.map(({ code }) => code)
})

/** A Capsule whose last apply left a state that continues the current one and was not adopted. */
const withLeftOver = Effect.fnUntraced(function* (name: string, outputs: Readonly<Record<string, string>> = {}) {
  const { capsule } = yield* active(name, pureModule)
  const { lineage, serial } = yield* currentState(capsule.id)
  const bytes = stateFile(lineage, serial + 1, outputs)
  return { bytes, capsuleId: capsule.id, record: yield* leftOver(capsule.id, { bytes }) }
})

/** Everything an adoption writes. */
const written = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const sql = yield* SqlClient.SqlClient
  return {
    capsules: yield* sql`SELECT * FROM capsules WHERE id = ${capsuleId}`,
    leftOvers: yield* sql`SELECT * FROM left_over_states WHERE capsule_id = ${capsuleId}`,
    states: yield* sql`SELECT id FROM state_versions WHERE capsule_id = ${capsuleId}`,
    outputs: yield* sql`SELECT id FROM outputs WHERE capsule_id = ${capsuleId}`,
    plans: yield* sql`SELECT id, status FROM runs WHERE capsule_id = ${capsuleId} ORDER BY id`,
    audit: yield* sql`SELECT id FROM audit_events WHERE action LIKE 'left_over_state.%' AND capsule_id = ${capsuleId}`,
    receipts: yield* sql`SELECT result_id FROM idempotency_receipts WHERE route LIKE 'leftOverStates.%'`
  }
})

describe("a state that its settlement did not adopt", () => {
  tests.live("is kept, sealed and listed with what is known about it, and is no longer a checkpoint", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const { capsule } = yield* active("kept", pureModule)
      const before = yield* currentState(capsule.id)
      const whole = yield* leftOver(capsule.id, { bytes: stateFile("another", 3), problem: "lineage_changed" })
      expect(whole).toMatchObject({
        status: "kept",
        reason: "lineage_changed",
        lineage: "another",
        serial: 3,
        resourceCount: 1,
        base: { stateVersionId: before.id, stateGeneration: 1, executionAuthorityEpoch: 1 }
      })
      expect(whole.adoptionProblems.map(({ code }) => code)).toEqual(["lineage_differs"])
      const torn = yield* leftOver(capsule.id, { bytes: new TextEncoder().encode('{"version":4,"canary-torn') })
      expect(torn).toMatchObject({ reason: "unreadable", sizeBytes: 25 })
      expect([torn.lineage, torn.serial, torn.resourceCount]).toEqual([undefined, undefined, undefined])
      expect(torn.adoptionProblems.map(({ code }) => code)).toEqual(["unreadable"])
      const { items } = yield* (yield* CapsuleLeftOvers).list(capsule.id, {}, { limit: 10 })
      expect(items.map(({ id }) => id)).toEqual([torn.id, whole.id])
      const [row] = yield* sql`SELECT state FROM left_over_states WHERE id = ${torn.id}`
      expect(row?.["state"]).toMatch(/^v1\.dk_/)
      expect(yield* sql`SELECT 1 AS one FROM run_checkpoints WHERE run_id = ${torn.runId}`).toEqual([])
      expect((yield* (yield* Capsules).usage(capsule.id)).stateBytes).toBe(
        before.size_bytes + whole.sizeBytes + torn.sizeBytes
      )
    })
  )

  tests.live("becomes the Capsule's state when an owner adopts it, atomically and once", () =>
    Effect.gen(function* () {
      const { context, workspaceId } = yield* TestPlane
      const capsules = yield* Capsules
      const states = yield* StateVersions
      const sql = yield* SqlClient.SqlClient
      const { capsule } = yield* active("adopted", pureModule)
      const { capsule: consumer } = yield* active("adopted-consumer", pureModule)
      yield* (yield* Dependencies).create(context, consumer.id, {
        producerCapsuleId: capsule.id,
        mode: "variable_injection",
        outputs: [{ from: "other", to: "a", required: true }]
      })
      const before = yield* currentState(capsule.id)
      const published = yield* capsules.outputs(capsule.id)
      const kept = published.find(({ name }) => name === "value")?.value
      if (typeof kept !== "string") return yield* Effect.die("no Output")
      const bytes = stateFile(before.lineage, before.serial + 2, { value: kept, other: "changed", secret: "leaked" })
      const record = yield* leftOver(capsule.id, { bytes })
      expect(record.adoptionProblems).toEqual([])
      const waiting = yield* replanned(capsule.id)
      const consumers = yield* replanned(consumer.id)

      const key = freshKey()
      const request = yield* guardOf(capsule.id)
      const leftOvers = yield* CapsuleLeftOvers
      const { replayed, value } = yield* leftOvers.adopt(context, capsule.id, record.id, request, key)
      expect(replayed).toBe(false)
      expect(value.capsule).toMatchObject({
        status: "error",
        runtimeSafety: "unknown",
        driftStatus: "unknown",
        currentStateVersionId: value.stateVersion.id,
        currentStateGeneration: 2,
        executionAuthorityEpoch: 1
      })
      expect(value.stateVersion).toMatchObject({
        generation: 2,
        serial: before.serial + 2,
        digest: record.digest,
        partial: true,
        adoptedFrom: record.id,
        createdByRunId: record.runId
      })
      expect(value.leftOverState).toMatchObject({
        status: "adopted",
        adoption: { by: context.actor.subject, stateVersionId: value.stateVersion.id }
      })
      yield* expectIndexed(capsule.id)
      const version = yield* currentState(capsule.id)
      expect(Redacted.value(yield* states.open(version))).toEqual(bytes)
      expect((yield* capsules.outputs(capsule.id)).map(({ name }) => name)).toEqual(["value"])
      expect((yield* states.outputs(version.id)).map(({ name, sensitive }) => [name, sensitive])).toEqual([
        ["other", 1],
        ["secret", 1],
        ["value", 0]
      ])
      const runs = yield* Runs
      expect((yield* runs.read(waiting.id)).status).toBe("superseded")
      expect((yield* runs.read(consumers.id)).status).toBe("superseded")
      expect((yield* capsules.read(consumer.id)).staleReasons).toEqual([
        { kind: "input", producerCapsuleId: capsule.id, output: "other" }
      ])
      const { items } = yield* (yield* Audit).list(
        workspaceId,
        context.actor.subject ?? "",
        { action: "left_over_state.adopt", capsuleId: capsule.id },
        { limit: 10 }
      )
      expect(items.map(({ data, target }) => [target.id, data["stateVersionId"]])).toEqual([
        [record.id, value.stateVersion.id]
      ])
      expect(yield* sql`SELECT state, sealed_secrets FROM left_over_states WHERE id = ${record.id}`).toEqual([
        { state: null, sealed_secrets: null }
      ])

      // The same request has no second effect, another one is refused, and the state can no longer be discarded.
      expect(yield* leftOvers.adopt(context, capsule.id, record.id, request, key)).toEqual({ replayed: true, value })
      expect(yield* codeOf(adopt(capsule.id, record.id))).toBe("failed_precondition")
      expect(yield* codeOf(leftOvers.discard(context, capsule.id, record.id))).toBe("failed_precondition")
      expect((yield* capsules.read(capsule.id)).currentStateGeneration).toBe(2)

      // The next plan starts from it.
      const next = yield* replanned(capsule.id)
      expect([next.status, next.baseStateGeneration]).toEqual(["waiting_approval", 2])
    })
  )

  tests.live("is adopted by a disabled Capsule, which remains disabled", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsuleId, record } = yield* withLeftOver("switched-off")
      yield* (yield* Capsules).update(context, capsuleId, { status: "disabled" })
      const { value } = yield* adopt(capsuleId, record.id)
      expect([value.capsule.status, value.capsule.runtimeSafety]).toEqual(["disabled", "unknown"])
    })
  )

  tests.live("is refused without the name, the guard, or when something blocks it", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const leftOvers = yield* CapsuleLeftOvers
      const { capsuleId, record } = yield* withLeftOver("refused")
      const other = yield* withLeftOver("refused-other")
      const request = yield* guardOf(capsuleId)
      const before = yield* written(capsuleId)
      const asked = (change: Partial<typeof request>) =>
        codeOf(leftOvers.adopt(context, capsuleId, record.id, { ...request, ...change }, freshKey()))
      expect(yield* asked({ confirm: "Refused" })).toBe("invalid_request")
      expect(yield* asked({ expected: { authorityGuard: "ag1.other" } })).toBe("guard_conflict")
      expect(yield* codeOf(adopt(capsuleId, other.record.id))).toBe("not_found")
      expect(yield* codeOf(leftOvers.read(capsuleId, other.record.id))).toBe("not_found")
      expect(yield* codeOf(leftOvers.discard(context, capsuleId, other.record.id))).toBe("not_found")
      const older = yield* leftOver(capsuleId, {
        bytes: stateFile((yield* currentState(capsuleId)).lineage, 0),
        problem: "serial_decreased"
      })
      expect(yield* codeOf(adopt(capsuleId, older.id))).toBe("failed_precondition")
      const { audit, outputs, receipts, states } = yield* written(capsuleId)
      expect({ audit, outputs, receipts, states }).toMatchObject({
        audit: before.audit,
        outputs: before.outputs,
        receipts: before.receipts,
        states: before.states
      })

      // The configuration has moved since: its epoch differs.
      yield* (yield* Capsules)
        .configurationPlan(
          context,
          capsuleId,
          { variablePatch: { set: { a: "moved" } }, expected: (yield* guardOf(capsuleId)).expected },
          freshKey()
        )
        .pipe(Effect.flatMap(({ value }) => settled(value.planRunId)))
      expect(yield* problemsOf(capsuleId, record.id)).toEqual(["capsule_moved"])
      expect(yield* codeOf(adopt(capsuleId, record.id))).toBe("failed_precondition")
    })
  )

  tests.live("is refused while a Run is active, and after a restore", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const { capsuleId, record } = yield* withLeftOver("in-the-way")
      // A queued one would be started here, and its events would keep it from being deleted below.
      yield* sql`INSERT INTO runs (id, workspace_id, type, status, owner, capsule_id, requires_approval, trigger_kind,
        attempt, spec, evidence, created_at, queued_at) VALUES ('run_inthewayinthewayintheway', ${workspaceId},
        'drift_check', 'running', 'inst_test#1', ${capsuleId}, 0, 'user', 0, '{}', '{}', '2100-01-01T00:00:00.000Z',
        '2100-01-01T00:00:00.000Z')`
      expect(yield* problemsOf(capsuleId, record.id)).toEqual(["run_open"])
      expect(yield* codeOf(adopt(capsuleId, record.id))).toBe("run_conflict")
      yield* sql`DELETE FROM runs WHERE id = 'run_inthewayinthewayintheway'`
      yield* sql`UPDATE installation SET restored_at = '2100-01-01T00:00:00.000Z'`
      expect(yield* problemsOf(capsuleId, record.id)).toEqual(["restored"])
      expect(yield* codeOf(adopt(capsuleId, record.id))).toBe("failed_precondition")
      yield* sql`UPDATE installation SET restored_at = NULL`
      expect((yield* adopt(capsuleId, record.id)).replayed).toBe(false)
    })
  )

  tests.live("is erased when an owner discards it; the record remains", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* CapsuleLeftOvers
      const { capsuleId, record } = yield* withLeftOver("discarded")
      const before = yield* (yield* Capsules).read(capsuleId)
      const discarded = yield* leftOvers.discard(context, capsuleId, record.id)
      expect(discarded).toMatchObject({ status: "discarded", discard: { by: context.actor.subject } })
      expect(yield* leftOvers.discard(context, capsuleId, record.id)).toEqual(discarded)
      expect(yield* sql`SELECT state, sealed_secrets FROM left_over_states WHERE id = ${record.id}`).toEqual([
        { state: null, sealed_secrets: null }
      ])
      expect(yield* codeOf(adopt(capsuleId, record.id))).toBe("failed_precondition")
      expect(yield* (yield* Capsules).read(capsuleId)).toEqual(before)
      expect(
        yield* sql`SELECT COUNT(*) AS n FROM audit_events WHERE action = 'left_over_state.discard' AND target_id = ${record.id}`
      ).toEqual([{ n: 1 }])
    })
  )
})

describe("when several people decide concurrently", () => {
  tests.live("one adopts, and all others are refused", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const leftOvers = yield* CapsuleLeftOvers
      const { capsuleId, record } = yield* withLeftOver("race-adopt")
      const request = yield* guardOf(capsuleId)
      const adopting = Effect.suspend(() => leftOvers.adopt(context, capsuleId, record.id, request, freshKey()))
      const answers = yield* Effect.all(
        [
          succeeds(adopting),
          succeeds(adopting),
          succeeds(adopting),
          succeeds(leftOvers.discard(context, capsuleId, record.id))
        ],
        { concurrency: "unbounded" }
      )
      expect(answers.filter((succeeded) => succeeded)).toHaveLength(1)
      expect((yield* (yield* Capsules).read(capsuleId)).currentStateGeneration).toBe(
        (yield* leftOvers.read(capsuleId, record.id)).status === "adopted" ? 2 : 1
      )
    })
  )

  tests.live("an adoption and an apply never both start from the same state", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const runs = yield* Runs
      for (const first of ["adopt", "apply"] as const) {
        const { capsuleId, record } = yield* withLeftOver(`against-apply-${first}`)
        const plan = yield* replanned(capsuleId)
        yield* runs.approve(context, plan.id, {})
        const adopting = succeeds(adopt(capsuleId, record.id))
        const applies = succeeds(runs.apply(context, plan.id, undefined))
        const asked = first === "adopt" ? ([adopting, applies] as const) : ([applies, adopting] as const)
        const answers = yield* Effect.all(asked, { concurrency: "unbounded" })
        expect(answers.filter((succeeded) => succeeded)).toHaveLength(1)
        yield* Effect.forEach((yield* runs.list(plan.workspaceId, { capsuleId }, { limit: 100 })).items, ({ id }) =>
          settled(id)
        )
        expect((yield* (yield* Capsules).read(capsuleId)).currentStateGeneration).toBe(2)
      }
    })
  )
})

describe("an adoption whose process ends", () => {
  tests.live(
    "just before its commit has written nothing, and after it everything; repeating it has no further effect",
    () =>
      Effect.gen(function* () {
        const { context } = yield* TestPlane
        const leftOvers = yield* CapsuleLeftOvers
        const { capsuleId, record } = yield* withLeftOver("killed", { value: "a" })
        const request = yield* guardOf(capsuleId)
        const key = freshKey()
        const asked = leftOvers.adopt(context, capsuleId, record.id, request, key)
        const before = yield* written(capsuleId)
        kills.at.set("left_over.adopting", processEnd)
        expect(Exit.isFailure(yield* Effect.exit(asked))).toBe(true)
        expect(yield* written(capsuleId)).toEqual(before)
        kills.at.set("left_over.adopted", processEnd)
        expect(Exit.isFailure(yield* Effect.exit(asked))).toBe(true)
        const after = yield* written(capsuleId)
        expect([after.states.length, after.audit.length, after.receipts.length]).toEqual([
          before.states.length + 1,
          before.audit.length + 1,
          before.receipts.length + 1
        ])
        expect((yield* asked).replayed).toBe(true)
        expect(yield* written(capsuleId)).toEqual(after)
      })
  )
})

describe("the checkpoint that earlier releases kept for an ended Run", () => {
  tests.live("is imported once, with the Capsule as that apply left it; a running Run keeps its own", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* LeftOverStates
      const { bytes, capsuleId, record } = yield* withLeftOver("taken-over")
      const { workspaceId } = yield* TestPlane
      const run = (yield* (yield* RunLedger).find(record.runId)) ?? (yield* Effect.die("no Run"))
      yield* sql`DELETE FROM left_over_states WHERE id = ${record.id}`
      yield* sql`UPDATE runs SET status = 'running', owner = 'inst_test#1', base_state_generation = 1,
        execution_authority_epoch = 1 WHERE id = ${run.id}`
      const hold = { runId: run.id, owner: "inst_test#1", fence: run.fence }
      yield* (yield* RunCheckpoints).save(hold, workspaceId, Redacted.make(bytes))
      const kept = yield* sql`SELECT * FROM run_checkpoints`
      yield* leftOvers.takeOver
      expect(yield* sql`SELECT * FROM run_checkpoints`).toEqual(kept)
      yield* sql`UPDATE runs SET status = 'failed', owner = NULL WHERE id = ${run.id}`
      yield* leftOvers.takeOver
      expect(yield* sql`SELECT * FROM run_checkpoints`).toEqual([])
      const taken = yield* (yield* CapsuleLeftOvers).read(capsuleId, record.id)
      expect(taken).toEqual({ ...record, reason: "unknown", createdAt: taken.createdAt })
      yield* leftOvers.takeOver
      const row = (yield* leftOvers.find(record.id)) ?? (yield* Effect.die("no left-over state"))
      expect(Option.map(yield* leftOvers.open(row), Redacted.value)).toEqual(Option.some(bytes))
      expect((yield* adopt(capsuleId, record.id)).value.stateVersion.adoptedFrom).toBe(record.id)
    })
  )

  tests.live("remains in place when it cannot be decrypted, and does not block the others", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* LeftOverStates
      const broken = yield* withLeftOver("broken-checkpoint")
      yield* sql`INSERT INTO run_checkpoints (run_id, state, saved_at)
        SELECT run_id, state, created_at FROM left_over_states WHERE id = ${broken.record.id}`
      yield* sql`DELETE FROM left_over_states WHERE id = ${broken.record.id}`
      yield* leftOvers.takeOver
      expect(yield* sql`SELECT run_id FROM run_checkpoints`).toEqual([{ run_id: broken.record.runId }])
      expect(yield* leftOvers.find(broken.record.id)).toBeUndefined()
      yield* sql`DELETE FROM run_checkpoints`
    })
  )
})
