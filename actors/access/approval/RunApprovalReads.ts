import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { RunApprovals } from "../../../schema/records/Approval.ts"
import type { RunId, Subject } from "../../../schema/records/Ids.ts"
import { isPlan } from "../../../schema/records/RunTransitions.ts"
import { peopleBehind } from "../account/PeopleBehind.ts"
import { ReadSql } from "../../base/database/ReadSql.ts"
import { storedRecord } from "../../base/database/StoredRecord.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { openRules, waitingWords } from "./ApprovalDecision.ts"
import { toApprovalRule } from "./ApprovalRules.ts"
import { ineligibleBecause } from "./ApproverEligibility.ts"
import { approvalBy, type PlanApproval, planApproval } from "./PlanApproval.ts"

const decode = storedRecord(RunApprovals)

/** The reader, and the token that they used. */
export interface Reader {
  readonly subject: Subject
  readonly tokenId?: string | undefined
}

/** Determines whether the reader's own approval would count. */
export const ownStanding = Effect.fnUntraced(function* (
  { decision, facts, given, place }: PlanApproval,
  actor: Reader
) {
  const { subject, tokenId } = actor
  if (given.some(({ approver }) => approver === subject)) return { status: "given" as const }
  if (decision.state === "approved") return { status: "not_needed" as const }
  const own = yield* approvalBy(place, subject, yield* peopleBehind({ subject, tokenId }))
  const problem = ineligibleBecause(openRules(decision), own, facts)
  return problem === undefined ? { status: "counts" as const } : { status: "does_not_count" as const, problem }
})

/**
 * Returns the approvals that a plan has, the approvals that it still needs, and the reason why it is waiting. Includes only
 * what this reader may see.
 */
export const readRunApprovals = Effect.fn("readRunApprovals")(function* (id: RunId, reader: Reader) {
  const read = yield* ReadSql
  const [run] = yield* Effect.orDie(RunRow.rows(read)`SELECT * FROM runs WHERE id = ${id}`)
  if (run === undefined) return yield* notFound("Run")
  if (!isPlan(run.type)) return yield* failedPrecondition("Only a plan, destroy plan or restore is approved.")
  const standing = yield* planApproval(run).pipe(Effect.provideService(SqlClient.SqlClient, read))
  const { decision, facts, given, ground, open: uncertain, rules, teamNames } = standing
  const tallies = new Map(decision.tallies.map((tally) => [tally.rule.id, tally]))
  return decode({
    runId: id,
    state: decision.state,
    message: waitingWords(decision, teamNames) ?? "The plan has the approvals that it needs.",
    approvals: given.map(({ approver, comment, created_at }) => {
      const problem = decision.lapsed.get(approver)
      return {
        approver,
        kind: facts.approvals.find((approval) => approval.approver === approver)?.kind ?? "person",
        ...(comment === null ? {} : { comment }),
        createdAt: created_at,
        ...(problem === undefined ? {} : { problem })
      }
    }),
    rules: rules.map((row) => {
      const tally = tallies.get(row.id)
      const teamName = row.team_id === null ? undefined : teamNames.get(row.team_id)
      return {
        rule: toApprovalRule(row),
        ...(teamName === undefined ? {} : { teamName }),
        approvedBy: tally?.approvedBy ?? [],
        missing: tally?.missing ?? 0
      }
    }),
    authors: [...facts.planAuthors].map(([subject, part]) => ({ subject, part })),
    ...(ground.length === 0
      ? {}
      : {
          uncertain: ground.map((each) => ({
            code: each.code,
            message: `${each.summary} ${each.detail}`,
            acknowledged: !uncertain.includes(each)
          }))
        }),
    own: yield* ownStanding(standing, reader).pipe(Effect.provideService(SqlClient.SqlClient, read))
  })
})
