import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ApprovalRules } from "../../../actors/access/approval/ApprovalRules.ts"
import { readRunApprovals } from "../../../actors/access/approval/RunApprovalReads.ts"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { Teams } from "../../../actors/access/team/Teams.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ApprovalRuleId, RunId, Subject, TeamId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const ownerScope = Effect.gen(function* () {
  const { subject } = yield* Caller
  return { workspaceId: yield* authorisedWorkspace, subject }
})

const ruleOf = (params: { readonly ruleId: string }) => pathId(ApprovalRuleId, params.ruleId, "Approval rule")
const teamOf = (params: { readonly teamId: string }) => pathId(TeamId, params.teamId, "Team")

/** Handlers for approval rules, and for the status of a plan under them. */
export const approvalHandlers = HttpApiBuilder.group(
  SvcApi,
  "approvals",
  Effect.fn(function* (handlers) {
    const rules = yield* ApprovalRules
    const read = yield* ReadSql
    const runCommands = yield* RunCommands
    return storedAnswers("approvals", handlers).handleAll({
      rules: Effect.fnUntraced(function* ({ query }) {
        const page = yield* rules.list(yield* authorisedWorkspace, yield* pageRequest(query))
        return { approvalRules: page.items, ...cursorOf(page) }
      }),
      createRule: Effect.fnUntraced(function* ({ payload }) {
        return { approvalRule: yield* rules.create(yield* commandContext, yield* ownerScope, payload) }
      }),
      updateRule: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* ruleOf(params)
        return { approvalRule: yield* rules.update(yield* commandContext, yield* ownerScope, id, payload) }
      }),
      removeRule: Effect.fnUntraced(function* ({ params }) {
        yield* rules.remove(yield* commandContext, yield* ownerScope, yield* ruleOf(params))
      }),
      ask: Effect.fnUntraced(function* ({ params }) {
        const id = yield* pathId(RunId, params.runId, "Run")
        return { approvalRequest: yield* runCommands.AskApproval(id, { context: yield* commandContext }) }
      }),
      ofRun: Effect.fnUntraced(function* ({ params }) {
        const { actor, subject } = yield* Caller
        const id = yield* pathId(RunId, params.runId, "Run")
        const reader = { subject: Subject.make(subject), tokenId: actor.tokenId }
        return { approvals: yield* readRunApprovals(id, reader).pipe(Effect.provideService(ReadSql, read)) }
      })
    })
  })
)

/** Handlers for the teams of a Workspace. */
export const teamHandlers = HttpApiBuilder.group(
  SvcApi,
  "teams",
  Effect.fn(function* (handlers) {
    const teams = yield* Teams
    return storedAnswers("teams", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* teams.list(yield* authorisedWorkspace, yield* pageRequest(query))
        return { teams: page.items, ...cursorOf(page) }
      }),
      create: Effect.fnUntraced(function* ({ payload }) {
        return { team: yield* teams.create(yield* commandContext, yield* ownerScope, payload) }
      }),
      update: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* teamOf(params)
        return { team: yield* teams.update(yield* commandContext, yield* ownerScope, id, payload) }
      }),
      remove: Effect.fnUntraced(function* ({ params }) {
        yield* teams.remove(yield* commandContext, yield* ownerScope, yield* teamOf(params))
      })
    })
  })
)
