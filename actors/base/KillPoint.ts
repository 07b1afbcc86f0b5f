import { Context, Effect } from "effect"
import type { RunEventKind } from "../../schema/events/RunEvent.ts"
import type { RunType } from "../../schema/records/Run.ts"

/**
 * The points at which tests can kill the process, because a crash there leaves different data.
 *
 * - `<type>.<event>`: this event of a Run of this type has been written (or, for a resource, noted); for changes of the Run's
 *   status, within the transaction, just before its commit
 * - `<type>.claimed`, `.settled`: the execution begins, or has ended with its run folder still in place
 * - `<type>.prepared`, `.executed`: between the three steps of an execution, around the work outside the database
 * - `<type>.checkpoint`: a state of a running apply has been stored
 * - `<type>.committed`: the state of an apply has been committed, and the checks after it have not begun
 * - `install.created`, `approve.decided`, `apply.asked`, `cancel.decided`: committed, but the response has not been sent
 * - `install.stepping`, `.stepped`: around each step of the coordinator, within its transaction
 * - `restoring.*`: the steps in which a backup becomes the database of a folder
 * - `moving.*`: the steps in which a database is copied, verified, marked and moved into place
 * - `left_over.adopting`, `.adopted`: within the transaction of an adoption, just before its commit, and after it
 * - `state_upload.storing`, `.stored`: within the transaction of an upload, just before its commit, and after it
 * - `install.adopting`: within the transaction of the initial commit, once the uploaded state is StateVersion 1
 * - `import.confirming`, `.confirmed`: within the transaction that confirms an import, and after it
 * - `export.granting`, `.granted`: within the transaction that records the link for an export, just before its commit, and after
 *   it
 * - `export.sending`: a download has been recorded, and none of it has been sent
 * - `restore.committing`: within the transaction of a Capsule's restore, just before its commit
 * - `connection.renewed`: the authorization server has issued new tokens, and none of them have been written
 * - `log_removal.marked`, `.erased`: the Runs whose logs will be removed have been marked, and some of their lines have been
 *   deleted
 * - `audit_removal.deleted`, `.removed`: the oldest events of a chain have been deleted but not committed, and a step has
 *   ended
 * - `retention.removed`, `.passed`: a few records have been removed and counted, and a pass over all kinds is complete but not
 *   yet in the audit trail
 * - `notice.sending`, `.sent`: before the request of a delivery, and after its response
 * - `notice.settling`, `.settled`: attempts have been recorded but not committed, and committed
 * - `notice.mailing`: within the transaction that queues the mails of a notice, just before its commit
 * - `pull_request.looked`, `.judged`, `.planned`: the repository has been read, the head reviewed, or a plan of the head queued, and
 *   the pull request does not have the result yet
 * - `report.sending`, `.creating`, `.replacing`, `.commented`, `.noted`, `.status`, `.sent`: before the first request of a
 *   report, before a comment is created, before the comment of another account is removed, after the comment and its record,
 *   after each status, and after all of them
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
  | "state_upload.storing"
  | "state_upload.stored"
  | "install.adopting"
  | "import.confirming"
  | "import.confirmed"
  | `export.${"granting" | "granted" | "sending"}`
  | "restore.committing"
  | "connection.renewed"
  | "log_removal.marked"
  | "log_removal.erased"
  | "audit_removal.deleted"
  | "audit_removal.removed"
  | "retention.removed"
  | "retention.passed"
  | "recovery.begun"
  | "recovery.settled"
  | "recovery.cleaning"
  | `pull_request.${"looked" | "judged" | "planned"}`
  | `report.${"sending" | "creating" | "replacing" | "commented" | "noted" | "status" | "sent"}`
  | `notice.${"sending" | "sent" | "settling" | "settled" | "mailing"}`
  | `moving.${"copied" | "verified" | "marked" | "settled"}`
  | `restoring.${"copied" | "authenticated" | "prepared" | "cleared" | "placed"}`

/**
 * Called at every kill point; does nothing by default. The crash suite starts a server that kills itself with SIGKILL at one of
 * the points.
 */
export const KillPoint = Context.Reference<(name: KillPointName) => Effect.Effect<void>>("svc/actors/base/KillPoint", {
  defaultValue: () => () => Effect.void
})
