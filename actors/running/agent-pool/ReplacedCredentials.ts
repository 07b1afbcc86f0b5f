import type { ProvidedMark } from "../../../schema/agent/ProvidedMark.ts"
import type { ProvidedName } from "../../../schema/agent/ProvidedName.ts"

/**
 * The credentials that an agent last reported. Agents of earlier releases do not fingerprint credential values, so their
 * credential names have no marks.
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
 * Returns true if a plan may wait for the credentials that this agent has under this name. A silent agent is ignored if
 * another agent reports credentials with that name.
 */
const counts = (agent: AgentCredentials, { name }: ProvidedMark, agents: ReadonlyArray<AgentCredentials>): boolean =>
  agent.isSilent !== true || !agents.some((other) => other.isSilent !== true && markOf(other, name) !== undefined)

/**
 * Returns the credentials of a plan that have been replaced. Credentials are replaced if another agent reports different
 * values under their name and no agent can still have the original values. If no agent reports the name, the credentials are
 * not considered replaced.
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
