import { Context, type Effect } from "effect"
import type { ApiError } from "../../../schema/errors/ApiError.ts"
import type { CapsuleId, PullRequestId, SourceId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { PullRequest } from "../../../schema/records/PullRequest.ts"
import type { Page, PageRequest } from "../../base/paging/RowPages.ts"

/** Reads pull requests. */
export class PullRequests extends Context.Service<
  PullRequests,
  {
    /** Lists pull requests, newest first. */
    readonly list: (
      workspaceId: WorkspaceId,
      filter: { readonly sourceId?: SourceId | undefined; readonly state?: PullRequest["state"] | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<PullRequest>, ApiError>
    /** Lists the pull requests whose heads affect the Capsule, newest first. */
    readonly ofCapsule: (
      capsuleId: CapsuleId,
      filter: { readonly state?: PullRequest["state"] | undefined },
      page: PageRequest
    ) => Effect.Effect<Page<PullRequest>, ApiError>
    /** Reads one pull request with its review and its Capsules. */
    readonly read: (id: PullRequestId) => Effect.Effect<PullRequest, ApiError>
  }
>()("svc/actors/ledger/pull-request/PullRequests") {}
