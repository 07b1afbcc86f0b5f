import { Option, Schema } from "effect"
import type { RunRow } from "../run/RunRow.ts"
import type { CapsuleRow } from "./CapsuleRow.ts"

/** A person's choices about what follows a rollback. */
export const RollbackChoices = Schema.Struct({
  generation: Schema.Int,
  reason: Schema.optionalKey(Schema.String),
  resumeOnNewCommit: Schema.Boolean
})
export type RollbackChoices = typeof RollbackChoices.Type

const decodeSpec = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ rollback: RollbackChoices })))

/** The columns of an unpinned Capsule. */
export const unpinned = {
  pinned_run_id: null,
  pinned_by: null,
  pinned_at: null,
  pinned_reason: null,
  pinned_commit: null,
  pin_ends_on_commit: 0
}

/** The columns with which a rollback's apply pins its Capsule; none for any other apply. */
export const pinOf = (
  apply: RunRow,
  plan: RunRow | undefined,
  lane: { readonly at: string; readonly commit: string | null }
) => {
  if (apply.type !== "apply" || apply.purpose !== "rollback" || plan === undefined) return {}
  const choices = Option.getOrUndefined(decodeSpec(plan.spec))?.rollback
  return {
    pinned_run_id: plan.id,
    pinned_by: apply.created_by ?? plan.approved_by,
    pinned_at: lane.at,
    pinned_reason:
      choices?.reason ??
      (choices === undefined
        ? "Rolled back to an earlier state."
        : `Rolled back to the state of generation ${choices.generation}.`),
    pinned_commit: lane.commit,
    pin_ends_on_commit: choices?.resumeOnNewCommit === true ? 1 : 0
  }
}

/** The columns with which a restore pins its Capsule: nothing is followed until a person resumes it. */
export const pinOfRestore = (
  apply: RunRow,
  plan: RunRow,
  restored: { readonly at: string; readonly backupAt: string }
) => ({
  pinned_run_id: plan.id,
  pinned_by: apply.created_by ?? plan.approved_by,
  pinned_at: restored.at,
  pinned_reason: `Restored from the backup of ${restored.backupAt}.`,
  pinned_commit: null,
  pin_ends_on_commit: 0
})

/** True if the pin ends with this commit of the lane, as chosen by the person who rolled back. */
export const endsWith = (capsule: Pick<CapsuleRow, "pin_ends_on_commit" | "pinned_commit">, commit: string): boolean =>
  capsule.pin_ends_on_commit === 1 && capsule.pinned_commit !== commit

export const isPinned = (capsule: Pick<CapsuleRow, "pinned_at">): boolean => capsule.pinned_at !== null

/** A sentence explaining why nothing is followed. */
export const pinWords = (capsule: Pick<CapsuleRow, "pinned_at" | "pinned_reason">): string =>
  `A rollback or restore holds the Capsule since ${capsule.pinned_at ?? ""}: ${capsule.pinned_reason ?? ""}`
