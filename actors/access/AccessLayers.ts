import { Layer } from "effect"
import { ApprovalRules } from "./approval/ApprovalRules.ts"
import { Approvals } from "./approval/Approvals.ts"
import { ChangeApprovals } from "./approval/ChangeApprovals.ts"
import { NoticeEndpoints } from "./notice/NoticeEndpoints.ts"
import { Teams } from "./team/Teams.ts"

/**
 * Layers for the approval rules and teams of Workspaces. The layers of accounts and members are composed with their routes.
 */
export const access = Layer.mergeAll(
  Approvals.layer,
  ChangeApprovals.layer,
  ApprovalRules.layer,
  Teams.layer,
  NoticeEndpoints.layer
)
