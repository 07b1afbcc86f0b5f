import { accountRows } from "./rows/AccountRows.ts"
import { workspaceRows } from "./rows/WorkspaceRows.ts"
import { sourceRows } from "./rows/SourceRows.ts"
import { capsuleRows } from "./rows/CapsuleRows.ts"
import { runRows } from "./rows/RunRows.ts"
import { approvalRows } from "./rows/ApprovalRows.ts"
import { pullRequestRows } from "./rows/PullRequestRows.ts"
import { identityRows } from "./rows/IdentityRows.ts"
import { agentRows } from "./rows/AgentRows.ts"
import { noticeRows } from "./rows/NoticeRows.ts"
import type { Rows } from "./rows/RowValues.ts"

/** A few rows as in a real installation, in dependency order. */
export const representativeRows: Rows = [
  ...accountRows,
  ...workspaceRows,
  ...sourceRows,
  ...capsuleRows,
  ...runRows,
  ...approvalRows,
  ...pullRequestRows,
  ...identityRows,
  ...agentRows,
  ...noticeRows
]
