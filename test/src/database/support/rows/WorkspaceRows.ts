import { at, id, later, plan, producer, source_id, subject, times, workspace_id, type Rows } from "./RowValues.ts"

/** A Workspace, its members, and its records. */
export const workspaceRows: Rows = [
  ["workspaces", { id: workspace_id, handle: "alpha", display_name: "Alpha", type: "organization", ...times }],
  ["memberships", { id: id("mbr", "a"), workspace_id, subject, role: "owner", status: "active", ...times }],
  [
    "invitations",
    {
      id: id("inv", "a"),
      secret_hash: "h",
      workspace_id,
      role: "member",
      stand_in: id("usr", "b"),
      invited_by: subject,
      status: "pending",
      created_at: at,
      expires_at: later
    }
  ],
  ["projects", { id: id("prj", "a"), workspace_id, name: "Default", slug: "default", is_default: 1, ...times }],
  [
    "vault_data_keys",
    {
      id: "key_1",
      record_kind: "connections",
      workspace_id,
      master_key_id: "m",
      wrapped_key: "w",
      status: "active",
      created_at: at,
      wrapped_at: at
    }
  ],
  [
    "audit_events",
    {
      id: id("act", "a"),
      workspace_id,
      actor_kind: "session",
      actor_subject: subject,
      action: "capsule.update",
      target_kind: "capsule",
      target_id: producer,
      data: '{"fields":["autoUpdate"]}',
      created_at: at
    }
  ],
  [
    "audit_events",
    {
      id: id("act", "b"),
      workspace_id,
      actor_kind: "session",
      actor_subject: subject,
      action: "source.create",
      target_kind: "source",
      target_id: source_id,
      data: "{}",
      created_at: at
    }
  ],
  [
    "idempotency_receipts",
    {
      scope: workspace_id,
      actor: subject,
      route: "runs",
      idempotency_key: "k",
      request_digest: "d",
      result_id: plan,
      first_status: 201,
      created_at: at
    }
  ],
  [
    "mails",
    {
      id: "mail_a",
      recipient: "a@example.com",
      kind: "notice",
      attempts: 1,
      next_at: at,
      expires_at: at,
      created_at: at,
      ended_at: at,
      outcome: "sent"
    }
  ],
  [
    "mails",
    {
      id: "mail_b",
      recipient: "b@example.com",
      sender: subject,
      workspace_id,
      kind: "invitation",
      attempts: 1,
      next_at: at,
      expires_at: at,
      created_at: at,
      ended_at: at,
      outcome: "sent"
    }
  ],
  ["provisioned_memberships", { workspace_id, subject, role: "member", updated_at: at }],
  ["retention_tallies", { workspace_id, kind: "runs", records: 1, bytes: 2 }]
]
