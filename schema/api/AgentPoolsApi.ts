import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { Agent, WorkspacePool } from "../records/AgentPool.ts"
import { freeText } from "../records/Primitives.ts"
import { Run } from "../records/Run.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofWorkspace = { workspaceId: Schema.String }

/** A request to release a Run. It applies only to the claim that the person saw. */
export class ReleaseRequest extends Schema.Opaque<ReleaseRequest>()(
  Schema.Struct({
    fence: Schema.Int,
    /** Confirms that the tool is no longer running. */
    toolIsDead: Schema.Literal(true),
    reason: Schema.optionalKey(freeText(2000))
  }).annotate({ identifier: "ReleaseRequest" })
) {}

export class AgentPoolsApi extends HttpApiGroup.make("agentPools")
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/agent-pools", {
      params: ofWorkspace,
      query: pageQuery,
      success: Schema.Struct({ agentPools: Schema.Array(WorkspacePool), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.get("agents", "/api/v1/workspaces/:workspaceId/agents", {
      params: ofWorkspace,
      query: { ...pageQuery, pool: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(63))) },
      success: Schema.Struct({ agents: Schema.Array(Agent), ...nextCursor })
    })
  )
  .add(
    HttpApiEndpoint.post("release", "/api/v1/runs/:runId/release", {
      params: { runId: Schema.String },
      payload: ReleaseRequest,
      success: Schema.Struct({ run: Run })
    })
  )
  .annotateEndpoints(ExtensionFamily, "agent-pools") {}
