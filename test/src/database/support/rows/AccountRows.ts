import { at, id, later, subject, times, type Rows } from "./RowValues.ts"

/** A person and their sign-in methods. */
export const accountRows: Rows = [
  ["users", { subject, email: "ada@example.test", is_operator: 1, status: "active", ...times }],
  ["user_passwords", { subject, password_hash: "hash", updated_at: at }],
  ["setup_links", { id: "lnk_1", secret_hash: "h", purpose: "first_user", created_at: at, expires_at: later }],
  [
    "account_sessions",
    { id: "ses_1", secret_hash: "h", subject, method: "password", created_at: at, last_seen_at: at, expires_at: later }
  ],
  [
    "address_changes",
    {
      id: "adr_1",
      secret_hash: "h",
      subject,
      email: "b@example.test",
      proof: "operator",
      created_at: at,
      expires_at: later
    }
  ],
  ["totp_factors", { subject, secret: "sealed", created_at: at, failures: 0 }],
  ["recovery_codes", { id: "rcv_1", subject, code_hash: "h", created_at: at }],
  ["account_notices", { id: "ntc_1", subject, kind: "password", created_at: at }],
  [
    "access_tokens",
    {
      token_id: id("pat", "a"),
      secret_hash: "h",
      subject,
      name: "ci",
      prefix: "svc_",
      scopes: '["read"]',
      created_at: at
    }
  ],
  [
    "passkeys",
    {
      id: "pky_1",
      subject,
      credential_id: "c",
      public_key: "k",
      counter: 3,
      transports: "[]",
      device_type: "singleDevice",
      backed_up: 0,
      name: "laptop",
      created_at: at
    }
  ]
]
