import { isPostApplyCode } from "../../../schema/records/PostApplyCodes.ts"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { firstEpoch } from "../../ledger/capsule/AuthorityColumns.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import type { StateVersionRow } from "../../ledger/state/StateVersionRow.ts"

/** The records of the last Run that may have changed a Capsule's infrastructure. */
export interface DecisiveRecords {
  readonly capsule: Pick<CapsuleRow, "status" | "current_state_generation" | "execution_authority_epoch">
  readonly run: Pick<
    RunRow,
    | "id"
    | "type"
    | "status"
    | "error_code"
    | "provider_apply_succeeded"
    | "state_version_id"
    | "install_config_id"
    | "plan_digest"
    | "execution_authority_epoch"
  >
  readonly evidence: Pick<RunEvidence, "possiblyCreated" | "postApply">
  /** True if the installation was restored from a backup after the Run finished. */
  readonly restoredSince: boolean
  /** The current StateVersion of the Capsule. */
  readonly version:
    | Pick<StateVersionRow, "id" | "created_by_run_id" | "generation" | "install_config_id" | "partial">
    | undefined
  readonly plan: Pick<RunRow, "used_by_run_id" | "plan_digest"> | undefined
  /**
   * Number of configuration replacements since the Run, or `undefined` if the Capsule's configuration does not descend from the
   * Run's.
   */
  readonly successions: number | undefined
}

/** Returns the first fact on which the records of the Run and the Capsule disagree. */
const drift = ({ capsule, plan, run, successions, version }: DecisiveRecords): string | undefined => {
  const isItsState =
    version !== undefined &&
    version.id === run.state_version_id &&
    version.created_by_run_id === run.id &&
    version.generation === capsule.current_state_generation &&
    version.install_config_id === run.install_config_id
  if (!isItsState) return "its StateVersion is not the Capsule's current one"
  if (version.partial === 1) return "its StateVersion is partial"
  if (plan?.used_by_run_id !== run.id || plan.plan_digest !== run.plan_digest) {
    return "its plan was not used by it alone"
  }
  const { execution_authority_epoch: epoch } = run
  // A Run without an epoch is accepted only for the first epoch.
  const expected = epoch === null ? firstEpoch : epoch + (successions ?? 0)
  return successions === undefined || capsule.execution_authority_epoch !== expected
    ? "the Capsule's authority has moved in another way than by its configurations"
    : undefined
}

/**
 * Returns the reason why a Capsule in error cannot be re-adopted, or `undefined` if it can be. Re-adoption requires that the tool
 * succeeded and only a later check failed.
 */
export const reAdoptionProblem = (records: DecisiveRecords): string | undefined => {
  const { capsule, restoredSince, run } = records
  const { possiblyCreated = [], postApply = [] } = records.evidence
  if (capsule.status !== "error") return `the Capsule is ${capsule.status}`
  if (run.type !== "apply") return `the last Run that decided over its infrastructure is a ${run.type}`
  if (run.status !== "failed") return `the last apply is ${run.status}`
  if (run.provider_apply_succeeded !== 1) return "it is not certain that the tool of the last apply succeeded"
  const isOnlyChecks = isPostApplyCode(run.error_code) && postApply.some(({ status }) => status !== "passed")
  if (!isOnlyChecks) return "the last apply failed in another way than by a check after it"
  if (possiblyCreated.length > 0) return "the last apply may have created more than its state holds"
  if (restoredSince) return "the installation was restored from a backup since, and its later changes are unknown"
  return drift(records)
}
