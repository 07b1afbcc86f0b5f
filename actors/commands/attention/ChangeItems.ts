import { Effect, Schema, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { PullRequestId, type WorkspaceId } from "../../../schema/records/Ids.ts"
import { planApproval } from "../../access/approval/PlanApproval.ts"
import { ownStanding, type Reader } from "../../access/approval/RunApprovalReads.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { capsuleProgress, isStale } from "../../ledger/pull-request-report/CapsuleProgress.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import type { OpenItem } from "./AttentionDecision.ts"

/** Maximum number of plans for which the approval rules are evaluated. */
const mostChanges = 200

const Change = rowShape({
  ...Struct.pick(RunRow.columns, [
    "id",
    "type",
    "purpose",
    "capsule_id",
    "source_snapshot_id",
    "created_by",
    "trigger_kind"
  ]),
  ...Struct.pick(CapsuleRow.columns, ["name", "environment"]),
  ...Struct.pick(PullRequestRow.columns, ["number", "title"]),
  pull_request_id: PullRequestId,
  at: Schema.String
})
type Change = RowOf<typeof Change.columns>

const matches = `a.workspace_id = c.workspace_id AND (a.project_id IS NULL OR a.project_id = c.project_id)
  AND (a.environment IS NULL OR a.environment = c.environment)`

/**
 * Selects the plans of open pull requests with a change that people may approve now. Unless a rule carries approvals over to
 * the apply, approving the change has no effect, so no entry asks for an approval.
 */
const changesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* Change.rows(sql)`SELECT r.id, r.type, r.purpose, r.capsule_id, r.source_snapshot_id, r.created_by,
      r.trigger_kind, COALESCE(r.finished_at, r.created_at) AS at, c.name, c.environment, p.id AS pull_request_id,
      p.number, p.title
    FROM pull_requests p JOIN pull_request_capsules j ON j.pull_request_id = p.id AND j.head_commit = p.head_commit
      JOIN runs r ON r.id = j.run_id JOIN capsules c ON c.id = j.capsule_id
    WHERE p.merge_group IS NULL AND p.workspace_id = ${workspaceId} AND p.state = 'open' AND COALESCE(p.draft, 0) = 0 AND j.touched = 1
      AND r.status = 'succeeded' AND r.change_digest IS NOT NULL
      AND EXISTS (SELECT 1 FROM approval_rules a WHERE ${sql.literal(matches)})
      AND NOT EXISTS (SELECT 1 FROM approval_rules a WHERE ${sql.literal(matches)} AND a.carry_over = 'off')
    ORDER BY p.created_at DESC, p.id, c.name, r.id LIMIT ${mostChanges}`
  const progress = yield* capsuleProgress(sql, [...new Set(rows.map(({ pull_request_id }) => pull_request_id))])
  const open = new Set(
    progress.flatMap((one) =>
      one.row.run_id !== null && (one.verdict === "planned" || one.verdict === "approved") && !isStale(one)
        ? [one.row.run_id]
        : []
    )
  )
  return rows.filter(({ id }) => open.has(id))
}, Effect.orDie)

const byPullRequest = (changes: ReadonlyArray<Change>) => {
  const found = new Map<PullRequestId, Array<Change>>()
  for (const change of changes) {
    found.set(change.pull_request_id, [...(found.get(change.pull_request_id) ?? []), change])
  }
  return found
}

/**
 * Returns one entry for each open pull request with a change that needs approvals. The entry contains the Capsules whose change
 * this person may approve, or else the Capsules that wait for other people.
 */
export const changeItems = Effect.fn("changeItems")(function* (workspaceId: WorkspaceId, reader: Reader) {
  const own: Array<Change> = []
  const others: Array<Change> = []
  for (const change of yield* changesOf(workspaceId)) {
    const approval = yield* planApproval(change)
    if (approval.decision.state === "approved") continue
    const { status } = yield* ownStanding(approval, reader)
    if (status === "counts") own.push(change)
    else others.push(change)
  }
  const [ofReader, ofOthers] = [byPullRequest(own), byPullRequest(others)]
  return [...new Set([...ofReader.keys(), ...ofOthers.keys()])].flatMap((id): ReadonlyArray<OpenItem> => {
    const shown = ofReader.get(id) ?? ofOthers.get(id) ?? []
    const [first] = shown
    if (first === undefined) return []
    return [
      {
        key: `waiting_change ${id}`,
        group: "decision",
        kind: "waiting_change",
        also: [],
        since: shown.reduce((latest, { at }) => (at > latest ? at : latest), first.at),
        capsules: shown.flatMap(({ capsule_id, environment, name }) =>
          capsule_id === null ? [] : [{ id: capsule_id, name, environment }]
        ),
        pullRequest: { id, number: first.number, ...(first.title === null ? {} : { title: first.title }) },
        ...(ofReader.has(id) ? {} : { waitsForOthers: true })
      }
    ]
  })
})
