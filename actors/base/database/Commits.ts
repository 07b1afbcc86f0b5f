import { Context } from "effect"

/**
 * Notifies listeners of writes by this process. Listeners are called synchronously, so they must only note the change and
 * read the data later.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /** Registers a listener for every commit. Returns a function that removes it. */
    readonly listen: (listener: () => void) => () => void
    /**
     * Registers a listener that is called before every statement of the writing connection. Returns a function that removes it.
     */
    readonly beforeWrites: (listener: () => void) => () => void
  }
>()("svc/actors/base/database/Commits") {}

/** Creates a set of listeners that are called together. */
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

/** Creates the service, and the callbacks for the writing connection. */
export const commitListeners = () => {
  const afterCommits = listeners()
  const beforeWrites = listeners()
  return {
    before: beforeWrites.call,
    committed: afterCommits.call,
    commits: Commits.of({ listen: afterCommits.add, beforeWrites: beforeWrites.add })
  }
}
