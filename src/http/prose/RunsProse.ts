import type { ChangeApprovalsApi } from "../../../schema/api/ChangeApprovalsApi.ts"
import type { CommentsApi } from "../../../schema/api/CommentsApi.ts"
import type { RunsApi } from "../../../schema/api/RunsApi.ts"
import { type GroupProse, liveRead, queuedRun, route } from "./Prose.ts"

const live =
  "With a WebSocket upgrade, or `Accept: text/event-stream` (resume with `Last-Event-ID`), the route replays from `after` and then follows live: one JSON frame a batch, `{done:true}` at the end."

export const runsProse: GroupProse<typeof RunsApi> = {
  about: "Plans, applies and checks: review, events and logs.",
  routes: {
    read: route(
      "Read a Run",
      "Includes the results of its phases: summary and redacted resource changes of the plan, its digest, tool and diagnostics. `profile` is the execution profile that the operator chose; `isolation` and `network` are the isolation of the module from the machine and its network access. `operatorConfig` is the part of the operator's base configuration for this Run, `signIn` contains the addresses to which the plan's identity returns people after a sign-in and after a sign-out, and `postApply` contains the results of the checks after an apply: an apply that failed with `lifecycle_failed` has committed its state and Outputs. A Run that hit one of its limits failed with `memory_limit`, `process_limit`, `tmp_limit`, `shm_limit`, `folder_limit` or `disk_low`. Sensitive values are absent, not masked in part."
    ),
    approve: route(
      "Approve a reviewable plan",
      "The server refuses a `planDigest` that differs from the Run's (409). `comment` is stored on the Run (`approvalComment`) and in the audit event, so everybody who may read the Run can read it. `cancel` withdraws an approval that was not applied. If it is uncertain which objects exist (`uncertain` of `GET runs/{id}/approvals`), `acknowledged` must contain every code: otherwise the response is 409 `failed_precondition` with the codes."
    ),
    apply: queuedRun(
      "Apply an approved plan",
      "Creates the Apply Run (201). A left-over state that arrived after the approval refuses the apply (409) until an approval acknowledges it. Each plan is usable once: a second apply is 409, or 200 with the same Run under the same `Idempotency-Key`."
    ),
    cancel: route(
      "Cancel a queued, running or waiting Run, or withdraw an approval",
      "With `planDigest`, a Run with another plan is not cancelled (409 `guard_conflict`). A running tool is interrupted and given time to save its state. A response of 200 is final: results of the Run that were not yet committed have no effect, even if they had been computed. An apply keeps the state of the tool's changes; if the tool had finished, the Run is `cancelled` with a complete StateVersion and the error `applied_before_cancel`. A plan that was approved and not applied becomes `cancelled`, its saved plan file is erased, and the withdrawal is audited as `run.withdraw_approval`; `approvedBy`, `approvedAt` and `approvalComment` stay on the record. Once an apply has used the plan, the response is 409 `run_conflict` with the Apply Run: cancel the Apply Run instead. If a withdrawal and an apply arrive at the same time, exactly one of them succeeds."
    ),
    logs: liveRead(
      "Log lines of a Run, redacted",
      `${live} For a log beyond 512 MiB (several million lines), the middle is omitted: a line of the stream \`system\` gives the number of omitted lines, and the last lines follow it when the Run ends.`,
      "RunLog"
    ),
    events: liveRead("Events of a Run", live, "RunEvent"),
    cost: route(
      "Cost estimate",
      "The plan's change to the monthly bill, by the price table in the operator's policy file; `not_available` without a price table. `reasons` lists everything that the sum omits. For an apply, returns the estimate of its plan."
    ),
    sourceChanges: route(
      "Files of the module that a Run's commit changes",
      "Compares the digests of stored files with the commit of the Run's base state (`since`): the first 300 added, changed and removed files, and their count. `scope` is `module` for the module, its local modules and the files that they read, and `source` if these files cannot be determined. `not_stored`: one of the commits was removed from this server."
    ),
    changeCauses: route(
      "Explain the changes of a plan",
      "Lists the differences since the last apply (`causes`), and for each resource the differences that may have caused its change. `certain` means that the evidence leaves one cause; otherwise `causes` lists the possible causes, and is empty if no record explains the change. Contains names of inputs, Outputs, files and resources, never values."
    ),
    group: route(
      "Read a group of Runs",
      "`runs` in dependency order. `waves` of an update show the progress of each Capsule, the reason why it waits, and the reason why it was skipped or failed. A Capsule is planned once all its producers have been applied or skipped; the next wave starts automatically. `waiting_approval`: a person must review or apply plans, or act on `heldReason`. The consumers of a failed Capsule wait; if a person plans the failed Capsule again, the plan joins the group. `finishedAt` is set once no member can continue."
    ),
    approveGroup: route(
      "Approve every reviewable plan of a group",
      "Refused (409) while a plan of the group is still being made. `planDigests` are the digests of the reviewed plans: if a waiting plan is missing from them, the whole request is refused. The same applies to a plan that may not include existing objects: approve it separately with `approve`. Plans that are not waiting for approval do not change. Apply each plan separately with `apply`."
    ),
    cancelGroup: route(
      "Cancel an update",
      "No more plans are made, and plans of the group that are not applied become void, even if approved. A running apply continues. Refused (409) once the update is over."
    ),
    stateVersion: route("Read a StateVersion", "Metadata only; no route returns the state itself."),
    rollbackPlan: queuedRun(
      "Plan a rollback to the revision of an earlier state",
      "Plans the commit and configuration with which that StateVersion was applied, against the current state; nothing is rolled back without review and apply. The apply pins the Capsule (`autoUpdate.pinnedBy`, with `reason`): auto-update follows no commit until somebody resumes it, or, with `resumeOnNewCommit`, until the lane has a new commit."
    )
  }
}

export const changeApprovalsProse: GroupProse<typeof ChangeApprovalsApi> = {
  about: "Approvals of the change in a speculative plan.",
  routes: {
    list: route(
      "List the approvals of a change, oldest first",
      "Withdrawn approvals stay in the list. `carriedToRunId` is the plan of the lane that the approval has approved."
    ),
    approve: route(
      "Approve the change in a speculative plan",
      "Whoever may approve the later plan may approve its change. It approves nothing by itself: if every rule that matches the Capsule has `carryOver`, and the plan of the lane makes the same change from the same files and inputs, the approval also counts for that plan. Other digests than the Run's are refused (409 `guard_conflict`). A second approval by the same person changes nothing."
    ),
    withdraw: route(
      "Withdraw an approval of a change",
      "An approval that has approved a plan of the lane is not withdrawn (409 `run_conflict`); withdraw the approval of that plan."
    )
  }
}

export const commentsProse: GroupProse<typeof CommentsApi> = {
  about: "Comments on Runs.",
  routes: {
    list: route(
      "List the comments on a Run, oldest first",
      "Everybody who may read the Run can read them. A removed comment keeps its place, author and times, and has `removedAt` instead of `text`."
    ),
    write: route(
      "Comment on a Run",
      "Known secrets of the Run and its Capsule are masked before the comment is stored, as in logs, and cannot be recovered. `mentions` are active members of the Workspace (400 for anybody else): if the server sends mail, each mentioned person with a verified address receives a mail, which contains the link but never the text. The operation history records the comment's existence, not its text. A Run keeps at most 1,000 comments (409 `failed_precondition`), for as long as the Run is kept."
    ),
    remove: route(
      "Remove your own comment",
      "Erases the text and the mentions; a note that there was a comment remains. Only its author may do this (403). Comments cannot be edited."
    )
  }
}
