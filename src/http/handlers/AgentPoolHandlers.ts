import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AgentReleases } from "../../../actors/running/agent/AgentReleases.ts"
import { WorkspacePools } from "../../../actors/running/agent-pool/WorkspacePools.ts"
import { Runs } from "../../../actors/ledger/run/Runs.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

export const agentPoolHandlers = HttpApiBuilder.group(
  SvcApi,
  "agentPools",
  Effect.fn(function* (handlers) {
    const pools = yield* WorkspacePools
    const releases = yield* AgentReleases
    const runs = yield* Runs
    return storedAnswers("agentPools", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ query }) {
        const page = yield* pools.pools(yield* authorisedWorkspace, yield* pageRequest(query))
        return { agentPools: page.items, ...cursorOf(page) }
      }),
      agents: Effect.fnUntraced(function* ({ query: { pool, ...query } }) {
        const page = yield* pools.agents(yield* authorisedWorkspace, pool, yield* pageRequest(query))
        return { agents: page.items, ...cursorOf(page) }
      }),
      release: Effect.fnUntraced(function* ({ params, payload: { fence, reason } }) {
        const id = yield* pathId(RunId, params.runId, "Run")
        yield* releases.release(yield* commandContext, id, { fence, reason })
        return { run: yield* runs.read(id) }
      })
    })
  })
)
