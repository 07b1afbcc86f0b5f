import { Context } from "effect"

/**
 * Reports writes by this process. Listeners are called synchronously and must only record the fact; readers then read the data
 * normally.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /** Registers a listener for every commit; call the result to remove it. */
    readonly listen: (listener: () => void) => () => void
    /** Likewise, for every statement of the writing connection, before it is executed. */
    readonly beforeWrites: (listener: () => void) => () => void
  }
>()("svc/actors/base/database/Commits") {}

/** A set of listeners that are called together. */
const listeners = () => {
  const all = new Set<() => void>()
  return {
    call: () => {
      for (const listener of all) listener()
    },
    add: (listener: () => void) => {
      all.add(listener)
      return () => {
        all.delete(listener)
      }
    }
  }
}

/** The service, and what the writing connection calls. */
export const commitListeners = () => {
  const afterCommits = listeners()
  const beforeWrites = listeners()
  return {
    before: beforeWrites.call,
    committed: afterCommits.call,
    commits: Commits.of({ listen: afterCommits.add, beforeWrites: beforeWrites.add })
  }
}
