import type { InstallConfigId } from "../../../schema/records/Ids.ts"
import type { PlanSummary } from "../../../schema/records/PlanDetails.ts"
import { isPinned, pinWords } from "../../ledger/capsule/AutoUpdatePins.ts"
import type { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"

/** Facts that determine whether an auto-update plan is applied automatically. */
export interface FollowedPlan {
  readonly capsule: Pick<CapsuleRow, "auto_update_enabled" | "auto_update_apply" | "pinned_at" | "pinned_reason">
  readonly plan: Pick<RunRow, "install_config_id" | "resolved_commit">
  readonly summary: PlanSummary | undefined
  /** The configuration of the current StateVersion, which is the last one applied. */
  readonly appliedConfigId: InstallConfigId | undefined
  /** The newest commit of the adopted lane. */
  readonly laneCommit: string | null | undefined
  /** The reason why the check that found the commit is no longer valid. */
  readonly sourceStopped: string | undefined
  /** The reason why automation is paused in the Workspace. */
  readonly automationRefusal: string | undefined
}

/** Returns the reason why a person must apply the plan, or `undefined` if it may be applied automatically. */
export const personNeeded = ({
  appliedConfigId,
  automationRefusal,
  capsule,
  laneCommit,
  plan,
  sourceStopped,
  summary
}: FollowedPlan): readonly [reason: string, message: string] | undefined => {
  if (capsule.auto_update_enabled !== 1 || capsule.auto_update_apply !== 1)
    return ["review", "Auto-update plans here; a person approves and applies."]
  if (sourceStopped !== undefined) return ["source_stopped", sourceStopped]
  if (summary === undefined) return ["review", "The plan has no summary to judge it by."]
  const gone = summary.destroy + summary.replace + summary.forget
  if (gone > 0) return ["destroys", `The plan destroys, replaces or forgets resources: ${gone} of them.`]
  if (appliedConfigId !== plan.install_config_id) return ["configuration", "Nobody has applied this configuration yet."]
  if (isPinned(capsule)) return ["pinned", pinWords(capsule)]
  if (laneCommit !== plan.resolved_commit)
    return ["lane_moved", "The ref has moved to another commit since the plan was made."]
  return automationRefusal === undefined ? undefined : ["automation_paused", `Not applied: ${automationRefusal}.`]
}
