import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { CapsuleId, ProjectId, PullRequestId, RunId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { DiffersFrom } from "../../../schema/records/CarryOver.ts"
import { changesSomething } from "../../../schema/records/PlanDetails.ts"
import { type Run, RunStatus } from "../../../schema/records/Run.ts"
import type { StaticReview } from "../../../schema/records/StaticReview.ts"
import { ChangeApprovals } from "../../access/approval/ChangeApprovals.ts"
import { NoticeSettings } from "../../base/notice/NoticeRows.ts"
import { Flag, type RowOf, rowShape } from "../../base/database/Table.ts"
import type { PullRequestRow } from "../../ledger/pull-request/PullRequestRow.ts"
import { mergeGroupOf, StaticReviewJson, unfollowedBase } from "../../ledger/pull-request/PullRequestRow.ts"
import { CarryOver, type QueuedVerdict } from "../../running/carry-over/CarryOver.ts"
import { planAfterMerge } from "../../ledger/pull-request-report/CapsuleProgress.ts"
import { awaitedApprovals } from "../../ledger/run/RunNotices.ts"
import { Runs } from "../../ledger/run/Runs.ts"
import type { PullRequestReport, ReportedCapsule, ReportedFact } from "./PullRequestComment.ts"
import { behindText, capsuleVerdict, risksOf, undoneBy } from "../../ledger/pull-request-report/ReportedState.ts"

/** Returns a line of a review without the value of an attribute or Output, because people may read values only in svc. */
const withoutValues = (line: string) => line.replace(/: [\s\S]*$/, "")

/**
 * Returns the lines in which the plan differs from the approved change. If there are no differing lines, returns the reasons
 * why svc did not carry the approvals over.
 */
const differencesOf = (
  plan: { readonly differsFrom?: Pick<DiffersFrom, "lines" | "moreLines" | "reasons"> } | undefined
): ReadonlyArray<string> => {
  const { lines = [], moreLines = 0, reasons = [] } = plan?.differsFrom ?? {}
  if (lines.length === 0) return reasons.map(({ message }) => message)
  return [
    ...lines.map(({ side, text }) => `${side === "approved" ? "-" : "+"} ${withoutValues(text)}`),
    ...(moreLines === 0 ? [] : [`and ${moreLines} more`])
  ]
}

const Judged = rowShape({
  id: CapsuleId,
  pull_request_id: PullRequestId,
  name: Schema.String,
  environment: Schema.String,
  project_id: Schema.NullOr(ProjectId),
  workspace_id: WorkspaceId,
  touched: Flag,
  run_id: Schema.NullOr(RunId),
  refusal_message: Schema.NullOr(Schema.String)
})

const Found = rowShape({ id: RunId })
const Ended = rowShape({ status: RunStatus })
const Handle = rowShape({ handle: Schema.String })

const kinds = [
  ["resources", "resources"],
  ["dataSources", "data sources"],
  ["moduleCalls", "modules"],
  ["providers", "providers"],
  ["inputs", "inputs"],
  ["outputs", "outputs"],
  ["runsCode", "code that runs"]
] as const

/** Returns the facts of a static review, with those of all modules combined. */
const factsOf = (modules: StaticReview["modules"]): ReadonlyArray<ReportedFact> =>
  kinds.flatMap(([field, kind]) => {
    const namesOf = (side: "added" | "removed") => modules.flatMap((one) => one[field][side].map(({ name }) => name))
    const [added, removed] = [namesOf("added"), namesOf("removed")]
    return added.length + removed.length === 0 ? [] : [{ kind, added, removed }]
  })

const unreadText = ({ merge_group }: Pick<PullRequestRow, "merge_group">) =>
  `svc reads the files of this ${merge_group === null ? "pull request" : "merge group"}.`

/**
 * Returns the reason why svc does not know yet which Capsules use the changed files, or `undefined` if it has read the
 * files. A report may show Capsules even after the review has been removed; the files have then been read.
 */
const unreadOf = (
  row: Pick<PullRequestRow, "error_code" | "error_message" | "merge_group" | "review" | "state">,
  touched: number
): string | undefined => {
  if (row.review !== null || touched > 0 || row.state !== "open" || row.error_code === unfollowedBase) return undefined
  if (row.error_message !== null) return `svc could not read the files yet: ${row.error_message}`
  return unreadText(row)
}

/** A Source's row of the pull request. `follows` is false if svc will not look for newer heads for this Source. */
export interface CoveredRow {
  readonly row: PullRequestRow
  readonly follows: boolean
}

/**
 * Sources look at the repository at different times. Returns the rows that have seen the same head and base, and whether another
 * row will see them later.
 */
const coveredOf = (shown: PullRequestRow, rows: ReadonlyArray<CoveredRow>) => {
  const isCurrent = ({ row }: CoveredRow) =>
    row.id === shown.id ||
    (row.head_commit === shown.head_commit && row.base_branch === shown.base_branch && row.state !== "closed")
  return {
    current: rows.filter(isCurrent).map(({ row }) => row),
    isLate: shown.state === "open" && rows.some((one) => one.follows && !isCurrent(one))
  }
}

/** Reads the facts for a report from redacted records. Reads no logs and no values. */
export class ReportFacts extends Context.Service<
  ReportFacts,
  {
    /** Covers the Capsules of all these rows of one pull request. `row` says where the pull request is. */
    readonly read: (
      row: PullRequestRow,
      rows: ReadonlyArray<CoveredRow>
    ) => Effect.Effect<PullRequestReport & { readonly handle: string }>
  }
>()("svc/actors/commands/pull-request-report/ReportFacts") {
  static readonly layer = Layer.effect(
    ReportFacts,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const runs = yield* Runs
      const approvals = yield* ChangeApprovals
      const carryOver = yield* CarryOver
      const { baseUrl } = yield* NoticeSettings

      const runWith = (id: RunId | null | undefined) =>
        id == null ? Effect.undefined : Effect.orElseSucceed(runs.read(id), (): Run | undefined => undefined)

      /**
       * Finds the lane's plan after the merge: the plan of the merge commit or, if there is none, the newest plan created
       * since the merge.
       */
      const planAfter = Effect.fnUntraced(function* (row: PullRequestRow, judged: RowOf<typeof Judged.columns>) {
        const [found] = yield* Found.rows(sql)`SELECT l.id FROM pull_requests p
          JOIN pull_request_capsules j ON j.pull_request_id = ${judged.pull_request_id} AND j.capsule_id = ${judged.id}
          JOIN runs l ON l.id = ${sql.literal(planAfterMerge)} WHERE p.id = ${row.id}`
        return yield* runWith(found?.id)
      })

      const applyOf = Effect.fnUntraced(function* (planRunId: RunId | undefined) {
        if (planRunId === undefined) return undefined
        const [found] = yield* Ended.rows(sql)`SELECT status FROM runs
          WHERE plan_run_id = ${planRunId} AND type = 'apply' ORDER BY created_at DESC, id DESC LIMIT 1`
        return found?.status
      })

      const noteOf = Effect.fnUntraced(function* (
        judged: RowOf<typeof Judged.columns>,
        verdict: ReportedCapsule["verdict"]
      ) {
        if (verdict === "refused") return judged.refusal_message ?? undefined
        if (verdict !== "needs_approval" && verdict !== "planned") return undefined
        const rules = yield* awaitedApprovals(sql, judged)
        const awaited = rules
          .map((rule) => `${rule.approvers} of ${"team" in rule ? rule.team : `${rule.role} or above`}`)
          .join(", ")
        return verdict === "planned" ? `needs ${awaited}` : awaited
      })

      /** Explains why the plan of a queued commit is not approved. The explanation is for people who see only the status. */
      const queuedNote = (group: ReadonlyArray<number>, verdict: QueuedVerdict) => {
        const named = group.map((number) => `#${number}`).join(", ")
        if (verdict.kind === "approved") return undefined
        return verdict.kind === "differs"
          ? `Not the change that was approved in ${named}. ${verdict.differsFrom.reasons[0]?.message ?? ""}`
          : `Approve the change in ${named}. ${verdict.reason ?? "Nobody has approved it."}`
      }

      const queuedOf = Effect.fnUntraced(function* (row: PullRequestRow, plan: Run | undefined) {
        const group = mergeGroupOf(row)
        if (group === undefined || plan?.status !== "succeeded" || !changesSomething(plan)) return undefined
        const verdict = yield* carryOver.ofQueued(plan.id, group)
        return {
          kind: verdict.kind,
          note: queuedNote(group, verdict),
          differences: verdict.kind === "differs" ? differencesOf(verdict) : []
        }
      })

      const reported = Effect.fnUntraced(function* (
        row: PullRequestRow,
        judged: RowOf<typeof Judged.columns>,
        at: string
      ) {
        const speculative = yield* runWith(judged.run_id)
        const plan = yield* planAfter(row, judged)
        const queued = yield* queuedOf(row, speculative)
        const verdict = capsuleVerdict({
          speculative: speculative && { status: speculative.status, changes: changesSomething(speculative) },
          queued: queued?.kind,
          isRefused: judged.refusal_message !== null,
          isApproved: judged.run_id !== null && (yield* approvals.isApproved(judged.run_id)),
          isMerged: row.state === "merged",
          plan:
            plan === undefined
              ? undefined
              : { status: plan.status, changes: changesSomething(plan), differs: plan.differsFrom !== undefined },
          apply: yield* applyOf(plan?.id)
        })
        const shown = plan ?? speculative
        const capsule = {
          name: judged.name,
          environment: judged.environment,
          verdict,
          url: `${at}/${shown === undefined ? `capsules/${judged.id}` : `runs/${shown.id}`}`,
          summary: shown?.planSummary,
          changeDigest: shown?.changeDigest,
          risks: [
            ...undoneBy(plan === undefined ? speculative?.base : undefined),
            ...risksOf(shown?.resourceChanges ?? [])
          ],
          note: queued === undefined ? yield* noteOf(judged, verdict) : queued.note
        } satisfies ReportedCapsule
        const differences = queued?.differences ?? (verdict === "differs" ? differencesOf(plan) : [])
        return { capsule, base: speculative?.base, differences }
      })

      const read = Effect.fn("ReportFacts.read")(function* (row: PullRequestRow, rows: ReadonlyArray<CoveredRow>) {
        const [workspace] = yield* Handle.rows(sql)`SELECT handle FROM workspaces WHERE id = ${row.workspace_id}`
        const handle = workspace?.handle ?? ""
        const at = `${baseUrl}/w/${handle}`
        const { current, isLate } = coveredOf(row, rows)
        const ids = current.map(({ id }) => id)
        const judged = yield* Judged.rows(
          sql
        )`SELECT c.id, j.pull_request_id, c.name, c.environment, c.project_id, c.workspace_id,
            j.touched, j.run_id, j.refusal_message
          FROM pull_request_capsules j JOIN capsules c ON c.id = j.capsule_id
          WHERE ${sql.in("j.pull_request_id", ids)} AND j.head_commit = ${row.head_commit} AND j.touched = 1
          ORDER BY c.name, c.environment, c.id`
        const all = yield* Effect.forEach(judged, (one) => reported(row, one, at))
        const isPlanned = judged.some(({ run_id }) => run_id !== null)
        return {
          handle,
          url: `${at}/pull-requests/${row.id}`,
          headCommit: row.head_commit,
          state: row.state,
          mergeGroup: mergeGroupOf(row),
          unread: current
            .map((one) => unreadOf(one, judged.filter(({ pull_request_id }) => pull_request_id === one.id).length))
            .concat(isLate ? [unreadText(row)] : [])
            .find((reason) => reason !== undefined),
          base:
            row.base_branch === null
              ? undefined
              : {
                  branch: row.base_branch,
                  ...(row.base_commit === null ? {} : { commit: row.base_commit }),
                  behind: behindText(all.map(({ base }) => base))
                },
          capsules: all.map(({ capsule }) => capsule),
          review: isPlanned
            ? []
            : factsOf(current.flatMap(({ review }) => (review === null ? [] : StaticReviewJson.read(review).modules))),
          differences: all.flatMap(({ differences }) => differences)
        }
      }, Effect.orDie)

      return ReportFacts.of({ read })
    })
  ).pipe(Layer.provide(CarryOver.layer))
}
