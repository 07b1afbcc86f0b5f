import type { Departure, Invitation, Member, TokenRecord } from "../../../../src/dashboard/api/Types.ts"
import { ago } from "./Seeds.ts"

export const me = "usr_0000000000000001"

export const aiko = "usr_0000000000000002"

export const bruno = "usr_0000000000000003"

export const members: ReadonlyArray<Member> = [
  {
    subject: me,
    kind: "person",
    displayName: "Mina Sato",
    email: "mina@acme.example",
    role: "owner",
    status: "active",
    createdAt: ago(288_000),
    updatedAt: ago(288_000)
  },
  {
    subject: aiko,
    kind: "person",
    displayName: "Aiko Tanaka",
    email: "aiko@acme.example",
    role: "admin",
    status: "active",
    createdAt: ago(200_000),
    updatedAt: ago(200_000)
  },
  {
    subject: bruno,
    kind: "person",
    displayName: "Bruno Keller",
    email: "bruno@acme.example",
    role: "member",
    status: "active",
    createdAt: ago(90_000),
    updatedAt: ago(90_000)
  },
  {
    subject: "usr_0000000000000004",
    kind: "person",
    email: "guest@partner.example",
    role: "viewer",
    status: "invited",
    createdAt: ago(900),
    updatedAt: ago(900)
  },
  {
    subject: "usr_0000000000000005",
    kind: "automation",
    displayName: "Deploy from CI",
    role: "member",
    status: "active",
    createdAt: ago(5_000),
    updatedAt: ago(5_000)
  }
]

export const invitations: ReadonlyArray<Invitation> = [
  {
    id: "inv_0000000000000001",
    workspaceId: "ws_0000000000000001",
    role: "viewer",
    email: "guest@partner.example",
    status: "pending",
    invitedBy: me,
    createdAt: ago(900),
    expiresAt: ago(-9000)
  },
  {
    id: "inv_0000000000000002",
    workspaceId: "ws_0000000000000001",
    role: "member",
    status: "accepted",
    invitedBy: me,
    acceptedBy: bruno,
    createdAt: ago(90_100),
    expiresAt: ago(80_000),
    endedAt: ago(90_000)
  }
]

export const automationTokens: ReadonlyArray<TokenRecord> = [
  {
    token_id: "pat_0000000000000009",
    subject: "usr_0000000000000005",
    name: "Pipeline of the storefront",
    prefix: "svcp_8Kd2xT",
    scopes: ["read", "write", "environment:production"],
    workspace_id: "ws_0000000000000001",
    created_at: ago(5_000),
    expires_at: ago(-90_000),
    revoked_at: null,
    last_used_at: ago(12)
  }
]

/** Credentials that stop working when Aiko leaves. */
export const departure: Departure = {
  subject: aiko,
  tokens: [{ id: "pat_0000000000000010", name: "laptop", bound: false, lastUsedAt: ago(40) }],
  connections: [
    {
      connectionId: "conn_0000000000000004",
      displayName: "Deploy token",
      use: "sync",
      sourceId: "src_0000000000000001",
      name: "infrastructure"
    }
  ],
  keptTokens: [
    {
      id: "pat_0000000000000009",
      name: "Pipeline of the storefront",
      subject: "usr_0000000000000005",
      automation: "Deploy from CI"
    }
  ]
}
