import type { AccountTokenScopeCatalog } from "../../../../schema/records/AccountToken.ts"
import type { TokenRecord } from "../../../../src/dashboard/api/Types.ts"
import { me } from "./People.ts"
import { ago, text } from "./Seeds.ts"
import { workspaceId } from "./Workspaces.ts"

export const tokens: ReadonlyArray<TokenRecord> = [
  {
    token_id: "pat_0000000000000001",
    subject: me,
    name: "CI deploys",
    prefix: "svcp_4f9A",
    scopes: ["read", "write"],
    workspace_id: workspaceId,
    created_at: ago(90_000),
    expires_at: null,
    revoked_at: null,
    last_used_at: ago(25)
  },
  {
    token_id: "pat_0000000000000002",
    subject: me,
    name: "laptop",
    prefix: "svcp_Qz1x",
    scopes: ["read"],
    workspace_id: null,
    created_at: ago(190_000),
    expires_at: ago(100),
    revoked_at: null,
    last_used_at: ago(70_000)
  },
  {
    token_id: "pat_0000000000000003",
    subject: me,
    name: "old script",
    prefix: "svcp_aa0B",
    scopes: ["read"],
    workspace_id: null,
    created_at: ago(290_000),
    expires_at: null,
    revoked_at: ago(1000),
    last_used_at: null
  }
]

export const tokenScopes: (typeof AccountTokenScopeCatalog.Encoded)["scopes"] = [
  {
    scope: "read",
    label: text("Read", "読み取り"),
    description: text("See everything you can see.", "あなたが閲覧できるものをすべて閲覧します。"),
    selfService: true,
    workspaceBinding: "optional"
  },
  {
    scope: "write",
    label: text("Write", "書き込み"),
    description: text(
      "Do everything you can do, approvals included.",
      "承認を含め、あなたができる操作をすべて行います。"
    ),
    selfService: true,
    workspaceBinding: "optional"
  }
]
