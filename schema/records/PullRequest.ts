import { Schema } from "effect"
import { ForgePullRequestState } from "./Forge.ts"
import { CapsuleId, PullRequestId, RunId, SourceId, Subject, TeamId, WorkspaceId } from "./Ids.ts"
import { PlanSummary } from "./PlanDetails.ts"
import { CommitId, Timestamp } from "./Primitives.ts"
import { RunStatus } from "./Run.ts"
import { StaticReview } from "./StaticReview.ts"
import { Role } from "./Workspace.ts"

/**
 * Maximum number of open pull requests per Source that svc follows. If there are more, svc follows those with the highest
 * numbers.
 */
export const mostOpenPullRequests = 100

/** Indicates whether the head is in another repository. `unknown` is treated like `yes`. */
export const HeadIsFork = Schema.Literals(["yes", "no", "unknown"])
export type HeadIsFork = typeof HeadIsFork.Type

/**
 * The state of a Capsule's plan for a pull request, before and after the merge. `differs`: the plan after the merge differs
 * from the approved change. `refused`: svc may not plan this head.
 */
export const CapsuleVerdict = Schema.Literals([
  "failed",
  "differs",
  "needs_approval",
  "refused",
  "planning",
  "superseded",
  "approved",
  "planned",
  "applied",
  "unchanged"
])
export type CapsuleVerdict = typeof CapsuleVerdict.Type

/** A change that deserves attention, so the comment and the page list it first. */
export const PullRequestRisk = Schema.Struct({
  /** `undoes`: the base changed this file after the branch was created, and the plan would revert that change. */
  kind: Schema.Literals(["undoes", "destroys", "replaces", "forgets"]),
  address: Schema.String
})
export type PullRequestRisk = typeof PullRequestRisk.Type

/** Number of Capsules by verdict. Verdicts without Capsules are absent. */
export const PullRequestCounts = Schema.Struct({
  failed: Schema.optionalKey(Schema.Int),
  differs: Schema.optionalKey(Schema.Int),
  needs_approval: Schema.optionalKey(Schema.Int),
  refused: Schema.optionalKey(Schema.Int),
  planning: Schema.optionalKey(Schema.Int),
  superseded: Schema.optionalKey(Schema.Int),
  approved: Schema.optionalKey(Schema.Int),
  planned: Schema.optionalKey(Schema.Int),
  applied: Schema.optionalKey(Schema.Int),
  unchanged: Schema.optionalKey(Schema.Int)
} satisfies Record<CapsuleVerdict, unknown>)
export type PullRequestCounts = typeof PullRequestCounts.Type

const RunInPullRequest = Schema.Struct({ id: RunId, status: RunStatus })

/** A Capsule that follows the base of the pull request, and the effect of the head on it. */
export const PullRequestCapsule = Schema.Struct({
  capsuleId: CapsuleId,
  /** True unless the head certainly leaves the Capsule's module unchanged. */
  touched: Schema.Boolean,
  /** The reason why svc assumes that the head affects the Capsule. */
  because: Schema.optionalKey(Schema.String),
  /** The latest speculative plan for the head. */
  run: Schema.optionalKey(RunInPullRequest),
  /** Present only if the head affects the Capsule. */
  verdict: Schema.optionalKey(CapsuleVerdict),
  /** Before the merge, the changes in the speculative plan; after the merge, the changes in the lane's plan. */
  summary: Schema.optionalKey(PlanSummary),
  /** Files and objects in the plan of `summary` that deserve attention, most important first. */
  risks: Schema.optionalKey(Schema.Array(PullRequestRisk)),
  /** Number of base commits that the speculative plan does not include. */
  behind: Schema.optionalKey(Schema.Int),
  /** After the merge: the plan of the lane. */
  plan: Schema.optionalKey(RunInPullRequest),
  /** The latest apply of the lane's plan. */
  apply: Schema.optionalKey(RunInPullRequest),
  /** The approvals that the plan or its change requires. */
  awaits: Schema.optionalKey(
    Schema.Array(
      Schema.Struct({
        approvers: Schema.Int,
        role: Role,
        teamId: Schema.optionalKey(TeamId),
        team: Schema.optionalKey(Schema.String)
      })
    )
  ),
  /** The reason why svc does not plan the head. */
  refusal: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
})
export type PullRequestCapsule = typeof PullRequestCapsule.Type

/**
 * A pull request of a Source's repository, as svc last read it. Without a Connection to the forge, svc reads only the
 * repository's refs, so `title`, `url`, `author` and `draft` are absent.
 */
export class PullRequest extends Schema.Opaque<PullRequest>()(
  Schema.Struct({
    id: PullRequestId,
    workspaceId: WorkspaceId,
    sourceId: SourceId,
    number: Schema.Int,
    title: Schema.optionalKey(Schema.String),
    url: Schema.optionalKey(Schema.String),
    author: Schema.optionalKey(Schema.String),
    state: ForgePullRequestState,
    draft: Schema.optionalKey(Schema.Boolean),
    fork: HeadIsFork,
    /** The ref of the head, such as `refs/pull/7/head`. */
    ref: Schema.String,
    headCommit: CommitId,
    /** Name of the branch, if svc knows it. */
    headBranch: Schema.optionalKey(Schema.String),
    /** Name of the branch into which the head would be merged. */
    baseBranch: Schema.optionalKey(Schema.String),
    baseCommit: Schema.optionalKey(CommitId),
    mergeCommit: Schema.optionalKey(CommitId),
    /**
     * Present only for a commit that a merge queue tests: the numbers of the commit's pull requests, of which `number` is
     * the last. Lists omit such records.
     */
    mergeGroup: Schema.optionalKey(Schema.Array(Schema.Int)),
    /** The commit for which an owner or admin allowed plans. A later push revokes this permission. */
    planned: Schema.optionalKey(Schema.Struct({ commit: CommitId, by: Subject, at: Timestamp })),
    /** Number of affected Capsules by verdict. Absent in the response to `plan`. */
    counts: Schema.optionalKey(PullRequestCounts),
    /** The reason why the head could not be read. */
    error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String })),
    /** Present only in responses for a single pull request. */
    review: Schema.optionalKey(StaticReview),
    /** Present only in responses for a single pull request. */
    capsules: Schema.optionalKey(Schema.Array(PullRequestCapsule)),
    /**
     * The comment and the status at the forge. Present only in responses for a single pull request, and only after svc has tried
     * to write them.
     */
    report: Schema.optionalKey(
      Schema.Struct({
        writtenAt: Schema.optionalKey(Timestamp),
        /** The reason why the forge rejected the last report. svc retries the report. */
        error: Schema.optionalKey(Schema.Struct({ code: Schema.String, message: Schema.String }))
      })
    ),
    lastSeenAt: Timestamp,
    closedAt: Schema.optionalKey(Timestamp),
    createdAt: Timestamp
  }).annotate({ identifier: "PullRequest" })
) {}
