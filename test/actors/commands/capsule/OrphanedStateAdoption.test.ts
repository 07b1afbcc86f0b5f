import { afterAll, describe, expect, setDefaultTimeout } from "bun:test"
import { Effect, Redacted, Result } from "effect"
import { SqlClient } from "effect/sql"
import { Audit } from "../../../../actors/base/audit/Audit.ts"
import { CapsuleOrphanedStates } from "../../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { Capsules } from "../../../../actors/commands/capsule/Capsules.ts"
import { Dependencies } from "../../../../actors/ledger/dependency/Dependencies.ts"
import { Runs } from "../../../../actors/ledger/run/Runs.ts"
import { StateVersions } from "../../../../actors/ledger/state/StateVersions.ts"
import { longestReadHere } from "../../../../runner/document/Documents.ts"
import { beforeTransaction } from "../../../support/BeforeTransaction.ts"
import { suite } from "../../../support/Effect.ts"
import { expectIndexed } from "../../../support/IndexedState.ts"
import { active, freshKey, replanned, settled } from "../../../support/Journey.ts"
import { TestPlane, testPlane } from "../../../support/TestPlane.ts"
import { currentState, leftOver, stateFile } from "../../support/OrphanedStateList.ts"
import { pureModule, pureModules, pureRunner } from "../../support/PureRunner.ts"
import { guardOf, adopt, codeOf, problemsOf, withOrphanedState, written } from "../../support/OrphanedStateDecisions.ts"
import { CapsuleCommands } from "../../../../schema/commands/CapsuleCommands.ts"

setDefaultTimeout(60_000)

const before = beforeTransaction()
const tests = suite(testPlane({ runner: pureRunner(pureModules()), writer: before.layer }))
afterAll(tests.dispose)

describe("Left-over states", () => {
  tests.live("svc encrypts a left-over state, lists its metadata, and no longer treats it as a checkpoint", () =>
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
      const { items } = yield* (yield* CapsuleOrphanedStates).list(capsule.id, {}, { limit: 10 })
      expect(items.map(({ id }) => id)).toEqual([torn.id, whole.id])
      const [row] = yield* sql`SELECT state FROM left_over_states WHERE id = ${torn.id}`
      expect(row?.["state"]).toMatch(/^v1\.dk_/)
      expect(yield* sql`SELECT 1 AS one FROM run_checkpoints WHERE run_id = ${torn.runId}`).toEqual([])
      expect((yield* (yield* Capsules).usage(capsule.id)).stateBytes).toBe(
        before.size_bytes + whole.sizeBytes + torn.sizeBytes
      )
    })
  )

  tests.live("a left-over state becomes the Capsule's state when an owner adopts it, atomically and only once", () =>
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
      const leftOvers = yield* CapsuleCommands
      const { replayed, value } = yield* leftOvers.AdoptOrphanedState(capsule.id, {
        context,
        leftOverStateId: record.id,
        request,
        idempotency: key
      })
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

      // Repeating the request has no further effect. A different request, or discarding the state, is rejected.
      expect(
        yield* leftOvers.AdoptOrphanedState(capsule.id, {
          context,
          leftOverStateId: record.id,
          request,
          idempotency: key
        })
      ).toEqual({ replayed: true, value })
      expect(yield* codeOf(adopt(capsule.id, record.id))).toBe("failed_precondition")
      expect(yield* codeOf(leftOvers.DiscardOrphanedState(capsule.id, { context, leftOverStateId: record.id }))).toBe(
        "failed_precondition"
      )
      expect((yield* capsules.read(capsule.id)).currentStateGeneration).toBe(2)

      // The next plan starts from the adopted state.
      const next = yield* replanned(capsule.id)
      expect([next.status, next.baseStateGeneration]).toEqual(["waiting_approval", 2])
    })
  )

  tests.live("an owner can adopt a left-over state that contains a value too long to parse on the request thread", () =>
    Effect.gen(function* () {
      const { capsule } = yield* active("adopted-long", pureModule)
      const { lineage, serial } = yield* currentState(capsule.id)
      const long = "x".repeat(longestReadHere + 1)
      const record = yield* leftOver(capsule.id, { bytes: stateFile(lineage, serial + 1, { long }) })
      const { value } = yield* adopt(capsule.id, record.id)
      expect(value.stateVersion.serial).toBe(serial + 1)
      yield* expectIndexed(capsule.id)
    })
  )

  tests.live("svc rejects an adoption if the left-over state is replaced before the adoption is committed", () =>
    Effect.gen(function* () {
      const { capsuleId, record } = yield* withOrphanedState("replaced-meanwhile")
      const sql = yield* SqlClient.SqlClient
      const replaced = Effect.orDie(sql`UPDATE left_over_states SET digest = 'sha256:other' WHERE id = ${record.id}`)
      const answer = yield* before.interrupted(adopt(capsuleId, record.id), replaced)
      expect(Result.isFailure(answer) && answer.failure.code).toBe("run_conflict")
      expect((yield* (yield* Capsules).read(capsuleId)).currentStateGeneration).toBe(1)
    })
  )

  tests.live("a disabled Capsule can adopt a left-over state and remains disabled", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const { capsuleId, record } = yield* withOrphanedState("switched-off")
      yield* (yield* CapsuleCommands).Update(capsuleId, { context, status: "disabled" })
      const { value } = yield* adopt(capsuleId, record.id)
      expect([value.capsule.status, value.capsule.runtimeSafety]).toEqual(["disabled", "unknown"])
    })
  )

  tests.live("svc rejects an adoption if the given name or guard is wrong, or if a problem blocks the adoption", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const leftOvers = yield* CapsuleOrphanedStates
      const capsuleCommands = yield* CapsuleCommands
      const { capsuleId, record } = yield* withOrphanedState("refused")
      const other = yield* withOrphanedState("refused-other")
      const request = yield* guardOf(capsuleId)
      const before = yield* written(capsuleId)
      const asked = (change: Partial<typeof request>) =>
        codeOf(
          capsuleCommands.AdoptOrphanedState(capsuleId, {
            context,
            leftOverStateId: record.id,
            request: { ...request, ...change },
            idempotency: freshKey()
          })
        )
      expect(yield* asked({ confirm: "Refused" })).toBe("invalid_request")
      expect(yield* asked({ expected: { authorityGuard: "ag1.other" } })).toBe("guard_conflict")
      expect(yield* codeOf(adopt(capsuleId, other.record.id))).toBe("not_found")
      expect(yield* codeOf(leftOvers.read(capsuleId, other.record.id))).toBe("not_found")
      expect(
        yield* codeOf(capsuleCommands.DiscardOrphanedState(capsuleId, { context, leftOverStateId: other.record.id }))
      ).toBe("not_found")
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

      // The configuration has changed since the apply, so the Capsule no longer matches the state.
      yield* (yield* CapsuleCommands)
        .ConfigurationPlan(capsuleId, {
          context,
          request: { variablePatch: { set: { a: "moved" } }, expected: (yield* guardOf(capsuleId)).expected },
          idempotency: freshKey()
        })
        .pipe(Effect.flatMap(({ value }) => settled(value.planRunId)))
      expect(yield* problemsOf(capsuleId, record.id)).toEqual(["capsule_moved"])
      expect(yield* codeOf(adopt(capsuleId, record.id))).toBe("failed_precondition")
    })
  )

  tests.live("svc rejects an adoption while a Run is active, and after a restore", () =>
    Effect.gen(function* () {
      const { workspaceId } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const { capsuleId, record } = yield* withOrphanedState("in-the-way")
      // Insert the Run as running. A queued Run would start and write events, and could then not be deleted below.
      yield* sql`INSERT INTO runs (id, workspace_id, type, status, owner, capsule_id, requires_approval, trigger_kind,
        attempt, spec, evidence, created_at, queued_at, capsule_line) VALUES ('run_inthewayinthewayintheway',
        ${workspaceId}, 'drift_check', 'running', 'inst_test#1', ${capsuleId}, 0, 'user', 0, '{}', '{}',
        '2100-01-01T00:00:00.000Z', '2100-01-01T00:00:00.000Z', ${capsuleId})`
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

  tests.live("discarding a left-over state erases the state but keeps its record", () =>
    Effect.gen(function* () {
      const { context } = yield* TestPlane
      const sql = yield* SqlClient.SqlClient
      const leftOvers = yield* CapsuleCommands
      const { capsuleId, record } = yield* withOrphanedState("discarded")
      const before = yield* (yield* Capsules).read(capsuleId)
      const discarded = yield* leftOvers.DiscardOrphanedState(capsuleId, { context, leftOverStateId: record.id })
      expect(discarded).toMatchObject({ status: "discarded", discard: { by: context.actor.subject } })
      expect(yield* leftOvers.DiscardOrphanedState(capsuleId, { context, leftOverStateId: record.id })).toEqual(
        discarded
      )
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
