import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import type { RunEvidence } from "../../../schema/records/Run.ts"
import { needInWords, toolFor } from "../agent-pool/AgentFit.ts"
import { AgentNeeds } from "../agent-pool/AgentNeeds.ts"
import { AgentRow, FactsJson } from "../agent-pool/PoolRows.ts"
import type { RunRow } from "../../ledger/run/RunRow.ts"
import { blocked } from "./RunSteps.ts"

/**
 * Describes the machine of the agent that holds a Run, as the agent reported it. The agent checks the sandbox and the tool
 * again before the tool starts.
 */
export const makeReportedMachine = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const needs = yield* AgentNeeds

  const factsOf = Effect.fnUntraced(function* ({ id, owner }: RunRow) {
    const [agent] = yield* Effect.orDie(AgentRow.some(sql, "facts")`SELECT facts FROM agents WHERE id = ${owner}`)
    if (agent === undefined) return yield* Effect.die(new Error(`The Run ${id} is held by no agent.`))
    return FactsJson.read(agent.facts)
  })

  /**
   * Checks the tool again. The agent met these requirements when svc selected it, but its facts may have changed since.
   */
  const tool = Effect.fnUntraced(function* (run: RunRow, evidence: RunEvidence) {
    const need = yield* needs.of(run.id)
    const facts = yield* factsOf(run)
    const found = Option.flatMap(need, (wanted) => toolFor(facts, wanted))
    if (Option.isSome(found)) return found.value
    const wanted = Option.match(need, { onNone: () => "a tool", onSome: needInWords })
    return yield* blocked("tool_unavailable", `The agent that took the Run does not have ${wanted} any more.`, evidence)
  })

  const confinement = Effect.fnUntraced(function* (run: RunRow) {
    const { isolation } = yield* factsOf(run)
    return { isolation }
  })

  return { tool, confinement }
})
