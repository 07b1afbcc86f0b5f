import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleOrphanedStates } from "../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import type { CapsuleId, OrphanedStateId } from "../../../schema/records/Ids.ts"
import { active, freshKey } from "../../support/Journey.ts"
import { TestPlane } from "../../support/TestPlane.ts"
import { currentState, leftOver, stateFile } from "./OrphanedStateList.ts"
import { pureModule } from "./PureRunner.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

export const guardOf = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
  const { installConfigReAdoption, name } = yield* (yield* Capsules).read(capsuleId)
  return { confirm: name, expected: { authorityGuard: installConfigReAdoption.authorityGuard } }
})

export const adopt = Effect.fnUntraced(function* (capsuleId: CapsuleId, id: OrphanedStateId, key = freshKey()) {
  const { context } = yield* TestPlane
  return yield* (yield* CapsuleCommands).AdoptOrphanedState(capsuleId, {
    context,
    leftOverStateId: id,
    request: yield* guardOf(capsuleId),
    idempotency: key
  })
})

export const succeeds = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.map(Effect.result(effect), Result.isSuccess)

export const codeOf = <A, E extends { readonly code: string }, R>(refused: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.flip(refused), ({ code }) => code)

export const problemsOf = Effect.fnUntraced(function* (capsuleId: CapsuleId, id: OrphanedStateId) {
  const { adoptionProblems } = yield* (yield* CapsuleOrphanedStates).read(capsuleId, id)
  return adoptionProblems.map(({ code }) => code)
})

/** Creates a Capsule whose last apply left a state that was not adopted, although it continues the current state. */
export const withOrphanedState = Effect.fnUntraced(function* (
  name: string,
  outputs: Readonly<Record<string, string>> = {}
) {
  const { capsule } = yield* active(name, pureModule)
  const { lineage, serial } = yield* currentState(capsule.id)
  const bytes = stateFile(lineage, serial + 1, outputs)
  return { bytes, capsuleId: capsule.id, record: yield* leftOver(capsule.id, { bytes }) }
})

/** Returns all records that an adoption may write. */
export const written = Effect.fnUntraced(function* (capsuleId: CapsuleId) {
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
