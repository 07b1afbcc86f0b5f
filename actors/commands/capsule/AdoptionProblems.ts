import { type CapsuleStatus, isEnded } from "../../../schema/records/CapsuleLifecycle.ts"
import type { RunId, StateVersionId } from "../../../schema/records/Ids.ts"
import type { AdoptionProblem, AdoptionProblemCode } from "../../../schema/records/OrphanedState.ts"

/** Facts that determine whether a left-over state may become the Capsule's state. */
export interface AdoptionFacts {
  readonly leftOver: {
    readonly lineage: string | null
    readonly serial: number | null
    readonly resource_count: number | null
    readonly state_version_id: StateVersionId | null
    readonly state_generation: number
    readonly execution_authority_epoch: number
    readonly adopted_at: string | null
    readonly discarded_at: string | null
  }
  readonly capsule: {
    readonly status: CapsuleStatus
    readonly current_state_version_id: StateVersionId | null
    readonly current_state_generation: number
    readonly execution_authority_epoch: number
  }
  /** The current state of the Capsule. */
  readonly current: { readonly lineage: string; readonly serial: number } | undefined
  /** A queued or running Run of the Capsule. */
  readonly openRun: { readonly id: RunId; readonly type: string; readonly status: string } | undefined
  /** True if the installation was restored from a backup after the state was left behind. */
  readonly isRestored: boolean
}

/** Returns the reasons why a left-over state cannot be adopted; empty if it can be. */
export const adoptionProblems = (facts: AdoptionFacts): ReadonlyArray<AdoptionProblem> => {
  const { capsule, current, isRestored, leftOver, openRun } = facts
  // If the state is already gone, this is the only reason to report.
  if (leftOver.adopted_at !== null) return [{ code: "adopted", message: `It was adopted at ${leftOver.adopted_at}.` }]
  if (leftOver.discarded_at !== null)
    return [{ code: "discarded", message: `It was discarded at ${leftOver.discarded_at}.` }]
  const problems: Array<AdoptionProblem> = []
  const add = (code: AdoptionProblemCode, message: string) => problems.push({ code, message })
  if (leftOver.lineage === null || leftOver.serial === null) {
    add("unreadable", "It is not a whole state file.")
  } else {
    if (leftOver.resource_count === null) add("encrypted", "The tool encrypted it, so its Outputs cannot be read.")
    if (current !== undefined && current.lineage !== leftOver.lineage)
      add("lineage_differs", `Its lineage is ${leftOver.lineage}; that of the current state is ${current.lineage}.`)
    else if (current !== undefined && leftOver.serial < current.serial)
      add("serial_older", `Its serial is ${leftOver.serial}; the current state is newer with ${current.serial}.`)
  }
  if (isEnded(capsule.status)) add("capsule_ended", `The Capsule is ${capsule.status}.`)
  const isWhereItWasLeft =
    capsule.current_state_version_id === leftOver.state_version_id &&
    capsule.current_state_generation === leftOver.state_generation &&
    capsule.execution_authority_epoch === leftOver.execution_authority_epoch
  if (!isWhereItWasLeft)
    add("capsule_moved", "The state or the configuration of the Capsule has changed since that apply.")
  if (isRestored)
    add("restored", "The installation was restored from a backup since that apply, and its later changes are unknown.")
  if (openRun !== undefined) add("run_open", `The Run ${openRun.id} (${openRun.type}) is ${openRun.status}.`)
  return problems
}
