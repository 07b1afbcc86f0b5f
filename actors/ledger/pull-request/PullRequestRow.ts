import { Schema } from "effect"
import { CommandContext } from "../../../schema/commands/Command.ts"
import { ForgePullRequestState } from "../../../schema/records/Forge.ts"
import {
  CapsuleId,
  PullRequestId,
  RunId,
  SourceId,
  SourceSnapshotId,
  Subject,
  WorkspaceId
} from "../../../schema/records/Ids.ts"
import { Timestamp } from "../../../schema/records/Primitives.ts"
import { HeadIsFork, PullRequest } from "../../../schema/records/PullRequest.ts"
import type { Source } from "../../../schema/records/Source.ts"
import { StaticReview } from "../../../schema/records/StaticReview.ts"
import { jsonText, storedRecord } from "../../base/database/StoredRecord.ts"
import { Flag, type RowOf, table } from "../../base/database/Table.ts"
import { present } from "../run/RunRow.ts"

export const PlanningActorJson = jsonText(CommandContext)
/** The error code of a head whose base svc has never read, because no Capsule follows that base. */
export const unfollowedBase = "base_unfollowed"

export const StaticReviewJson = jsonText(StaticReview)
export const MergeGroupJson = jsonText(Schema.Array(Schema.Int))

export const PullRequestRow = table(
  "pull_requests",
  {
    id: PullRequestId,
    workspace_id: WorkspaceId,
    source_id: SourceId,
    number: Schema.Int,
    ref: Schema.String,
    state: ForgePullRequestState,
    head_commit: Schema.String,
    head_branch: Schema.NullOr(Schema.String),
    fork: HeadIsFork,
    base_branch: Schema.NullOr(Schema.String),
    base_commit: Schema.NullOr(Schema.String),
    merge_commit: Schema.NullOr(Schema.String),
    title: Schema.NullOr(Schema.String),
    url: Schema.NullOr(Schema.String),
    author: Schema.NullOr(Schema.String),
    draft: Schema.NullOr(Flag),
    last_seen_at: Timestamp,
    closed_at: Schema.NullOr(Timestamp),
    created_at: Timestamp,
    /** Number of reasons why a step is due; zero if no step is due. */
    due: Schema.Int,
    /** The sync that fetches `head_commit`. */
    sync_run_id: Schema.NullOr(RunId),
    sync_attempts: Schema.Int,
    /** The snapshot of `head_commit`. */
    head_snapshot_id: Schema.NullOr(SourceSnapshotId),
    /** The review of `head_commit`. */
    review: Schema.NullOr(StaticReviewJson),
    planned_commit: Schema.NullOr(Schema.String),
    planned_by: Schema.NullOr(Subject),
    planned_at: Schema.NullOr(Timestamp),
    error_code: Schema.NullOr(Schema.String),
    error_message: Schema.NullOr(Schema.String),
    /** The caller who allowed `planned_commit`. */
    planned_actor: Schema.NullOr(PlanningActorJson),
    /** Number of times that svc gave up the plans of one head or a person requested new plans. */
    attempt: Schema.Int,
    /**
     * For a merge group, the numbers of the pull requests whose merge is being tested. `NULL` for an ordinary pull request.
     */
    merge_group: Schema.NullOr(MergeGroupJson),
    /** The repository at its forge (`repositoryKey`), or `NULL` while svc has not read it there. */
    repository: Schema.NullOr(Schema.String)
  },
  ["due", "sync_attempts", "attempt"]
)
export type PullRequestRow = RowOf<typeof PullRequestRow.columns>

/** The columns that lists read. They exclude the review, which may be large, and the caller who allowed a commit. */
export const ListedPullRequest = PullRequestRow.without("review", "planned_actor")
export type ListedPullRequest = RowOf<typeof ListedPullRequest.columns>

/** The Capsules that follow a pull request's base, each with the effect of one head on it. */
export const PullRequestCapsuleRow = table("pull_request_capsules", {
  pull_request_id: PullRequestId,
  capsule_id: CapsuleId,
  head_commit: Schema.String,
  touched: Flag,
  because: Schema.NullOr(Schema.String),
  run_id: Schema.NullOr(RunId),
  refusal_code: Schema.NullOr(Schema.String),
  refusal_message: Schema.NullOr(Schema.String)
})
export type PullRequestCapsuleRow = RowOf<typeof PullRequestCapsuleRow.columns>

/** The polls of a Source's repository for pull requests. */
export const PullRequestLookRow = table(
  "pull_request_looks",
  {
    source_id: SourceId,
    workspace_id: WorkspaceId,
    /** Number of requested polls. A poll is due while this number differs from `taken`. */
    asked: Schema.Int,
    taken: Schema.Int,
    next_at: Schema.NullOr(Timestamp),
    failures: Schema.Int,
    last_look_at: Schema.NullOr(Timestamp),
    /** Full name of the repository's default branch at the time of the last poll. */
    default_branch: Schema.NullOr(Schema.String),
    /**
     * The highest pull request number that the first poll without a forge found. Pull requests with higher numbers are new.
     */
    from_number: Schema.NullOr(Schema.Int),
    /** Number of open pull requests that the last poll left out because of the limit. */
    left_out: Schema.Int,
    error_code: Schema.NullOr(Schema.String),
    error_message: Schema.NullOr(Schema.String)
  },
  ["asked", "taken", "failures", "left_out"]
)
export type PullRequestLookRow = RowOf<typeof PullRequestLookRow.columns>

const decode = storedRecord(PullRequest)

const faultOf = (code: string | null, message: string | null) =>
  code === null ? undefined : { code, message: message ?? "" }

/** Returns the pull requests whose merge is being tested by a merge queue, or `undefined` for an ordinary pull request. */
export const mergeGroupOf = ({
  merge_group
}: Pick<PullRequestRow, "merge_group">): ReadonlyArray<number> | undefined =>
  merge_group === null ? undefined : MergeGroupJson.read(merge_group)

/** Returns the number of the pull request or, for a merge group, of its last pull request. */
export const numberOf = (row: Pick<PullRequestRow, "merge_group" | "number">): number =>
  mergeGroupOf(row)?.at(-1) ?? row.number

/** Returns the record in the form that lists show. */
export const toPullRequest = (row: ListedPullRequest): PullRequest =>
  decode({
    id: row.id,
    workspaceId: row.workspace_id,
    sourceId: row.source_id,
    number: numberOf(row),
    state: row.state,
    fork: row.fork,
    ref: row.ref,
    headCommit: row.head_commit,
    lastSeenAt: row.last_seen_at,
    createdAt: row.created_at,
    ...(row.draft === null ? {} : { draft: row.draft === 1 }),
    ...(row.planned_commit === null || row.planned_by === null || row.planned_at === null
      ? {}
      : { planned: { commit: row.planned_commit, by: row.planned_by, at: row.planned_at } }),
    ...present({
      title: row.title,
      url: row.url,
      author: row.author,
      headBranch: row.head_branch,
      baseBranch: row.base_branch,
      baseCommit: row.base_commit,
      mergeCommit: row.merge_commit,
      mergeGroup: mergeGroupOf(row),
      closedAt: row.closed_at,
      error: faultOf(row.error_code, row.error_message)
    })
  })

/** Returns the last poll of a Source, in the form that the Source's record shows. */
export const toPullRequestLook = (row: PullRequestLookRow): NonNullable<Source["pullRequestLook"]> => ({
  leftOut: row.left_out,
  ...(row.last_look_at === null ? {} : { at: row.last_look_at }),
  ...(row.error_code === null ? {} : { error: { code: row.error_code, message: row.error_message ?? "" } })
})
