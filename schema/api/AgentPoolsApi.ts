import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { Agent, WorkspacePool } from "../records/AgentPool.ts"
import { freeText } from "../records/Primitives.ts"
import { Run } from "../records/Run.ts"
import { described, describedGroup } from "./Endpoint.ts"
import { nextCursor, pageQuery } from "./Paging.ts"
import { accessOf } from "./Roles.ts"

const ofWorkspace = { workspaceId: Schema.String }

/** A release, bound to the claim that the person saw. */
export class ReleaseRequest extends Schema.Opaque<ReleaseRequest>()(
  Schema.Struct({
    fence: Schema.Int,
    /** What the person who releases it states. */
    toolIsDead: Schema.Literal(true),
    reason: Schema.optionalKey(freeText(2000))
  }).annotate({ identifier: "ReleaseRequest" })
) {}

export class AgentPoolsApi extends describedGroup(
  "agentPools",
  "Pools of agents, which execute Runs on other machines."
)
  .add(
    HttpApiEndpoint.get("list", "/api/v1/workspaces/:workspaceId/agent-pools", {
      params: ofWorkspace,
      query: pageQuery,
      success: Schema.Struct({ agentPools: Schema.Array(WorkspacePool), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/agent-pools"),
        "List the pools that a Workspace may use, by name",
        "Pools are made and assigned by the operator; an execution profile chooses the pool of a Run. Without one the control plane executes every Run itself. `places` and `runs` are those of the connected agents, for every Workspace that shares the pool; nothing else of the others is shown."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("agents", "/api/v1/workspaces/:workspaceId/agents", {
      params: ofWorkspace,
      query: { ...pageQuery, pool: Schema.optionalKey(Schema.String.check(Schema.isMaxLength(63))) },
      success: Schema.Struct({ agents: Schema.Array(Agent), ...nextCursor })
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/workspaces/:workspaceId/agents"),
        "List the agents of a Workspace's pools, by pool and name",
        "What each last said of its machine: version, platform, tools, isolation, labels, places, disk. `status`: `connected`, `draining` (it takes no new Run), or `silent`, when it was not heard of for 45 seconds. `pool` lists those of one pool. Agents that were revoked are not listed."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("release", "/api/v1/runs/:runId/release", {
      params: { runId: Schema.String },
      payload: ReleaseRequest,
      success: Schema.Struct({ run: Run })
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/runs/:runId/release"),
        "Release a Capsule from an agent that is gone for good",
        "**This may damage infrastructure.** The tool of the Run may still work on the agent's machine, and nothing can stop it from here: two applies at once damage what both of them manage. `toolIsDead` states that somebody knows that the machine, or the tool on it, is dead. `fence` is `agent.fence` of the Run as it was read; another one is refused (409 `guard_conflict`). Refused (409 `failed_precondition`) while the agent is heard of: cancel the Run then.\n\nThe Run ends as it does when the lease of its agent is over: an apply whose tool was started fails with `agent_lost`, the newest state that the service has is imported, resources that may exist are listed, and the Capsule is in `error` with `runtimeSafety` `unknown`. What the agent hands in later is kept as evidence. Anything else is queued once more, or fails. Audited as `run.release`."
      )
    )
  ) {}
