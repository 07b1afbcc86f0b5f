import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { ForgePullRequestState } from "../records/Forge.ts"
import { SourceId } from "../records/Ids.ts"
import { CommitId } from "../records/Primitives.ts"
import { PullRequest } from "../records/PullRequest.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"
import { nextCursor, pageQuery } from "./Paging.ts"

const state = Schema.optionalKey(ForgePullRequestState)
const page = Schema.Struct({ pullRequests: Schema.Array(PullRequest), ...nextCursor })

export class PullRequestsApi extends HttpApiGroup.make("pullRequests")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/pull-requests", {
      params: { workspaceId: Schema.String },
      query: { ...pageQuery, sourceId: Schema.optionalKey(SourceId), state },
      success: page
    })
  )
  .add(
    HttpApiEndpoint.get("ofCapsule", "/api/v1/capsules/:capsuleId/pull-requests", {
      params: { capsuleId: Schema.String },
      query: { ...pageQuery, state },
      success: page
    })
  )
  .add(
    HttpApiEndpoint.get("read", "/api/v1/pull-requests/:pullRequestId", {
      params: { pullRequestId: Schema.String },
      success: Schema.Struct({ pullRequest: PullRequest })
    })
  )
  .add(
    HttpApiEndpoint.post("plan", "/api/v1/pull-requests/:pullRequestId/plan", {
      params: { pullRequestId: Schema.String },
      payload: Schema.Struct({ commit: CommitId }),
      success: Schema.Struct({ pullRequest: PullRequest })
    })
  )
  .annotateEndpoints(ExtensionFamily, "pull-requests") {}
