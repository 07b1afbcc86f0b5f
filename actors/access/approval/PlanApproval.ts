import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import type { Approver } from "../../../schema/records/Approval.ts"
import { type Subject, Subject as SubjectId, type TeamId } from "../../../schema/records/Ids.ts"
import { peopleBehind, SubjectsJson } from "../account/PeopleBehind.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { rowShape } from "../../base/database/Table.ts"
import { changeAuthors } from "../../ledger/run/ChangeBases.ts"
import { isSpeculative, type RunRow } from "../../ledger/run/RunRow.ts"
import { AuthorsJson, SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { type CapsulePlace, type CurrentRights, currentRights } from "../team/CurrentRights.ts"
import { TeamRow } from "../team/Teams.ts"
import { type ApprovalFacts, decideApproval } from "./ApprovalDecision.ts"
import { AcknowledgedJson, ApprovalRuleRow, ChangeApprovalRow, RunApprovalRow } from "./ApprovalRows.ts"
import type { BindingRule, GivenApproval } from "./ApproverEligibility.ts"
import { authorsOfPlan } from "./PlanAuthors.ts"
import { unacknowledged, uncertainGround } from "./UncertainGround.ts"

/** The plan to decide about. */
export type ApprovedPlan = Pick<
  RunRow,
  "id" | "type" | "purpose" | "capsule_id" | "source_snapshot_id" | "created_by" | "trigger_kind"
>

export const toBindingRule = (row: ApprovalRuleRow): BindingRule => ({
  id: row.id,
  approvers: row.approvers,
  role: row.role,
  ...(row.team_id === null ? {} : { teamId: row.team_id }),
  planAuthorCounts: row.plan_author_counts === 1,
  commitAuthorCounts: row.commit_author_counts === 1,
  automationCounts: row.automation_counts === 1
})

const Person = rowShape({ address: Schema.String, subject: SubjectId })

/**
 * Returns the addresses of the authors of a plan's commit. For a speculative plan, also returns the addresses of the authors
 * of every commit between its base and its head.
 */
const addressesOf = Effect.fnUntraced(function* (plan: ApprovedPlan) {
  const sql = yield* SqlClient.SqlClient
  const [snapshot] = yield* SnapshotRow.some(
    sql,
    "authors"
  )`SELECT authors FROM source_snapshots WHERE id = ${plan.source_snapshot_id}`
  if (snapshot === undefined || snapshot.authors === null) return []
  const addresses = AuthorsJson.read(snapshot.authors)
  if (!isSpeculative(plan)) return addresses
  const between = yield* changeAuthors(plan.id)
  return between === undefined ? [] : [...new Set([...addresses, ...between])]
})

/** Returns, for each address, the accounts whose own address it is or for which an upstream provider verified it. */
export const accountsWith = Effect.fnUntraced(function* (addresses: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const rows =
    addresses.length === 0
      ? []
      : yield* Person.rowsOnce(sql)`SELECT email AS address, subject FROM users WHERE ${sql.in("email", addresses)}
          UNION SELECT verified_email, subject FROM upstream_identities WHERE ${sql.in("verified_email", addresses)}`
  return Map.groupBy(rows, ({ address }) => address)
})

/** Finds the authors of a plan's commits who have an account. */
const authorsOf = Effect.fnUntraced(function* (plan: ApprovedPlan) {
  const addresses = yield* addressesOf(plan)
  if (addresses.length === 0) return "unknown" as const
  const people = [...(yield* accountsWith(addresses)).values()].flat()
  return new Set<Subject>(people.map(({ subject }) => subject))
})

const serviceApproval: GivenApproval = {
  approver: "service",
  kind: "automation",
  role: undefined,
  teamIds: new Set(),
  behind: []
}

/**
 * Returns the approval of one approver, with their current permissions. `behind` lists the people who were recorded as being
 * behind an automation's approval; if it is absent, the current ones are read.
 */
export const approvalBy = Effect.fn("approvalBy")(function* (
  place: CapsulePlace | undefined,
  approver: Approver,
  behind?: ReadonlyArray<Subject>
): Effect.fn.Return<GivenApproval, never, SqlClient.SqlClient> {
  if (approver === "service") return serviceApproval
  const rights = place === undefined ? new Map<Subject, CurrentRights>() : yield* currentRights(place, [approver])
  return {
    approver,
    behind: behind ?? (yield* peopleBehind({ subject: approver })),
    ...(rights.get(approver) ?? { kind: "person", role: undefined, teamIds: new Set<TeamId>() })
  }
})

/** Returns the Capsule of a plan. A plan without a Capsule can be approved but never applied. */
const capsuleOf = Effect.fnUntraced(function* (plan: Pick<RunRow, "capsule_id">) {
  const sql = yield* SqlClient.SqlClient
  const [capsule] = yield* CapsuleRow.some(
    sql,
    "workspace_id",
    "project_id",
    "environment",
    "auto_update_by",
    "auto_update_authors"
  )`SELECT workspace_id, project_id, environment, auto_update_by, auto_update_authors
    FROM capsules WHERE id = ${plan.capsule_id}`
  return capsule
}, Effect.orDie)

/** Returns the rules of a Workspace. */
export const rulesWithin = Effect.fnUntraced(function* (workspaceId: CapsulePlace["workspaceId"]) {
  const sql = yield* SqlClient.SqlClient
  return yield* ApprovalRuleRow.rows(sql)`SELECT * FROM approval_rules WHERE workspace_id = ${workspaceId}
    ORDER BY created_at, id`
})

/** Returns true for the rules that bind the plans of Capsules in this place. */
export const bindsPlace =
  ({ environment, projectId }: CapsulePlace) =>
  (rule: Pick<ApprovalRuleRow, "environment" | "project_id">): boolean =>
    (rule.project_id === null || rule.project_id === projectId) &&
    (rule.environment === null || rule.environment === environment)

const rulesOf = (place: CapsulePlace | undefined) =>
  place === undefined
    ? Effect.succeed([])
    : Effect.map(rulesWithin(place.workspaceId), (rules) => rules.filter(bindsPlace(place)))

/** Returns the approvals of a plan. For a speculative plan, returns the approvals of its change. */
const givenTo = Effect.fnUntraced(function* (plan: ApprovedPlan) {
  const sql = yield* SqlClient.SqlClient
  if (!isSpeculative(plan)) {
    return yield* RunApprovalRow.rows(
      sql
    )`SELECT * FROM run_approvals WHERE run_id = ${plan.id} ORDER BY created_at, approver`
  }
  const given = yield* ChangeApprovalRow.rows(sql)`SELECT * FROM change_approvals
    WHERE run_id = ${plan.id} AND withdrawn_at IS NULL ORDER BY created_at, subject`
  return given.map(
    ({ behind, comment, created_at, run_id, subject }): RunApprovalRow => ({
      run_id,
      approver: subject,
      comment,
      created_at,
      behind,
      acknowledged: null
    })
  )
})

/**
 * Decides, in the caller's transaction, whether a plan may be applied. Considers the rules that match the plan's Capsule,
 * the plan's approvals with the approvers' current permissions, and the uncertainty about the Capsule's objects. Every
 * approval and apply uses this decision.
 */
export const planApproval = Effect.fn("planApproval")(function* (plan: ApprovedPlan) {
  const sql = yield* SqlClient.SqlClient
  const capsule = yield* capsuleOf(plan)
  const place: CapsulePlace | undefined =
    capsule === undefined
      ? undefined
      : { workspaceId: capsule.workspace_id, projectId: capsule.project_id, environment: capsule.environment }
  const rules = yield* rulesOf(place)
  const given = yield* givenTo(plan)
  const isAuthorAsked = rules.some(({ commit_author_counts }) => commit_author_counts === 0)
  const approvals: Array<GivenApproval> = []
  for (const { approver, behind } of given) {
    const recorded = behind === null ? undefined : SubjectsJson.read(behind)
    const approval = yield* approvalBy(place, approver, recorded)
    approvals.push(approval)
  }
  // Ignore the uncertainty for a restore: a restore replaces the state, so uncertainty about the current objects does not
  // matter.
  const ground = plan.type === "restore" ? [] : yield* uncertainGround(plan.capsule_id)
  const acknowledged = given.flatMap((row) =>
    row.acknowledged === null ? [] : AcknowledgedJson.read(row.acknowledged)
  )
  const teams =
    place === undefined || rules.length === 0
      ? []
      : yield* TeamRow.some(sql, "id", "name")`SELECT id, name FROM teams WHERE workspace_id = ${place.workspaceId}`
  const facts: ApprovalFacts = {
    rules: rules.map(toBindingRule),
    approvals,
    planAuthors: yield* authorsOfPlan(plan, capsule),
    commitAuthors: isAuthorAsked ? yield* authorsOf(plan) : new Set<Subject>()
  }
  return {
    place,
    rules,
    given,
    facts,
    decision: decideApproval(facts),
    ground,
    /** The uncertainties that no approval of the plan has acknowledged. */
    open: unacknowledged(ground, acknowledged),
    teamNames: new Map<TeamId, string>(teams.map(({ id, name }) => [id, name]))
  }
}, Effect.orDie)
export type PlanApproval = Effect.Success<ReturnType<typeof planApproval>>

/**
 * Decides, in the caller's transaction, whether a plan of the lane may be applied, using the approvals of the same change in
 * a speculative plan. The authors of both plans and of all their commits are treated as authors.
 */
export const carriedApproval = Effect.fn("carriedApproval")(function* (plan: ApprovedPlan, change: ApprovedPlan) {
  const own = yield* planApproval(plan)
  const reviewed = yield* planApproval(change)
  const [after, before] = [own.facts.commitAuthors, reviewed.facts.commitAuthors]
  const decision = decideApproval({
    rules: own.facts.rules,
    approvals: reviewed.facts.approvals,
    planAuthors: new Map([...reviewed.facts.planAuthors, ...own.facts.planAuthors]),
    commitAuthors: after === "unknown" || before === "unknown" ? "unknown" : new Set([...after, ...before])
  })
  return { decision, rules: own.rules, ground: own.ground, teamNames: own.teamNames }
})
