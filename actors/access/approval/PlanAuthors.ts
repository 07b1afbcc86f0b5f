import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { inParts } from "../../base/database/RowParts.ts"
import type { AuthorPart, PlanAuthor } from "../../../schema/records/Approval.ts"
import { Subject } from "../../../schema/records/Ids.ts"
import { peopleBehind } from "../account/PeopleBehind.ts"
import { AutoUpdateAuthorsJson, type CapsuleRow } from "../../ledger/capsule/CapsuleRow.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { PlanAuthorRow } from "./ApprovalRows.ts"

/** The author and trigger of a plan. `tokenId` is the personal access token that the author used, if any. */
export interface PlanStart {
  readonly createdBy: string | undefined
  readonly tokenId?: string | undefined
  readonly trigger: RunRow["trigger_kind"]
}

type Following = Pick<CapsuleRow, "auto_update_authors" | "auto_update_by">

/** Returns the people who enabled, or last changed, the auto-update of a Capsule. */
const followingAuthors = ({ auto_update_authors, auto_update_by }: Following): ReadonlyArray<Subject> => {
  if (auto_update_authors === null) return auto_update_by === null ? [] : [Subject.make(auto_update_by)]
  const { changedBy, turnedOnBy } = AutoUpdateAuthorsJson.read(auto_update_authors)
  return [...turnedOnBy, ...changedBy]
}

/**
 * Returns the authors of a plan that is being started: its starter, the people behind the automation or token that starts
 * it, and the people behind auto-update. Excludes the authors of the commit, which are read from the snapshot.
 */
export const authorsAtStart = Effect.fnUntraced(function* (
  { createdBy, tokenId, trigger }: PlanStart,
  capsule: Following | undefined
) {
  const authors = new Map<PlanAuthor["subject"], AuthorPart>()
  const add = (people: ReadonlyArray<PlanAuthor["subject"]>, part: AuthorPart) => {
    for (const person of people) if (!authors.has(person)) authors.set(person, part)
  }
  add([createdBy === undefined ? "service" : Subject.make(createdBy)], "starter")
  add(yield* peopleBehind({ subject: createdBy, tokenId }), "automation")
  if (trigger === "auto_update" && capsule !== undefined) add(followingAuthors(capsule), "auto_update")
  return authors
})

/** Records the authors of a plan in the transaction that creates it. Later changes do not affect the recorded authors. */
export const recordAuthors = Effect.fn("recordAuthors")(function* (
  runId: RunRow["id"],
  start: PlanStart,
  capsule: Following
) {
  const sql = yield* SqlClient.SqlClient
  const authors = [...(yield* authorsAtStart(start, capsule))].map(([subject, part]) => ({
    run_id: runId,
    subject,
    part
  }))
  yield* inParts(authors, (some) => sql`INSERT INTO plan_authors ${PlanAuthorRow.several(sql, some)}`)
}, Effect.orDie)

/** Returns the recorded authors of a plan. For a plan from an earlier release, derives them from current data. */
export const authorsOfPlan = Effect.fnUntraced(function* (
  plan: Pick<RunRow, "id" | "created_by" | "trigger_kind">,
  capsule: Following | undefined
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* PlanAuthorRow.rows(sql)`SELECT * FROM plan_authors WHERE run_id = ${plan.id}
    ORDER BY part DESC, subject`
  if (rows.length > 0) return new Map(rows.map(({ part, subject }) => [subject, part]))
  return yield* authorsAtStart({ createdBy: plan.created_by ?? undefined, trigger: plan.trigger_kind }, capsule)
})
