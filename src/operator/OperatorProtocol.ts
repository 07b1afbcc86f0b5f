import { Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { User } from "../../actors/access/account/Users.ts"
import { VaultLocked } from "../../actors/base/vault/Sealing.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { AccountToken } from "../../schema/records/AccountToken.ts"
import { AccessTokenId, WorkspaceId } from "../../schema/records/Ids.ts"
import { Role } from "../../schema/records/Workspace.ts"
import { NoticeDelivery, NoticeEndpoint } from "../../schema/records/NoticeEndpoint.ts"
import { DeliveryRequest, NoticeChange, NoticeResult } from "./NoticeCommands.ts"
import { OperatorAuthorization } from "./OperatorAuthorization.ts"
import { OperatorList } from "./GrantCommands.ts"
import { DownloadedState, KeptOrphanedStates } from "./OrphanedStateCommands.ts"
import { AgentChange, EnrolmentRequest, IssuedEnrolment, PoolChange } from "./PoolCommands.ts"
import { ReleaseCommand, ReleasedRun } from "./ReleaseCommands.ts"
import { Agent, AgentPool } from "../../schema/records/AgentPool.ts"
import { RetentionReport } from "./RetentionCommands.ts"
import { RestoreDecision, RestoredRulesList, RestoreReviewList } from "./RestoreCommands.ts"
import { KeyRotation, KeyRotationRequest } from "./KeyCommands.ts"
import { PolicyReloaded } from "./PolicyCommands.ts"

const Secret = Schema.RedactedFromValue(Schema.String)
const credentials = { email: Schema.String, password: Secret }
const Link = Schema.Struct({
  secret: Secret,
  expiresAt: Schema.String,
  origin: Schema.optionalKey(Schema.UndefinedOr(Schema.String)),
  mailed: Schema.optionalKey(Schema.UndefinedOr(Schema.Boolean))
})

/** The operator's commands to the server that holds the data folder, over its socket. */
export const OperatorProtocol = RpcGroup.make(
  Rpc.make("CreateUser", {
    payload: credentials,
    success: Schema.Struct({ subject: Schema.String, email: Schema.String }),
    error: ApiError
  }),
  Rpc.make("CreateToken", {
    payload: {
      subject: Schema.String,
      name: Schema.String,
      scopes: Schema.Array(Schema.String),
      workspaceId: Schema.optionalKey(Schema.UndefinedOr(WorkspaceId)),
      expiresAt: Schema.optionalKey(Schema.UndefinedOr(Schema.String))
    },
    success: Schema.Struct({ secret: Secret, token: AccountToken }),
    error: ApiError
  }),
  Rpc.make("WithdrawToken", {
    payload: { subject: Schema.String, tokenId: AccessTokenId },
    success: Schema.Void,
    error: ApiError
  }),
  Rpc.make("SetupLink", { success: Link, error: ApiError }),
  Rpc.make("ResetLink", {
    payload: { email: Schema.String, mail: Schema.optionalKey(Schema.UndefinedOr(Schema.Boolean)) },
    success: Link,
    error: ApiError
  }),
  Rpc.make("AddressLink", {
    payload: { email: Schema.String, to: Schema.String },
    success: Link,
    error: ApiError
  }),
  Rpc.make("ListUsers", { success: Schema.Array(User) }),
  Rpc.make("SetUserStatus", {
    payload: { email: Schema.String, status: Schema.Literals(["active", "disabled"]) },
    success: Schema.Void,
    error: ApiError
  }),
  Rpc.make("DeleteUser", { payload: { email: Schema.String }, success: Schema.Void, error: ApiError }),
  Rpc.make("Invite", {
    payload: {
      email: Schema.optionalKey(Schema.UndefinedOr(Schema.String)),
      workspaceId: Schema.optionalKey(Schema.UndefinedOr(WorkspaceId)),
      role: Schema.optionalKey(Schema.UndefinedOr(Role))
    },
    success: Link,
    error: ApiError
  }),
  Rpc.make("SetPassword", { payload: credentials, success: Schema.Void, error: ApiError }),
  Rpc.make("ListRestoreReview", { success: RestoreReviewList }),
  Rpc.make("ListRestoredRules", { success: RestoredRulesList }),
  Rpc.make("DecideRestoreReview", { payload: RestoreDecision, success: RestoreReviewList, error: ApiError }),
  Rpc.make("ListOrphanedStates", { success: KeptOrphanedStates }),
  Rpc.make("DownloadOrphanedState", { payload: { id: Schema.String }, success: DownloadedState, error: ApiError }),
  Rpc.make("ListPools", { success: Schema.Array(AgentPool) }),
  Rpc.make("ChangePool", { payload: PoolChange, success: Schema.Array(AgentPool), error: ApiError }),
  Rpc.make("IssueEnrolmentToken", { payload: EnrolmentRequest, success: IssuedEnrolment, error: ApiError }),
  Rpc.make("ListAgents", { payload: { pool: Schema.optionalKey(Schema.String) }, success: Schema.Array(Agent) }),
  Rpc.make("ChangeAgent", { payload: AgentChange, success: Schema.Array(Agent), error: ApiError }),
  Rpc.make("ReleaseRun", { payload: ReleaseCommand, success: ReleasedRun, error: ApiError }),
  Rpc.make("SurveyRetention", { success: RetentionReport }),
  Rpc.make("Prune", { success: RetentionReport }),
  Rpc.make("ReloadPolicy", { success: PolicyReloaded, error: ApiError }),
  Rpc.make("ListNoticeEndpoints", { success: Schema.Array(NoticeEndpoint), error: ApiError }),
  Rpc.make("ChangeNoticeEndpoint", { payload: NoticeChange, success: NoticeResult, error: ApiError }),
  Rpc.make("ListNoticeDeliveries", {
    payload: DeliveryRequest,
    success: Schema.Array(NoticeDelivery),
    error: ApiError
  }),
  Rpc.make("ListOperators", { success: OperatorList }),
  Rpc.make("GrantOperator", { payload: { account: Schema.String }, success: OperatorList, error: ApiError }),
  Rpc.make("RevokeOperator", { payload: { account: Schema.String }, success: OperatorList, error: ApiError }),
  Rpc.make("RotateKeys", { payload: KeyRotationRequest, success: KeyRotation, error: VaultLocked }),
  // Identifies the responding server, if several servers share a database.
  Rpc.make("Node", { success: Schema.NullOr(Schema.Struct({ id: Schema.String, label: Schema.String })) })
).middleware(OperatorAuthorization)
