import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { ImportConfirmationRequest } from "../../../schema/api/BackupImportsApi.ts"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { type GuardedCapsuleRow, isUnconfirmed, toCapsule } from "../../ledger/capsule/CapsuleRow.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { KillPoint } from "../../base/KillPoint.ts"
import { guardMoved } from "../../ledger/configuration/ConfigSuccession.ts"

/** Enables an imported Capsule after an owner confirms that the original installation no longer manages it. */
export const confirmImport = Effect.fnUntraced(function* (
  load: Effect.Effect<GuardedCapsuleRow, ApiError, CapsuleLedger>,
  context: CommandContext,
  { confirm }: ImportConfirmationRequest
) {
  const sql = yield* SqlClient.SqlClient
  const capsules = yield* CapsuleLedger
  const audit = yield* Audit
  const killPoint = yield* KillPoint
  return yield* Effect.gen(function* () {
    const capsule = yield* load
    if (confirm !== capsule.name) {
      return yield* invalidRequest("confirm: expected the name of the Capsule, exactly as it is written.")
    }
    if (isEnded(capsule.status)) return yield* failedPrecondition(`The Capsule is ${capsule.status}.`)
    if (!isUnconfirmed(capsule)) {
      return yield* failedPrecondition("The Capsule was not imported, or its import is confirmed already.")
    }
    const execution_authority_epoch = capsule.execution_authority_epoch + 1
    const confirmed = yield* capsules.fence(capsule, {
      status: "pending",
      execution_authority_epoch,
      import_confirmed_at: yield* now,
      import_confirmed_by: context.actor.subject ?? null
    })
    if (!confirmed) return yield* guardMoved()
    yield* audit.append({
      workspaceId: capsule.workspace_id,
      actor: context.actor,
      action: "capsule.confirm_import",
      target: { kind: "capsule", id: capsule.id },
      capsuleId: capsule.id,
      data: { stateVersionId: capsule.current_state_version_id, executionAuthorityEpoch: execution_authority_epoch },
      requestId: context.requestId
    })
    yield* killPoint("import.confirming")
    return yield* toCapsule(yield* load)
  }).pipe(
    transaction(sql),
    Effect.tap(() => killPoint("import.confirmed"))
  )
})
