import { Effect, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { readState } from "../../../runner/document/Documents.ts"
import type { AdoptionRequest } from "../../../schema/api/OrphanedStateAdoption.ts"
import { ApiError, failedPrecondition, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import type { CommandContext, IdempotentRequest } from "../../../schema/commands/Command.ts"
import type { OrphanedStateId } from "../../../schema/records/Ids.ts"
import type { AdoptionProblem } from "../../../schema/records/OrphanedState.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, guardHolds, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { buildColumns, storedBuild } from "../../ledger/build/BuildColumns.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Receipts } from "../../base/idempotency/Receipts.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { type OrphanedStateRow, OrphanedStates } from "../../ledger/state/OrphanedStates.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"
import { stateVersionIdOf, StateVersions, toStateVersion } from "../../ledger/state/StateVersions.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import { adoptedOutputs } from "./AdoptedOutputs.ts"
import { adoptionProblems } from "./AdoptionProblems.ts"
import { adoptionFacts, toOrphanedState } from "./OrphanedStateReads.ts"

type Load = Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>

const unfinishedApplyOf = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, id: OrphanedStateId) {
  const row = yield* (yield* OrphanedStates).find(id)
  return row === undefined || row.capsule_id !== capsule.id ? yield* notFound("Left-over state") : row
})

const projected = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, id: OrphanedStateId) {
  const row = yield* unfinishedApplyOf(capsule, id)
  const factsOf = yield* adoptionFacts(yield* SqlClient.SqlClient, capsule)
  return toOrphanedState(row, factsOf(row))
})

/** Converts problems to an error. Only a Run in progress is a temporary problem: the caller can retry after the Run ends. */
const refusal = (problems: ReadonlyArray<AdoptionProblem>) => {
  const message = `The left-over state cannot be adopted. ${problems.map((problem) => problem.message).join(" ")}`
  return problems.every(({ code }) => code === "run_open")
    ? new ApiError({ code: "run_conflict", message })
    : failedPrecondition(message)
}

/**
 * Returns the secrets that a left-over state may contain: the secrets of its apply or, if unknown, the secrets of the
 * Capsule's current state.
 */
const secretsOf = Effect.fnUntraced(function* (row: OrphanedStateRow, current: StateVersionRow | undefined) {
  const states = yield* StateVersions
  const ofApply = yield* (yield* OrphanedStates).secrets(row)
  return ofApply ?? (current === undefined ? [] : yield* states.secrets(current))
})

/** Decrypts and parses a left-over state. This may be slow, so it happens before the transaction. */
const opened = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, row: OrphanedStateRow) {
  const current = yield* (yield* StateVersions).find(capsule.current_state_version_id)
  const state = yield* (yield* OrphanedStates).open(row)
  if (Option.isNone(state)) return undefined
  const read = yield* readState(Redacted.value(state.value))
  const secrets = yield* secretsOf(row, current)
  yield* (yield* StateVersions).prepare({
    workspaceId: row.workspace_id,
    capsuleId: row.capsule_id,
    runId: row.run_id,
    leftOverStateId: row.id,
    generation: capsule.current_state_generation + 1,
    state: state.value,
    secrets
  })
  return { digest: row.digest, state: state.value, read: Option.getOrUndefined(read) }
})
type Opened = Effect.Success<ReturnType<typeof opened>>

/** Returns the left-over state. Fails if something prevents its adoption. */
const adoptable = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow, row: OrphanedStateRow, found: Opened) {
  const factsOf = yield* adoptionFacts(yield* SqlClient.SqlClient, capsule)
  const problems = adoptionProblems(factsOf(row))
  if (problems.length > 0) return yield* refusal(problems)
  yield* (yield* ConfigSuccession).noRevision(capsule)
  if (found === undefined || found.digest !== row.digest)
    return yield* new ApiError({ code: "run_conflict", message: "The left-over state has changed. Look at it again." })
  if (found.read?.outputs === undefined)
    return yield* Effect.die(new Error(`The left-over state ${row.id} does not match its record`))
  return { state: found.state, ...found.read, outputs: found.read.outputs }
})

/**
 * Makes a left-over state the Capsule's state in one transaction: StateVersion, Outputs, pointers, generation and voided plans.
 * Infrastructure is not touched, and nothing new is known about it, so the Capsule remains in error until a plan shows what
 * exists.
 */
export const adoptOrphanedState = Effect.fnUntraced(function* (
  id: OrphanedStateId,
  context: CommandContext,
  request: AdoptionRequest,
  idempotency: IdempotentRequest,
  load: Load
) {
  const receipts = yield* Receipts
  const capsules = yield* CapsuleLedger
  const leftOvers = yield* OrphanedStates
  const states = yield* StateVersions
  const runs = yield* RunLedger
  const staleReasons = yield* StaleReasons
  const audit = yield* Audit
  const killPoint = yield* KillPoint

  const answer = Effect.gen(function* () {
    const capsule = yield* load
    const version = yield* states.find(stateVersionIdOf(id))
    if (version === undefined) return yield* Effect.die(new Error(`The StateVersion of ${id} is gone`))
    return {
      capsule: yield* toCapsule(capsule),
      stateVersion: toStateVersion(version),
      leftOverState: yield* projected(capsule, id)
    }
  })

  const before = yield* load
  const scope = { scope: before.workspace_id, actor: context.actorKey, route: `leftOverStates.adopt ${id}` }
  const isRepeated = Option.isSome(yield* receipts.lookup(scope, idempotency))
  // A missing state is not reported here but in the transaction, after the caller's permission has been checked again.
  const stored = isRepeated || request.confirm !== before.name ? undefined : yield* leftOvers.find(id)
  const found = stored?.capsule_id === before.id ? yield* opened(before, stored) : undefined

  const create = Effect.gen(function* () {
    const capsule = yield* load
    const row = yield* unfinishedApplyOf(capsule, id)
    if (request.confirm !== capsule.name)
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    if (!(yield* guardHolds(capsule, request.expected.authorityGuard))) return yield* guardMoved()
    const { lineage, outputs, resourceCount, serial, state } = yield* adoptable(capsule, row, found)
    const run = yield* runs.find(row.run_id)
    const current = yield* states.find(capsule.current_state_version_id)
    const secrets = yield* secretsOf(row, current)
    const generation = capsule.current_state_generation + 1
    const version = yield* states.insert({
      workspaceId: capsule.workspace_id,
      capsuleId: capsule.id,
      runId: row.run_id,
      leftOverStateId: id,
      generation,
      state,
      lineage,
      serial,
      resourceCount,
      partial: true,
      sourceSnapshotId: run?.source_snapshot_id ?? undefined,
      installConfigId: run?.install_config_id ?? capsule.install_config_id,
      outputs: adoptedOutputs(outputs, current === undefined ? [] : yield* states.outputs(current.id)),
      secrets,
      build: buildColumns(storedBuild(row))
    })
    const moved = yield* capsules.fence(capsule, {
      current_state_version_id: version.id,
      current_state_generation: generation,
      ...(capsule.status === "disabled" ? {} : { status: "error" }),
      runtime_safety: "unknown",
      drift_status: "unknown"
    })
    if (!moved) return yield* guardMoved()
    if (!(yield* leftOvers.adopted(id, { by: context.actor.subject ?? null })))
      return yield* Effect.die(
        new Error(`The left-over state ${id} was decided inside the transaction of its adoption`)
      )
    yield* runs.supersedePlans(capsule.id, "A left-over state was adopted.")
    yield* staleReasons.producerMoved(capsule.id)
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "left_over_state.adopt",
      target: { kind: "left_over_state", id },
      capsuleId: capsule.id,
      runId: row.run_id,
      data: {
        stateVersionId: version.id,
        generation,
        serial,
        digest: row.digest,
        previousStateVersionId: capsule.current_state_version_id
      },
      requestId: context.requestId
    })
    const value = yield* answer
    yield* killPoint("left_over.adopting")
    return { value, receipt: { resultId: id, firstStatus: 200 } }
  })

  const adopted = yield* receipts.once(scope, idempotency, { create, replay: () => answer })
  yield* killPoint("left_over.adopted")
  return adopted
})

/** Erases a left-over state permanently. Its record remains as evidence. */
export const discardOrphanedState = Effect.fnUntraced(function* (
  id: OrphanedStateId,
  context: CommandContext,
  load: Load
) {
  const sql = yield* SqlClient.SqlClient
  const leftOvers = yield* OrphanedStates
  const audit = yield* Audit
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    const row = yield* unfinishedApplyOf(capsule, id)
    if (row.adopted_at !== null)
      return yield* failedPrecondition(
        `The left-over state was adopted at ${row.adopted_at}: it is the Capsule's state.`
      )
    if (yield* leftOvers.discarded(id, { by: context.actor.subject ?? null })) {
      yield* audit.append({
        workspaceId: capsule.workspace_id,
        actor: context.actor,
        action: "left_over_state.discard",
        target: { kind: "left_over_state", id },
        capsuleId: capsule.id,
        runId: row.run_id,
        data: { reason: row.reason, digest: row.digest },
        requestId: context.requestId
      })
    }
    return yield* projected(capsule, id)
  }).pipe(transaction(sql))
})
