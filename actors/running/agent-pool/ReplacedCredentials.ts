import type { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import type { ProvidedName } from "../../../schema/agent/ProvidedName.ts"

/**
 * An agent's last report about its own credentials. A name without a mark comes from an agent of an earlier release, which does
 * not identify its values.
 */
export interface AgentCredentials {
  readonly agentId: string
  readonly names: ReadonlyArray<ProvidedName>
  readonly marks: ReadonlyArray<ProvidedMark>
  /** True if it may never come back. */
  readonly isSilent?: boolean | undefined
}

const markOf = ({ marks }: Pick<AgentCredentials, "marks">, name: ProvidedName): string | undefined =>
  marks.find((one) => one.name === name)?.mark

/** True if the agent may have exactly the credentials of a plan. */
const mayHave = (agent: AgentCredentials, { mark, name }: ProvidedMark): boolean => {
  const own = markOf(agent, name)
  return own === undefined ? agent.names.includes(name) : own === mark
}

/**
 * True if a plan may wait for the agent's credential of that name. It may not if the agent may never come back and another agent
 * reports credentials of that name.
 */
const counts = (agent: AgentCredentials, { name }: ProvidedMark, agents: ReadonlyArray<AgentCredentials>): boolean =>
  agent.isSilent !== true || !agents.some((other) => other.isSilent !== true && markOf(other, name) !== undefined)

/**
 * The replaced credentials of a plan: an agent of the pool has different credentials under the name, and no agent can still have
 * the originals. A name that no agent currently has proves nothing.
 */
export const replacedOf = (
  planned: ReadonlyArray<ProvidedMark>,
  agents: ReadonlyArray<AgentCredentials>
): ReadonlyArray<ProvidedName> =>
  planned
    .filter(
      (each) =>
        agents.some((agent) => markOf(agent, each.name) !== undefined) &&
        !agents.some((agent) => counts(agent, each, agents) && mayHave(agent, each))
    )
    .map(({ name }) => name)

/**
 * The agents that may apply a plan, according to its credentials. `undefined` if there are none: any agent then accepts the
 * apply, which fails with the reason.
 */
export const holdersOf = (
  planned: ReadonlyArray<ProvidedMark>,
  agents: ReadonlyArray<AgentCredentials>
): ReadonlyArray<string> | undefined => {
  const holders = agents.filter((agent) => planned.every((each) => counts(agent, each, agents) && mayHave(agent, each)))
  return planned.length === 0 || holders.length === 0 ? undefined : holders.map(({ agentId }) => agentId)
}
