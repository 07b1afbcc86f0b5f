import type { ProvidedMark } from "../../schema/agent/ProvidedMark.ts"
import type { ProvidedName } from "../../schema/agent/ProvidedName.ts"

/** What an agent last said of its own credentials. A name without a mark: it has them, and an earlier release does not say which. */
export interface AgentCredentials {
  readonly agentId: string
  readonly names: ReadonlyArray<ProvidedName>
  readonly marks: ReadonlyArray<ProvidedMark>
}

const markOf = ({ marks }: Pick<AgentCredentials, "marks">, name: ProvidedName): string | undefined =>
  marks.find((one) => one.name === name)?.mark

/** Whether the agent may have the very credentials that a plan was made with. */
const mayHave = (agent: AgentCredentials, { mark, name }: ProvidedMark): boolean => {
  const own = markOf(agent, name)
  return own === undefined ? agent.names.includes(name) : own === mark
}

/**
 * The credentials of a plan that were replaced: an agent of the pool has others under the name, and none may still have these. A name that no agent
 * has for now says nothing.
 */
export const replacedOf = (
  planned: ReadonlyArray<ProvidedMark>,
  agents: ReadonlyArray<AgentCredentials>
): ReadonlyArray<ProvidedName> =>
  planned
    .filter(
      (each) =>
        agents.some((agent) => markOf(agent, each.name) !== undefined) && !agents.some((agent) => mayHave(agent, each))
    )
    .map(({ name }) => name)

/** The agents that may apply a plan for its credentials; `undefined` where that says nothing, so that the apply itself says why. */
export const holdersOf = (
  planned: ReadonlyArray<ProvidedMark>,
  agents: ReadonlyArray<AgentCredentials>
): ReadonlyArray<string> | undefined => {
  const holders = agents.filter((agent) => planned.every((each) => mayHave(agent, each)))
  return planned.length === 0 || holders.length === 0 ? undefined : holders.map(({ agentId }) => agentId)
}
