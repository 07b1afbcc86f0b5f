import type { RunId } from "../../../schema/records/Ids.ts"

/** An agent that accepts Runs, with the number of Runs it can execute at once and the number it is executing now. */
export interface AgentPlaces {
  readonly id: string
  readonly places: number
  readonly runs: number
}

const freeOf = ({ places, runs }: AgentPlaces): number => Math.max(0, places - runs)

/**
 * Returns the total number of slots if at most one is free, because the last free slot is reserved for Runs that people
 * request. Returns `undefined` otherwise.
 */
export const placesWithLastKept = (agents: ReadonlyArray<AgentPlaces>): number | undefined => {
  const all = agents.reduce((sum, { places }) => sum + places, 0)
  const free = agents.reduce((sum, agent) => sum + freeOf(agent), 0)
  return all > 1 && free <= 1 ? all : undefined
}

/** A scheduled drift check that an agent is executing. */
export interface RunningCheck {
  readonly id: RunId
  readonly owner: string
  readonly startedAt: string
  readonly isStopping: boolean
}

/**
 * Selects the most recently started of the scheduled drift checks, to be stopped so that one of `agents` has a free slot for
 * a Run that a person requested. Returns `undefined` if one of the agents already has a free slot or if a drift check is
 * already stopping.
 */
export const checkToPreempt = (
  agents: ReadonlyArray<AgentPlaces>,
  checks: ReadonlyArray<RunningCheck>
): RunId | undefined => {
  if (agents.some((agent) => freeOf(agent) > 0)) return undefined
  const theirs = checks.filter(({ owner }) => agents.some(({ id }) => id === owner))
  if (theirs.some(({ isStopping }) => isStopping)) return undefined
  return theirs.toSorted((a, b) =>
    a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : a.id < b.id ? -1 : 1
  )[0]?.id
}
