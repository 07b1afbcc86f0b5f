import { Result } from "effect"
import { type ApiError, failedPrecondition, invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { AutoUpdateChange } from "../../../schema/records/AutoUpdate.ts"
import type { CapsuleStatus } from "../../../schema/records/Capsule.ts"
import type { CapsuleDriftChecks } from "../../../schema/records/DriftChecks.ts"
import { type CapsuleRow, isUnconfirmed, unconfirmed } from "../../ledger/capsule/CapsuleRow.ts"

/**
 * Returns the new status of a Capsule that is enabled or disabled, or `undefined` if it already has that status. An enabled
 * Capsule gets the status that its records imply.
 */
export const resultingStatus = (
  capsule: Pick<
    CapsuleRow,
    | "status"
    | "runtime_safety"
    | "current_state_version_id"
    | "adopted_snapshot_id"
    | "imported_from"
    | "import_confirmed_at"
  >,
  requested: "active" | "disabled" | undefined
): Result.Result<CapsuleStatus | undefined, ApiError> => {
  if (requested === undefined || requested === capsule.status) return Result.succeed(undefined)
  if (requested === "disabled") return Result.succeed("disabled")
  if (capsule.status !== "disabled") {
    return Result.fail(failedPrecondition(`Only a disabled Capsule can be enabled; this one is ${capsule.status}.`))
  }
  if (isUnconfirmed(capsule)) return Result.fail(failedPrecondition(unconfirmed))
  if (capsule.runtime_safety === "unknown") return Result.succeed("error")
  // A current state is not sufficient: an adopted state exists before anything has been applied.
  const isApplied = capsule.current_state_version_id !== null && capsule.adopted_snapshot_id !== null
  return Result.succeed(isApplied ? "active" : "pending")
}

/**
 * Returns the new auto-update setting. Disabling auto-update also disables automatic applies; enabling only automatic applies is
 * refused.
 */
export const resultingAutoUpdate = (
  capsule: Pick<CapsuleRow, "auto_update_enabled" | "auto_update_apply">,
  change: AutoUpdateChange = {}
): Result.Result<{ readonly enabled: boolean; readonly apply: boolean }, ApiError> => {
  const enabled = change.enabled ?? capsule.auto_update_enabled === 1
  const apply = change.apply ?? (enabled && capsule.auto_update_apply === 1)
  return apply && !enabled
    ? Result.fail(invalidRequest("autoUpdate.apply: needs autoUpdate.enabled."))
    : Result.succeed({ enabled, apply })
}

/** Converts the setting to its stored form. The schedule computes when the next check is due. */
export const driftCheckChoice = (choice: CapsuleDriftChecks, by: string | undefined) => ({
  drift_check_hours: choice.mode === "inherit" ? null : choice.mode === "off" ? 0 : choice.hours,
  drift_check_by: choice.mode === "every" ? (by ?? null) : null,
  drift_check_due_at: null
})
