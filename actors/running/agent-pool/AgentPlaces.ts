import type { RunId } from "../../../schema/records/Ids.ts"

/** An agent that accepts Runs, the number of Runs that it can execute at once, and the number that it is executing now. */
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

/**
 * A Run that svc may stop on an agent to make room for a person's Run: a scheduled drift check, or the plan of a pull
 * request's head.
 */
export interface RunningCheck {
  readonly id: RunId
  readonly owner: string
  readonly startedAt: string
  readonly isStopping: boolean
  readonly isHeadPlan?: boolean
}

/**
 * Selects the Run to stop so that one of `agents` has room for a person's Run: the most recently started drift check or, if the
 * agents have only one slot, the plan of a pull request's head. Returns `undefined` if one of the agents has a free slot, or
 * if one of the Runs is already stopping.
 */
export const checkToPreempt = (
  agents: ReadonlyArray<AgentPlaces>,
  checks: ReadonlyArray<RunningCheck>
): RunId | undefined => {
  if (agents.some((agent) => freeOf(agent) > 0)) return undefined
  const isOnlyPlace = agents.reduce((sum, { places }) => sum + places, 0) === 1
  const theirs = checks.filter(
    ({ isHeadPlan, owner }) => (isHeadPlan !== true || isOnlyPlace) && agents.some(({ id }) => id === owner)
  )
  if (theirs.some(({ isStopping }) => isStopping)) return undefined
  return theirs.toSorted((a, b) =>
    a.startedAt < b.startedAt ? 1 : a.startedAt > b.startedAt ? -1 : a.id < b.id ? -1 : 1
  )[0]?.id
}
