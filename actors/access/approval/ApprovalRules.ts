import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import type { NewRule, RuleChange } from "../../../schema/api/ApprovalsApi.ts"
import { type ApiError, invalidRequest, notFound } from "../../../schema/errors/ApiError.ts"
import { ApprovalRule } from "../../../schema/records/Approval.ts"
import { ApprovalRuleId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { writeNotice } from "../../base/notice/Notices.ts"
import { newId, now } from "../../base/Identity.ts"
import { Cursors } from "../../base/paging/Cursors.ts"
import { type Page, pageOfRows, type PageRequest } from "../../base/paging/RowPages.ts"
import { type OwnerScope, requireOwner } from "../team/Teams.ts"
import { ApprovalRuleRow } from "./ApprovalRows.ts"
import { markReportsOfWorkspace } from "../../ledger/pull-request-report/ReportMarks.ts"

const decode = storedRecord(ApprovalRule)

export const toApprovalRule = (row: ApprovalRuleRow): ApprovalRule =>
  decode({
    id: row.id,
    workspaceId: row.workspace_id,
    ...(row.project_id === null ? {} : { projectId: row.project_id }),
    ...(row.environment === null ? {} : { environment: row.environment }),
    approvers: row.approvers,
    role: row.role,
    ...(row.team_id === null ? {} : { teamId: row.team_id }),
    planAuthorCounts: row.plan_author_counts === 1,
    commitAuthorCounts: row.commit_author_counts === 1,
    automationCounts: row.automation_counts === 1,
    carryOver: row.carry_over,
    createdAt: row.created_at,
    updatedAt: row.updated_at
  })

const flag = (value: boolean): 0 | 1 => (value ? 1 : 0)

/** Returns the columns that a change must update. */
const changed = (change: RuleChange) => ({
  ...(change.projectId === undefined ? {} : { project_id: change.projectId }),
  ...(change.environment === undefined ? {} : { environment: change.environment }),
  ...(change.approvers === undefined ? {} : { approvers: change.approvers }),
  ...(change.role === undefined ? {} : { role: change.role }),
  ...(change.teamId === undefined ? {} : { team_id: change.teamId }),
  ...(change.planAuthorCounts === undefined ? {} : { plan_author_counts: flag(change.planAuthorCounts) }),
  ...(change.commitAuthorCounts === undefined ? {} : { commit_author_counts: flag(change.commitAuthorCounts) }),
  ...(change.automationCounts === undefined ? {} : { automation_counts: flag(change.automationCounts) }),
  ...(change.carryOver === undefined ? {} : { carry_over: change.carryOver })
})

/**
 * The approval rules of Workspaces. The only writer of `approval_rules`. Only owners may change rules; the transaction of the
 * change checks this again.
 */
export class ApprovalRules extends Context.Service<
  ApprovalRules,
  {
    readonly list: (workspaceId: WorkspaceId, page: PageRequest) => Effect.Effect<Page<ApprovalRule>, ApiError>
    readonly create: (
      context: CommandContext,
      scope: OwnerScope,
      rule: NewRule
    ) => Effect.Effect<ApprovalRule, ApiError>
    readonly update: (
      context: CommandContext,
      scope: OwnerScope,
      id: ApprovalRuleId,
      change: RuleChange
    ) => Effect.Effect<ApprovalRule, ApiError>
    readonly remove: (context: CommandContext, scope: OwnerScope, id: ApprovalRuleId) => Effect.Effect<void, ApiError>
  }
>()("svc/actors/access/approval/ApprovalRules") {
  static readonly layer = Layer.effect(
    ApprovalRules,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const read = yield* ReadSql
      const audit = yield* Audit
      const cursors = yield* Cursors
      const withRandom = Effect.provideService(SecureRandom.SecureRandom, yield* SecureRandom.SecureRandom)

      const allowed = (scope: OwnerScope) =>
        requireOwner(scope, "Only owners can change approval rules.").pipe(
          Effect.provideService(SqlClient.SqlClient, sql)
        )

      const find = Effect.fnUntraced(function* ({ workspaceId }: OwnerScope, id: ApprovalRuleId) {
        const [row] = yield* Effect.orDie(
          ApprovalRuleRow.rows(sql)`SELECT * FROM approval_rules WHERE id = ${id} AND workspace_id = ${workspaceId}`
        )
        return row === undefined ? yield* notFound("Approval rule") : row
      })

      const belongs = Effect.fnUntraced(function* (scope: OwnerScope, table: "projects" | "teams", id: string) {
        const found = yield* Effect.orDie(
          sql`SELECT 1 AS one FROM ${sql(table)} WHERE id = ${id} AND workspace_id = ${scope.workspaceId}`
        )
        return found.length > 0
      })

      /** Checks that the Project and the team of a rule are in the rule's Workspace. */
      const check = Effect.fnUntraced(function* (scope: OwnerScope, { projectId, teamId }: RuleChange) {
        if (projectId != null && !(yield* belongs(scope, "projects", projectId))) {
          return yield* invalidRequest("projectId: no Project of this Workspace.")
        }
        if (teamId != null && !(yield* belongs(scope, "teams", teamId))) {
          return yield* invalidRequest("teamId: no team of this Workspace.")
        }
      })

      const reported = (
        context: CommandContext,
        change: "created" | "updated" | "removed",
        { id, workspace_id }: ApprovalRuleRow
      ) =>
        writeNotice(
          sql,
          "rule.changed",
          Effect.succeed({
            workspaceId: workspace_id,
            subject: { kind: "rule" as const, id },
            path: "settings/approvals",
            data: { ruleId: id, change, ...(context.actor.subject === undefined ? {} : { by: context.actor.subject }) }
          })
        )

      const audited = (context: CommandContext, action: string, row: ApprovalRuleRow) =>
        audit.append({
          workspaceId: row.workspace_id,
          actor: context.actor,
          action,
          target: { kind: "approval_rule", id: row.id },
          data: {
            projectId: row.project_id,
            environment: row.environment,
            approvers: row.approvers,
            role: row.role,
            teamId: row.team_id,
            planAuthorCounts: row.plan_author_counts === 1,
            commitAuthorCounts: row.commit_author_counts === 1,
            automationCounts: row.automation_counts === 1,
            carryOver: row.carry_over
          },
          requestId: context.requestId
        })

      return ApprovalRules.of({
        list: Effect.fn("ApprovalRules.list")(function* (workspaceId, page) {
          const list = {
            route: "approvals.rules",
            newestFirst: false,
            conditions: [read`workspace_id = ${workspaceId}`],
            filter: [workspaceId]
          }
          const found = yield* pageOfRows(ApprovalRuleRow, read, cursors, list, page)
          return { ...found, items: found.items.map(toApprovalRule) }
        }),
        create: Effect.fn("ApprovalRules.create")(function* (context, scope, rule) {
          yield* allowed(scope)
          yield* check(scope, rule)
          const at = yield* now
          const row: ApprovalRuleRow = {
            id: yield* newId(ApprovalRuleId, "apr").pipe(withRandom),
            workspace_id: scope.workspaceId,
            project_id: null,
            environment: null,
            approvers: rule.approvers,
            role: "admin",
            team_id: null,
            plan_author_counts: 0,
            commit_author_counts: 1,
            automation_counts: 0,
            carry_over: "off",
            created_at: at,
            updated_at: at,
            ...changed(rule)
          }
          yield* Effect.orDie(sql`INSERT INTO approval_rules ${ApprovalRuleRow.values(sql, row)}`)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "approval_rule.create", row)
          yield* reported(context, "created", row)
          return toApprovalRule(row)
        }, transaction(sql)),
        update: Effect.fn("ApprovalRules.update")(function* (context, scope, id, change) {
          yield* allowed(scope)
          yield* check(scope, change)
          const before = yield* find(scope, id)
          const row: ApprovalRuleRow = { ...before, ...changed(change), updated_at: yield* now }
          yield* Effect.orDie(sql`UPDATE approval_rules SET ${ApprovalRuleRow.changes(sql, row)} WHERE id = ${id}`)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "approval_rule.update", row)
          yield* reported(context, "updated", row)
          return toApprovalRule(row)
        }, transaction(sql)),
        remove: Effect.fn("ApprovalRules.remove")(function* (context, scope, id) {
          yield* allowed(scope)
          const row = yield* find(scope, id)
          yield* Effect.orDie(sql`DELETE FROM approval_rules WHERE id = ${id}`)
          yield* markReportsOfWorkspace(sql, scope.workspaceId)
          yield* audited(context, "approval_rule.remove", row)
          yield* reported(context, "removed", row)
        }, transaction(sql))
      })
    })
  )
}
