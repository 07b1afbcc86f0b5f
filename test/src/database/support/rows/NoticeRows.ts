import { at, id, type Rows, subject, times, workspace_id } from "./RowValues.ts"

const endpoint_id = id("nep", "a")
const notice_id = id("ntc", "a")
const delivery_id = id("ndl", "a")
const about = `capsule:${id("cap", "a")}`

/** An endpoint with one attempted delivery, and a person's choice to receive a kind of notice by email. */
export const noticeRows: Rows = [
  [
    "notice_endpoints",
    {
      id: endpoint_id,
      workspace_id,
      name: "Operations",
      format: "json",
      host: "https://hooks.example.test",
      address: "v1.sealed",
      secret: "v1.sealed",
      secret_version: 1,
      kinds: JSON.stringify(["run.failed"]),
      filter: "{}",
      state: "active",
      created_by: subject,
      ...times
    }
  ],
  [
    "notices",
    {
      id: notice_id,
      workspace_id,
      kind: "run.failed",
      subject_kind: "capsule",
      subject_id: id("cap", "a"),
      path: `runs/${id("run", "a")}`,
      data: "{}",
      created_at: at
    }
  ],
  [
    "notice_deliveries",
    {
      id: delivery_id,
      notice_id,
      endpoint_id,
      kind: "run.failed",
      subject: about,
      sequence: 1,
      status: "waiting",
      attempts: 1,
      tries: 1,
      last_outcome: "timed_out",
      next_at: at,
      created_at: at
    }
  ],
  ["notice_attempts", { delivery_id, number: 1, at, outcome: "timed_out", milliseconds: 15000 }],
  ["notice_sequences", { endpoint_id, subject: about, last: 1 }],
  ["notice_mail_kinds", { subject, kind: "run.failed" }]
]
