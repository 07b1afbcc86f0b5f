import type { Run } from "../../../schema/records/Run.ts"
import type { RunAgent } from "../../../schema/records/RunAgent.ts"
import { timeText } from "./Rows.ts"
import { terminalText } from "./TerminalText.ts"

/** Describes the parts of an apply's result that only the agent has stored so far. */
const unsavedText = ({ startedAt, state }: RunAgent): string | undefined => {
  if (startedAt === undefined || state === undefined) return undefined
  const { newestSerial, savedAt, savedSerial } = state
  if (savedAt === undefined) return "no state of this apply is saved at the server yet"
  if (newestSerial !== undefined && newestSerial === savedSerial) return "the newest state is saved at the server"
  return `what is newer than ${savedAt} would be lost with the agent's disk`
}

const agentEvents = {
  "agent.unreachable": (since) => `the agent is not heard of since ${since}`,
  "agent.returned": () => "the agent is heard of again",
  "agent.unanswered": (since) => `the agent is heard, but acknowledgements do not arrive there since ${since}`,
  "agent.answered": () => "acknowledgements arrive at the agent again"
} satisfies Readonly<Record<string, (since: string) => string>>

const isOfAgent = (kind: string): kind is keyof typeof agentEvents => Object.hasOwn(agentEvents, kind)

/** Describes an event about the connection to a Run's agent. Returns `undefined` for other events. */
export const agentEventText = (kind: string, { since }: Readonly<Record<string, unknown>>): string | undefined =>
  isOfAgent(kind)
    ? agentEvents[kind]((typeof since === "string" ? timeText(since) : undefined) ?? "some time")
    : undefined

/**
 * Lists facts about a Run in a pool: the agent that executes it, the reason why it is waiting, and how long ago the agent
 * last responded.
 */
export const agentFacts = (run: Run): ReadonlyArray<readonly [name: string, value: string | undefined]> => {
  const { agent, agentUnreachableSince, pool, queue } = run
  return [
    ["waits", queue === undefined ? undefined : terminalText(queue.message)],
    ["pool", pool],
    ["agent", agent === undefined ? undefined : `${terminalText(agent.name)} (${agent.id}), fence ${agent.fence}`],
    ["heard of", timeText(agent?.heardAt)],
    ["unreachable", agentUnreachableSince === undefined ? undefined : `since ${timeText(agentUnreachableSince)}`],
    [
      "unanswered",
      agent?.unansweredSince === undefined
        ? undefined
        : `responses to the agent have been lost since ${timeText(agent.unansweredSince)}`
    ],
    ["given up", agent?.givenUpAt === undefined ? undefined : `about ${timeText(agent.givenUpAt)}`],
    ["state", agent === undefined ? undefined : unsavedText(agent)]
  ]
}
