import type { AgentPoolsApi } from "../../../schema/api/AgentPoolsApi.ts"
import { type GroupProse, route } from "./Prose.ts"

export const agentPoolsProse: GroupProse<typeof AgentPoolsApi> = {
  about: "Pools of agents, which execute Runs on other machines.",
  routes: {
    list: route(
      "List the pools that a Workspace may use, by name",
      "Pools are made and assigned by the operator; an execution profile chooses the pool of a Run. Without one the control plane executes every Run itself. `places` and `runs` are those of the connected agents, for every Workspace that shares the pool; nothing else of the others is shown."
    ),
    agents: route(
      "List the agents of a Workspace's pools, by pool and name",
      "What each last said of its machine: version, platform, tools, isolation, labels, places, disk. `status`: `connected`, `draining` (it takes no new Run), or `silent`, when it was not heard of for 45 seconds or said that it ends. `pool` lists those of one pool. Agents that were revoked are not listed."
    ),
    release: route(
      "Release a Capsule from an agent that is gone for good",
      "**This may damage infrastructure.** The tool of the Run may still work on the agent's machine, and nothing can stop it from here: two applies at once damage what both of them manage. `toolIsDead` states that somebody knows that the machine, or the tool on it, is dead. `fence` is `agent.fence` of the Run as it was read; another one is refused (409 `guard_conflict`). Refused (409 `failed_precondition`) while the agent is heard of: cancel the Run then.\n\nThe Run ends as it does when the lease of its agent is over: an apply whose tool was started fails with `agent_lost`, the newest state that the service has is imported, resources that may exist are listed, and the Capsule is in `error` with `runtimeSafety` `unknown`. What the agent hands in later is kept as evidence. Anything else is queued once more, or fails. Audited as `run.release`."
    )
  }
}
