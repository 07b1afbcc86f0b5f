import { DateTime, Duration, Effect } from "effect"
import { SqlClient } from "effect/sql"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { ApiError, failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import type { ApprovalRequest } from "../../../schema/records/Approval.ts"
import { RunId, Subject } from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { SubjectKind } from "../../../schema/records/Workspace.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { rowShape, table } from "../../base/database/Table.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { Mails } from "../../base/mail/Mails.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { StoredWorkspace } from "../../ledger/workspace/StoredWorkspace.ts"
import { StoredUser, verifiedAddress } from "../account/UserRow.ts"
import { openRules } from "./ApprovalDecision.ts"
import { ineligibleBecause } from "./ApproverEligibility.ts"
import { approvalBy, planApproval } from "./PlanApproval.ts"

/** The last request to approve a plan. */
export const ApprovalRequestRow = table("run_approval_requests", {
  run_id: RunId,
  subject: Subject,
  created_at: Timestamp
})

/** Minimum time between two requests to approve the same plan. */
const between = Duration.hours(1)
/** Maximum number of emails per request. */
const mostMails = 50

const refuseSoon = Effect.fnUntraced(function* (id: RunId, at: DateTime.Utc) {
  const sql = yield* SqlClient.SqlClient
  const [last] = yield* Effect.orDie(ApprovalRequestRow.some(sql, "created_at")`SELECT created_at
    FROM run_approval_requests WHERE run_id = ${id}`)
  if (last === undefined) return
  const free = DateTime.addDuration(DateTime.makeUnsafe(last.created_at), between)
  if (DateTime.isGreaterThanOrEqualTo(at, free)) return
  return yield* new ApiError({
    code: "rate_limited",
    message: "Somebody asked for the approval of this plan within the last hour. Nothing was sent again.",
    retryAfter: Math.max(1, Math.ceil(Duration.toSeconds(DateTime.distance(at, free))))
  })
})

const Person = rowShape({ subject: Subject, kind: SubjectKind })

/** Returns the people whose approval of the plan would count now, except those who have already approved it. */
const eligibleApprovers = Effect.fnUntraced(function* (run: RunRow) {
  const sql = yield* SqlClient.SqlClient
  const { decision, facts, given, place } = yield* planApproval(run)
  const open = openRules(decision)
  const members = yield* Person.rows(
    sql
  )`SELECT m.subject, u.kind FROM memberships m JOIN users u ON u.subject = m.subject
    WHERE m.workspace_id = ${run.workspace_id} AND m.status = 'active' AND u.status = 'active' AND u.kind = 'person'
    ORDER BY m.created_at, m.subject`
  const found: Array<Subject> = []
  for (const { subject } of members) {
    if (given.some(({ approver }) => approver === subject)) continue
    if (ineligibleBecause(open, yield* approvalBy(place, subject), facts) === undefined) found.push(subject)
  }
  return found
}, Effect.orDie)

/**
 * Asks the people who may approve a plan to approve it. They get an entry in their attention lists and, if the server sends
 * emails, an email.
 */
export const askForApproval = Effect.fn("askForApproval")(function* (id: RunId, context: CommandContext) {
  const sql = yield* SqlClient.SqlClient
  const mails = yield* Mails
  const [run] = yield* Effect.orDie(RunRow.rows(sql)`SELECT * FROM runs WHERE id = ${id}`)
  if (run === undefined) return yield* notFound("Run")
  if (!isPlan(run.type) || run.status !== "waiting_approval") {
    return yield* failedPrecondition(`The Run is ${run.status}, so nobody can be asked for an approval.`)
  }
  const at = yield* DateTime.now
  yield* refuseSoon(id, at)
  if (context.actor.subject === undefined) return yield* Effect.die(new Error("A request without a person"))
  const subject = Subject.make(context.actor.subject)
  const approvers = (yield* eligibleApprovers(run)).filter((approver) => approver !== subject)
  const created_at = DateTime.formatIso(at)
  yield* Effect.orDie(sql`DELETE FROM run_approval_requests WHERE run_id = ${id}`)
  yield* Effect.orDie(
    sql`INSERT INTO run_approval_requests ${ApprovalRequestRow.values(sql, { run_id: id, subject, created_at })}`
  )
  yield* (yield* Audit).append({
    workspaceId: run.workspace_id,
    actor: context.actor,
    action: "run.ask_approval",
    target: { kind: "run", id },
    capsuleId: run.capsule_id ?? undefined,
    runId: id,
    data: { type: run.type, asked: approvers.length },
    requestId: context.requestId
  })
  if (mails.baseUrl !== undefined) {
    const [workspace] = yield* Effect.orDie(
      StoredWorkspace.some(sql, "handle")`SELECT handle FROM workspaces WHERE id = ${run.workspace_id}`
    )
    const [capsule] = yield* Effect.orDie(CapsuleRow.some(sql, "name")`SELECT name FROM capsules
      WHERE id = ${run.capsule_id}`)
    const [user] = yield* Effect.orDie(StoredUser.some(sql, "email", "display_name")`SELECT email, display_name
      FROM users WHERE subject = ${subject}`)
    const link = `${mails.baseUrl}/w/${workspace?.handle ?? run.workspace_id}/runs/${id}`
    const person = user?.display_name ?? user?.email ?? subject
    for (const approver of approvers.slice(0, mostMails)) {
      const address = yield* verifiedAddress(approver)
      if (address === undefined) continue
      yield* mails.queue(
        address,
        { kind: "approval_request", link, person, capsule: capsule?.name },
        { subject, workspaceId: run.workspace_id }
      )
    }
  }
  const request: ApprovalRequest = { runId: id, subject, at: created_at, asked: approvers.length }
  return request
}, transacted)
