import { Schema } from "effect"
import { Rpc } from "effect/rpc"
import { ApiError } from "../errors/ApiError.ts"
import { ApprovalRequest } from "../records/Approval.ts"
import { ChangeApproval } from "../records/ChangeApproval.ts"
import { ChangeApprovalId, RunCommentId, RunId, Subject } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { RunComment } from "../records/RunComment.ts"
import { UncertainCode } from "../records/UncertainGround.ts"
import { CommandContext, commandsOf, IdempotentRequest, replayable } from "./Command.ts"

/** Commands that decide about one Run. They never wait for the Run, which executes outside the mailbox. */
export const RunCommands = commandsOf(
  "Run",
  RunId,
  Rpc.make("Approve", {
    payload: {
      context: CommandContext,
      planDigest: Schema.optional(Schema.String),
      comment: Schema.optional(Schema.String),
      /** The uncertainties that the approver acknowledges. A plan with an unacknowledged uncertainty cannot be approved. */
      acknowledged: Schema.optional(Schema.Array(UncertainCode))
    },
    success: Run,
    error: ApiError
  }),
  Rpc.make("ApproveChange", {
    payload: {
      context: CommandContext,
      planDigest: Schema.String,
      changeDigest: Schema.String,
      comment: Schema.optional(Schema.String),
      idempotency: Schema.optional(IdempotentRequest)
    },
    success: replayable(ChangeApproval),
    error: ApiError
  }),
  Rpc.make("WithdrawChange", {
    payload: { context: CommandContext, changeApprovalId: ChangeApprovalId },
    success: ChangeApproval,
    error: ApiError
  }),
  Rpc.make("AskApproval", { payload: { context: CommandContext }, success: ApprovalRequest, error: ApiError }),
  Rpc.make("Comment", {
    payload: {
      context: CommandContext,
      text: Schema.String,
      mentions: Schema.optional(Schema.Array(Subject)),
      idempotency: Schema.optional(IdempotentRequest)
    },
    success: replayable(RunComment),
    error: ApiError
  }),
  Rpc.make("RemoveComment", {
    payload: { context: CommandContext, commentId: RunCommentId },
    success: RunComment,
    error: ApiError
  }),
  Rpc.make("Cancel", {
    payload: {
      context: CommandContext,
      reason: Schema.optional(Schema.String),
      /** Digest of the plan that the person saw. A plan with a different digest is not discarded. */
      planDigest: Schema.optional(Schema.String)
    },
    success: Run,
    error: ApiError
  })
)
