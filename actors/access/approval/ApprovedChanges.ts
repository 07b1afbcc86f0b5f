import { Effect, Struct } from "effect"
import { SqlClient } from "effect/sql"
import type { RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import { type RowOf, rowShape } from "../../base/database/Table.ts"
import { CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import { addressesBetween, ChangeBasisRow } from "../../ledger/run/ChangeBases.ts"
import { RunRow } from "../../ledger/run/RunRow.ts"
import { AuthorsJson, SnapshotRow } from "../../ledger/source/SourceRow.ts"
import { SubjectsJson } from "../account/PeopleBehind.ts"
import { rightsWithin } from "../team/CurrentRights.ts"
import { decideApproval } from "./ApprovalDecision.ts"
import { ChangeApprovalRow, PlanAuthorRow } from "./ApprovalRows.ts"
import type { GivenApproval, PlanAuthors } from "./ApproverEligibility.ts"
import { accountsWith, bindsPlace, planApproval, rulesWithin, toBindingRule } from "./PlanApproval.ts"

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
  ...Struct.pick(CapsuleRow.columns, ["workspace_id", "project_id", "environment"])
})
type Change = RowOf<typeof Change.columns>

const Given = rowShape(Struct.pick(ChangeApprovalRow.columns, ["run_id", "subject", "behind"]))
const SnapshotAuthors = rowShape(Struct.pick(SnapshotRow.columns, ["id", "authors"]))
const CommitAuthors = rowShape(Struct.pick(ChangeBasisRow.columns, ["run_id", "commit_authors"]))
const PlanAuthor = rowShape(PlanAuthorRow.columns)

/** Returns the authors of the commits of each change, or `unknown` if they were not read. */
const commitAuthorsOf = Effect.fnUntraced(function* (changes: ReadonlyArray<Change>) {
  const sql = yield* SqlClient.SqlClient
  const snapshotIds = changes.flatMap(({ source_snapshot_id }) => source_snapshot_id ?? [])
  const ids = changes.map(({ id }) => id)
  const snapshots = yield* SnapshotAuthors.rowsOnce(sql)`SELECT id, authors FROM source_snapshots
    WHERE ${sql.in("id", snapshotIds)}`
  const bases = yield* CommitAuthors.rowsOnce(sql)`SELECT run_id, commit_authors FROM change_bases
    WHERE ${sql.in("run_id", ids)}`
  const addresses = changes.map(({ id, source_snapshot_id }) => {
    const own = snapshots.find((snapshot) => snapshot.id === source_snapshot_id)?.authors ?? null
    const between = addressesBetween(bases.find(({ run_id }) => run_id === id))
    return [id, own === null || between === undefined ? [] : [...AuthorsJson.read(own), ...between]] as const
  })
  const accounts = yield* accountsWith([...new Set(addresses.flatMap(([, some]) => some))])
  return new Map(
    addresses.map(([id, some]): [RunId, PlanAuthors["commitAuthors"]] => {
      const people = some.flatMap((address) => (accounts.get(address) ?? []).map(({ subject }) => subject))
      return [id, some.length === 0 ? "unknown" : new Set(people)]
    })
  )
})

/** Returns the approved changes of one Workspace. */
const approvedWithin = Effect.fnUntraced(function* (workspaceId: WorkspaceId, changes: ReadonlyArray<Change>) {
  const sql = yield* SqlClient.SqlClient
  const ids = changes.map(({ id }) => id)
  const given = yield* Given.rowsOnce(sql)`SELECT run_id, subject, behind FROM change_approvals
    WHERE ${sql.in("run_id", ids)} AND withdrawn_at IS NULL ORDER BY created_at, subject`
  const authors = yield* PlanAuthor.rowsOnce(sql)`SELECT * FROM plan_authors
    WHERE ${sql.in("run_id", ids)} ORDER BY part DESC, subject`
  const rules = yield* rulesWithin(workspaceId)
  const rights = yield* rightsWithin(workspaceId, [...new Set(given.map(({ subject }) => subject))])
  const isAuthorAsked = rules.some(({ commit_author_counts }) => commit_author_counts === 0)
  const commitAuthors = isAuthorAsked ? yield* commitAuthorsOf(changes) : new Map<RunId, PlanAuthors["commitAuthors"]>()
  const approved = new Set<RunId>()
  for (const change of changes) {
    const place = { workspaceId, projectId: change.project_id, environment: change.environment }
    const own = authors.filter(({ run_id }) => run_id === change.id)
    if (own.length === 0) {
      // Earlier releases recorded no authors.
      if ((yield* planApproval(change)).decision.state === "approved") approved.add(change.id)
      continue
    }
    const held = rights(place)
    const { state } = decideApproval({
      rules: rules.filter(bindsPlace(place)).map(toBindingRule),
      approvals: given.flatMap(({ behind, run_id, subject }): ReadonlyArray<GivenApproval> => {
        const found = held.get(subject)
        if (run_id !== change.id || found === undefined) return []
        return [{ approver: subject, behind: SubjectsJson.read(behind), ...found }]
      }),
      planAuthors: new Map(own.map(({ part, subject }) => [subject, part])),
      commitAuthors: commitAuthors.get(change.id) ?? new Set()
    })
    if (state === "approved") approved.add(change.id)
  }
  return approved
})

/**
 * Returns those of the speculative plans whose change is approved by the rules, approvals and permissions of now, as
 * `planApproval` decides it for one plan. The number of queries does not depend on the number of plans.
 */
export const approvedChanges = Effect.fn("approvedChanges")(function* (ids: ReadonlyArray<RunId>) {
  const sql = yield* SqlClient.SqlClient
  if (ids.length === 0) return new Set<RunId>()
  const changes = yield* Change.rowsOnce(sql)`SELECT r.id, r.type, r.purpose, r.capsule_id, r.source_snapshot_id,
      r.created_by, r.trigger_kind, c.workspace_id, c.project_id, c.environment
    FROM runs r JOIN capsules c ON c.id = r.capsule_id
    WHERE ${sql.in("r.id", ids)}
      AND EXISTS (SELECT 1 FROM change_approvals a WHERE a.run_id = r.id AND a.withdrawn_at IS NULL)`
  const found = yield* Effect.forEach(
    Map.groupBy(changes, ({ workspace_id }) => workspace_id),
    ([workspaceId, some]) => approvedWithin(workspaceId, some)
  )
  return new Set(found.flatMap((some) => [...some]))
}, Effect.orDie)
