import { Effect } from "effect"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId } from "../../../schema/records/Ids.ts"
import { RunLedger } from "../run/RunLedger.ts"
import type { RunRow } from "../run/RunRow.ts"

/**
 * Fails with `run_conflict` while a Run that may change the Capsule is queued, running or waiting. The error contains the Run's
 * id.
 */
export const refuseConflictingRun = Effect.fnUntraced(function* (
  capsuleId: CapsuleId,
  isConflicting: (run: RunRow) => boolean = () => true
) {
  const ledger = yield* RunLedger
  const holder = (yield* ledger.openExclusive(capsuleId)).find(isConflicting)
  if (holder === undefined) return
  return yield* new ApiError({
    code: "run_conflict",
    message: `The Run ${holder.id} (${holder.type}) of this Capsule is ${holder.status}. Wait for it or cancel it.`
  })
})
