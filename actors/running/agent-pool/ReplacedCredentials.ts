import type { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import type { ProvidedName } from "../../../schema/agent/ProvidedName.ts"

/**
 * The credentials that an agent last reported. An agent of an earlier release does not fingerprint its values, so its names have
 * no marks.
 */
export interface AgentCredentials {
  readonly agentId: string
  readonly names: ReadonlyArray<ProvidedName>
  readonly marks: ReadonlyArray<ProvidedMark>
  /** True if the agent may never return. */
  readonly isSilent?: boolean | undefined
}

const markOf = ({ marks }: Pick<AgentCredentials, "marks">, name: ProvidedName): string | undefined =>
  marks.find((one) => one.name === name)?.mark

/** Returns true if the agent may have exactly the credentials of a plan. */
const mayHave = (agent: AgentCredentials, { mark, name }: ProvidedMark): boolean => {
  const own = markOf(agent, name)
  return own === undefined ? agent.names.includes(name) : own === mark
}

/**
 * Returns true if a plan may wait for the agent's credentials of this name. A silent agent does not count if another agent
 * reports credentials of that name.
 */
const counts = (agent: AgentCredentials, { name }: ProvidedMark, agents: ReadonlyArray<AgentCredentials>): boolean =>
  agent.isSilent !== true || !agents.some((other) => other.isSilent !== true && markOf(other, name) !== undefined)

/**
 * Returns the credentials of a plan that have been replaced: another agent reports different values under the name, and no agent
 * can still have the original ones. If no agent reports the name, the credentials do not count as replaced.
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
 * Returns the agents whose credentials allow them to apply a plan. Returns `undefined` if there are none: any agent may then take
 * the apply, which fails with the reason.
 */
export const holdersOf = (
  planned: ReadonlyArray<ProvidedMark>,
  agents: ReadonlyArray<AgentCredentials>
): ReadonlyArray<string> | undefined => {
  const holders = agents.filter((agent) => planned.every((each) => counts(agent, each, agents) && mayHave(agent, each)))
  return planned.length === 0 || holders.length === 0 ? undefined : holders.map(({ agentId }) => agentId)
}
