import type { Run } from "../../../schema/records/Run.ts"
import type { RunAgent } from "../../../schema/records/RunAgent.ts"
import { timeText } from "./Rows.ts"
import { terminalText } from "./TerminalText.ts"

/** What only the agent's disk has of an apply. */
const unsavedText = ({ startedAt, state }: RunAgent): string | undefined => {
  if (startedAt === undefined || state === undefined) return undefined
  const { newestSerial, savedAt, savedSerial } = state
  if (savedAt === undefined) return "no state of this apply is saved at the server yet"
  if (newestSerial !== undefined && newestSerial === savedSerial) return "the newest state is saved at the server"
  return `what is newer than ${savedAt} would be lost with the agent's disk`
}

/** A Run of a pool, in facts: who executes it, why it waits, and since when its agent is silent. */
export const agentFacts = (run: Run): ReadonlyArray<readonly [name: string, value: string | undefined]> => {
  const { agent, agentUnreachableSince, pool, queue } = run
  return [
    ["waits", queue === undefined ? undefined : terminalText(queue.message)],
    ["pool", pool],
    ["agent", agent === undefined ? undefined : `${terminalText(agent.name)} (${agent.id}), fence ${agent.fence}`],
    ["heard of", timeText(agent?.heardAt)],
    ["unreachable", agentUnreachableSince === undefined ? undefined : `since ${timeText(agentUnreachableSince)}`],
    ["given up", agent?.givenUpAt === undefined ? undefined : `about ${timeText(agent.givenUpAt)}`],
    ["state", agent === undefined ? undefined : unsavedText(agent)]
  ]
}
