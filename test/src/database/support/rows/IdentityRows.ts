import { at, grant_id, id, later, producer, subject, times, workspace_id, type Rows } from "./RowValues.ts"

/** The issuer, a Capsule's Interfaces, and the upstream provider. */
export const identityRows: Rows = [
  [
    "oidc_signing_keys",
    { kid: "k", algorithm: "ES256", status: "active", public_jwk: "{}", private_jwk: "sealed", published_at: at }
  ],
  [
    "oidc_capsule_clients",
    {
      client_id: "cli_1",
      workspace_id,
      capsule_id: producer,
      redirect_uri: "https://a.test/cb",
      post_logout_paths: '["/goodbye"]',
      introspection_hash: "hash",
      scopes: "[]",
      status: "active",
      ...times
    }
  ],
  [
    "oidc_grants",
    {
      id: grant_id,
      client_id: "cli_1",
      subject,
      workspace_id,
      scopes: "[]",
      claims: "{}",
      auth_time: 1,
      created_at: at
    }
  ],
  ["oidc_refresh_tokens", { secret_hash: "r", grant_id, created_at: at, expires_at: later }],
  ["oidc_consents", { subject, client_id: "cli_1", workspace_id, scopes: "[]", updated_at: at }],
  [
    "interfaces",
    {
      id: id("ifc", "a"),
      workspace_id,
      capsule_id: producer,
      interface_key: "web",
      name: "web",
      type: "http",
      version: "1",
      document: "{}",
      inputs: "{}",
      access: "{}",
      status: "active",
      revision: 1,
      ...times
    }
  ],
  [
    "interface_bindings",
    {
      id: id("ifb", "a"),
      workspace_id,
      interface_id: id("ifc", "a"),
      subject,
      request_key: "r",
      permissions: "[]",
      delivery_type: "none",
      status: "active",
      ...times
    }
  ],
  [
    "generated_secrets",
    {
      id: "gen_1",
      workspace_id,
      capsule_id: producer,
      target: "t",
      bytes: 32,
      encoding: "base64",
      sealed_value: "sealed",
      created_at: at
    }
  ],
  [
    "upstream_identities",
    {
      issuer: "https://i.test",
      upstream_subject: "u",
      subject,
      verified_email: "a@example.com",
      created_at: at,
      last_used_at: at
    }
  ],
  [
    "upstream_sign_ins",
    {
      secret_hash: "u1",
      link_subject: subject,
      return_path: "/",
      expires_at: at,
      invitation_id: "inv_a",
      invitation_proof: "mail"
    }
  ],
  [
    "action_confirmations",
    {
      secret_hash: "c1",
      user_code_digest: "d",
      subject,
      holder: id("pat", "a"),
      asker_kind: "token",
      asker_name: "ci",
      workspace_id,
      action: "capsule.export",
      target_id: producer,
      status: "pending",
      interval_seconds: 2,
      created_at: at,
      expires_at: later
    }
  ]
]
