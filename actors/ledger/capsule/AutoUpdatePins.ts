import { Option, Schema } from "effect"
import type { RunRow } from "../run/RunRow.ts"
import type { CapsuleRow } from "./CapsuleRow.ts"

/** Options that a person selects for a rollback. */
export const RollbackChoices = Schema.Struct({
  generation: Schema.Int,
  reason: Schema.optionalKey(Schema.String),
  resumeOnNewCommit: Schema.Boolean
})
export type RollbackChoices = typeof RollbackChoices.Type

const decodeSpec = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Struct({ rollback: RollbackChoices })))

/** Values of the pin columns for an unpinned Capsule. */
export const unpinned = {
  pinned_run_id: null,
  pinned_by: null,
  pinned_at: null,
  pinned_reason: null,
  pinned_commit: null,
  pin_ends_on_commit: 0
}

/** Returns column values that pin a Capsule after a rollback; empty for any other apply. */
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

/** Returns column values that pin a Capsule after a restore. Auto-update remains paused until a person resumes it. */
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

/** Returns true if this commit removes the pin, because the person who rolled back chose to resume with the next commit. */
export const endsWith = (capsule: Pick<CapsuleRow, "pin_ends_on_commit" | "pinned_commit">, commit: string): boolean =>
  capsule.pin_ends_on_commit === 1 && capsule.pinned_commit !== commit

export const isPinned = (capsule: Pick<CapsuleRow, "pinned_at">): boolean => capsule.pinned_at !== null

/** Explains why auto-update is paused, as a sentence. */
export const pinWords = (capsule: Pick<CapsuleRow, "pinned_at" | "pinned_reason">): string =>
  `A rollback or restore holds the Capsule since ${capsule.pinned_at ?? ""}: ${capsule.pinned_reason ?? ""}`
