import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ChangeApprovals } from "../../../actors/access/approval/ChangeApprovals.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { ChangeApproval } from "../../../schema/records/ChangeApproval.ts"
import { ChangeApprovalId, RunId } from "../../../schema/records/Ids.ts"
import { commandContext, maybeIdempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const runOf = (params: { readonly runId: string }) => pathId(RunId, params.runId, "Run")
const approveAnswer = repeatableAnswer(
  SvcApi.groups.changeApprovals.endpoints.approve,
  Schema.Struct({ changeApproval: ChangeApproval })
)

/** Handlers for approvals of the change in a speculative plan. */
export const changeApprovalHandlers = HttpApiBuilder.group(
  SvcApi,
  "changeApprovals",
  Effect.fn(function* (handlers) {
    const approvals = yield* ChangeApprovals
    const runCommands = yield* RunCommands
    return storedAnswers("changeApprovals", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ params }) {
        return { changeApprovals: yield* approvals.list(yield* runOf(params)) }
      }),
      approve: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* runOf(params)
        const idempotency = yield* maybeIdempotent(headers, { runId: id, ...payload })
        const { replayed, value } = yield* runCommands.ApproveChange(id, {
          context: yield* commandContext,
          ...payload,
          ...(idempotency === undefined ? {} : { idempotency })
        })
        return yield* approveAnswer({ changeApproval: value }, replayed)
      }),
      withdraw: Effect.fnUntraced(function* ({ params }) {
        const changeApprovalId = yield* pathId(ChangeApprovalId, params.changeApprovalId, "Approval of a change")
        const context = yield* commandContext
        return {
          changeApproval: yield* runCommands.WithdrawChange(yield* runOf(params), { context, changeApprovalId })
        }
      })
    })
  })
)
