import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { refuseConflictingRun } from "../../ledger/capsule/ConflictingRuns.ts"
import type { CapsuleReleased, ReleaseRequest } from "../../../schema/api/CapsuleReleased.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { Deliveries } from "../../inputs/delivery/Deliveries.ts"
import { endProducer } from "../../ledger/dependency/EndedProducer.ts"
import { now } from "../../base/Identity.ts"
import { InterfaceLedger } from "../../ledger/interface/InterfaceLedger.ts"
import { InterfaceSettlement } from "../../ledger/interface/InterfaceSettlement.ts"
import { endShares } from "../../ledger/output-share/OutputShareRow.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { ConfigSuccession, guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"
import { StaleReasons } from "../../ledger/staleness/StaleReasons.ts"
import { SourceLanes } from "../../ledger/source/SourceLanes.ts"

/** Fails while work on the Capsule is in progress, because a Run that settles after the release would change the Capsule. */
const refuseMoving = Effect.fnUntraced(function* (capsule: GuardedCapsuleRow) {
  yield* refuseConflictingRun(capsule.id)
  yield* (yield* ConfigSuccession).noRevision(capsule)
})

/**
 * Releases a Capsule permanently without destroying infrastructure. Its state, Runs and history remain. All other records
 * that belong to the Capsule are ended in the same transaction.
 */
export const releaseCapsule = Effect.fnUntraced(function* (
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>,
  context: CommandContext,
  { comment, confirm, reason }: ReleaseRequest
) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const ledger = yield* RunLedger
  const audit = yield* Audit
  const deliveries = yield* Deliveries
  const interfaces = yield* InterfaceSettlement
  const staleReasons = yield* StaleReasons
  const interfaceLedger = yield* InterfaceLedger
  const lanes = yield* SourceLanes
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    if (confirm !== capsule.name) {
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    }
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The Capsule is ${capsule.status} already.`)
    if (capsule.current_state_version_id === null && capsule.runtime_safety === "safe") {
      return yield* failedPrecondition(
        "The Capsule was never applied, so there is nothing to release. Remove it with DELETE."
      )
    }
    yield* refuseMoving(capsule)
    const released = yield* capsules.fence(capsule, {
      status: "released",
      execution_authority_epoch: capsule.execution_authority_epoch + 1,
      auto_update_enabled: 0,
      auto_update_apply: 0,
      deferred_snapshot_id: null,
      credential_wait: null,
      drift_status: "unknown",
      public_endpoint: null,
      released_at: yield* now,
      released_by: context.actor.subject ?? null,
      release_reason: reason,
      release_comment: comment ?? null
    })
    if (!released) return yield* guardMoved()
    yield* ledger.supersedePlans(capsule.id, "The Capsule was released.")
    const present = yield* interfaceLedger.ofCapsule(capsule.id)
    const retiredInterfaceIds = present.filter(({ status }) => status !== "retired").map(({ id }) => id)
    yield* staleReasons.destroyed(capsule.id)
    // Recomputes the Source's status without the errors of a lane that no Capsule uses any more.
    yield* lanes.settleStatus(capsule.source_id)
    yield* interfaces.destroyed(capsule.id)
    yield* deliveries.released(capsule.id)
    // Called before the shares end, so that the release is recorded as the reason why a plan lost its input.
    const consumers = yield* endProducer(context, capsule, reason)
    const revokedShareIds = yield* endShares(context, capsule.id)
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.release",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      data: {
        reason,
        ...(comment === undefined ? {} : { comment }),
        stateVersionId: capsule.current_state_version_id,
        runtimeSafety: capsule.runtime_safety,
        retiredInterfaceIds,
        revokedShareIds,
        ...consumers
      },
      requestId: context.requestId
    })
    return {
      capsule: yield* toCapsule(yield* load),
      retiredInterfaceIds,
      revokedShareIds,
      ...consumers
    } satisfies CapsuleReleased
  }).pipe(transaction(sql))
})
