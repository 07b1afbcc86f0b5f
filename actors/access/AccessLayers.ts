import { Layer } from "effect"
import { ApprovalRules } from "./approval/ApprovalRules.ts"
import { Approvals } from "./approval/Approvals.ts"
import { NoticeEndpoints } from "./notice/NoticeEndpoints.ts"
import { Teams } from "./team/Teams.ts"

/** The rules of approval, and the teams of Workspaces. Accounts and members are composed with the routes that serve them. */
export const access = Layer.mergeAll(Approvals.layer, ApprovalRules.layer, Teams.layer, NoticeEndpoints.layer)
