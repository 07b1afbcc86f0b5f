import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { Subject } from "../../../schema/records/Ids.ts"
import { roleAtLeast, SubjectKind } from "../../../schema/records/Workspace.ts"
import { rowShape } from "../../base/database/Table.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { type ApprovalDecision, type ApprovalFacts, type GivenApproval, uselessBecause } from "./ApprovalDecision.ts"
import { approvalBy, planApproval } from "./PlanApproval.ts"

/** Returns the rules that still need approvals. */
const openRules = ({ tallies }: Pick<ApprovalDecision, "tallies">) =>
  tallies.flatMap(({ missing, rule }) => (missing > 0 ? [rule] : []))

/**
 * Returns the reason why an approval by this person would not count now, or `undefined` if it would. Only admins and owners may
 * approve.
 */
export const ineligibleBecause = (
  decision: Pick<ApprovalDecision, "tallies">,
  own: GivenApproval,
  facts: Pick<ApprovalFacts, "commitAuthors" | "planAuthors">
) =>
  own.role !== undefined && roleAtLeast(own.role, "admin") ? uselessBecause(openRules(decision), own, facts) : "role"

const Person = rowShape({ subject: Subject, kind: SubjectKind })

/** Returns the people whose approval of the plan would count now, except those who have already approved it. */
export const eligibleApprovers = Effect.fnUntraced(function* (run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const { decision, facts, given, place } = yield* planApproval(run)
  const members = yield* Person.rows(
    sql
  )`SELECT m.subject, u.kind FROM memberships m JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${run.workspace_id} AND m.status = 'active' AND u.status = 'active' AND u.kind = 'person'
    ORDER BY m.created_at, m.subject`
  const found: Array<Subject> = []
  for (const { subject } of members) {
    if (given.some(({ approver }) => approver === subject)) continue
    if (ineligibleBecause(decision, yield* approvalBy(place, subject), facts) === undefined) found.push(subject)
  }
  return found
}, Effect.orDie)
