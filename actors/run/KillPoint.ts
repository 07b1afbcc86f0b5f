import { Context, Effect } from "effect"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import type { RunType } from "../../schema/records/Run.ts"

/**
 * The points at which a crash leaves a different state behind.
 *
 * - `<type>.<event>`: that event of such a Run is written (of a resource: noted); for moves of the Run inside the transaction, just before its
 *   commit
 * - `<type>.claimed`, `.settled`: the execution begins, and is over with its run folder still there
 * - `<type>.prepared`, `.executed`: between the three steps of an execution, around what works outside the database
 * - `<type>.checkpoint`: a state of a running apply was kept
 * - `<type>.committed`: the state of an apply is committed, and the checks after it have not begun
 * - `install.created`, `approve.decided`, `apply.asked`, `cancel.decided`: committed and not yet answered
 * - `install.stepping`, `.stepped`: around each step of the coordinator, inside its transaction
 * - `restoring.*`: the steps in which a backup becomes the database of a folder
 * - `left_over.adopting`, `.adopted`: inside the transaction of an adoption, just before its commit, and after it
 * - `connection.renewed`: the authorization server has given new tokens, and nothing of them is written
 * - `log_removal.marked`, `.erased`: Runs are marked whose logs go, and a part of their lines is deleted
 * - `recovery.*`: before anything is settled, after each Run, and before left-over folders are swept
 */
export type KillPointName =
  | `${RunType}.${RunEventKind}`
  | `${RunType}.${"claimed" | "committed" | "settled" | "prepared" | "executed" | "checkpoint"}`
  | "install.created"
  | "install.stepping"
  | "install.stepped"
  | "approve.decided"
  | "apply.asked"
  | "cancel.decided"
  | "left_over.adopting"
  | "left_over.adopted"
  | "connection.renewed"
  | "log_removal.marked"
  | "log_removal.erased"
  | "recovery.begun"
  | "recovery.settled"
  | "recovery.cleaning"
  | `restoring.${"copied" | "authenticated" | "prepared" | "cleared" | "placed"}`

/**
 * Told of every kill point that is passed. It does nothing; the crash suite starts a server of its own in which one of
 * the points ends the process with SIGKILL.
 */
export const KillPoint = Context.Reference<(name: KillPointName) => Effect.Effect<void>>("svc/actors/run/KillPoint", {
  defaultValue: () => () => Effect.void
})
