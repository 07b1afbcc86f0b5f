import { at, connection_id, consumer, id, plan, source_id, workspace_id, type Rows } from "./RowValues.ts"

const pull_request_id = id("pr", "a")

/** svc's data about the pull request of `SourceRows`: the affected Capsule, the report and the comments that were read. */
export const pullRequestRows: Rows = [
  [
    "pull_request_capsules",
    {
      pull_request_id,
      capsule_id: consumer,
      head_commit: "0".repeat(40),
      touched: 1,
      because: "main.tf changed",
      run_id: plan
    }
  ],
  [
    "pull_request_reports",
    {
      id: pull_request_id,
      workspace_id,
      due: 2,
      taken: 1,
      seen: "seen",
      connection_id,
      repository_id: "7",
      comment_id: "8",
      comment_digest: "d",
      status_digest: "d",
      sent_at: at
    }
  ],
  ["comment_looks", { id: source_id, workspace_id, taken: 1, since: at, last_comment: "0" }]
]
