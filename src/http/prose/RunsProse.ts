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
      "With the evidence of its phases: summary and redacted resource changes of the plan, its digest, tool, diagnostics. `profile` is the execution profile that the operator chose; `isolation` and `network` are the isolation of the module from the machine and its network access. `operatorConfig` is the part of the operator's base configuration for this Run, `signIn` contains the addresses to which the plan's identity returns people after a sign-in and after a sign-out, and `postApply` contains the results of the checks after an apply: an apply that failed with `lifecycle_failed` has committed its state and Outputs. A Run that hit one of its limits failed with `memory_limit`, `process_limit`, `tmp_limit`, `shm_limit`, `folder_limit` or `disk_low`. Sensitive values are absent, not masked in part."
    ),
    approve: route(
      "Approve a reviewable plan",
      "A `planDigest` that is not the Run's is refused (409). `comment` is kept on the Run (`approvalComment`) and in the audit event: everybody who may read the Run reads it. An approval that was not applied is withdrawn by `cancel`. If it is uncertain which objects exist (`uncertain` of `GET runs/{id}/approvals`), `acknowledged` must contain every code: otherwise the response is 409 `failed_precondition` with the codes."
    ),
    apply: queuedRun(
      "Apply an approved plan",
      "Creates the Apply Run (201). A left-over state that arrived after the approval refuses the apply (409) until an approval acknowledges it. Each plan is usable once: a second apply is 409, or 200 with the same Run under the same `Idempotency-Key`."
    ),
    cancel: route(
      "Cancel a queued, running or waiting Run, or withdraw an approval",
      "With `planDigest`, a Run with another plan is not cancelled (409 `guard_conflict`). A running tool is interrupted and given time to save its state. A response of 200 is final: results of the Run that were not committed before take no effect, even if they had been computed. An apply keeps the state of what its tool did; if the tool had done everything, the Run is `cancelled` with a complete StateVersion and the error `applied_before_cancel`. A plan that was approved and not applied becomes `cancelled`, its saved plan file is erased, and the withdrawal is audited as `run.withdraw_approval`; `approvedBy`, `approvedAt` and `approvalComment` stay on the record. Once an apply has used the plan, the response is 409 `run_conflict` with the Apply Run: cancel the Apply Run instead. Of a withdrawal and an apply at once exactly one wins."
    ),
    logs: liveRead(
      "Log lines of a Run, redacted",
      `${live} A log beyond 512 MiB (several million lines) is kept without its middle: a line of the stream \`system\` gives the number of omitted lines, and the last lines follow it when the Run ends.`,
      "RunLog"
    ),
    events: liveRead("Events of a Run", live, "RunEvent"),
    cost: route(
      "Cost estimate",
      "The change of the monthly bill by the plan, by the price table of the operator's policy file; `not_available` without one. `reasons` lists everything that is not in the sum. An apply answers for its plan."
    ),
    sourceChanges: route(
      "Files of the module that a Run's commit changes",
      "Compared with the commit of the state that the Run started from (`since`), by the digests of stored files: added, changed, removed, the first 300 and their count. `scope` is `module` for the module, its local modules and what they read, `source` where that is not known for sure. `not_stored`: one of the commits was removed from this server."
    ),
    changeCauses: route(
      "Explain the changes of a plan",
      "From evidence: what differs since the last apply (`causes`), and for each resource which of it may have led to its change. `certain` means that the evidence leaves one cause; otherwise `causes` lists the possible causes, and is empty if no record explains the change. Names of inputs, Outputs, files and resources, never values."
    ),
    group: route(
      "Read a group of Runs",
      "`runs` in dependency order. `waves` of an update show the progress of each Capsule, the reason why it waits, and the reason why it was skipped or failed. A Capsule is planned once all its producers were applied or skipped; nobody has to start the next wave. `waiting_approval`: a person is needed, to review or apply plans, or because of `heldReason`. The consumers of a failed Capsule wait; a new plan of the failed Capsule by a person belongs to the group again. `finishedAt` comes once nothing of it can go on."
    ),
    approveGroup: route(
      "Approve every reviewable plan of a group",
      "Refused (409) while a plan of the group is still being made. `planDigests` are the digests of the reviewed plans: if a waiting plan is missing from them, the whole request is refused. The same applies to a plan that may not include objects that exist: approve it with its own `approve`. Plans that are not waiting for approval stay as they are. Each is applied by its own `apply`."
    ),
    cancelGroup: route(
      "Cancel an update",
      "Nothing more is planned; plans of the group that are not applied are void, also approved ones; an apply that runs goes on. Refused (409) once the update is over."
    ),
    stateVersion: route("Read a StateVersion", "Metadata only; the state itself never leaves."),
    rollbackPlan: queuedRun(
      "Plan a return to the revision of an earlier state",
      "Plans the commit and configuration with which that StateVersion was applied, against the current state; nothing is rolled back without review and apply. The apply pins the Capsule (`autoUpdate.pinnedBy`, with `reason`): auto-update follows no commit until somebody resumes it, or, with `resumeOnNewCommit`, until the lane is at another commit."
    )
  }
}

export const commentsProse: GroupProse<typeof CommentsApi> = {
  about: "Comments on Runs.",
  routes: {
    list: route(
      "List the comments on a Run, oldest first",
      "Everybody who may read the Run reads them. A removed comment keeps its place, author and times, and has `removedAt` instead of `text`."
    ),
    write: route(
      "Comment on a Run",
      "Secrets that the service knows of the Run and its Capsule are masked before the comment is stored, as in logs; what is masked cannot be read again. `mentions` are active members of the Workspace (400 for anybody else): each person with a verified address gets a mail, on a server that sends mail. The mail has the link, never the text. The operation history only records that there is a comment. A Run keeps at most 1,000 comments (409 `failed_precondition`), for as long as the Run is kept."
    ),
    remove: route(
      "Remove your own comment",
      "Erases the text and the mentions; that there was a comment stays visible. Only its author may do this (403). A comment is never changed."
    )
  }
}
