import { Context } from "effect"

/**
 * Reports every commit made by this process. Listeners are called synchronously and must only note the fact; the data is then
 * read the ordinary way.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /** Registers a listener; call the result to remove it. */
    readonly listen: (listener: () => void) => () => void
  }
>()("svc/database/Commits") {}

/** A set of listeners that are called together. */
export const commitListeners = () => {
  const listeners = new Set<() => void>()
  return {
    committed: () => {
      for (const listener of listeners) listener()
    },
    commits: Commits.of({
      listen: (listener) => {
        listeners.add(listener)
        return () => listeners.delete(listener)
      }
    })
  }
}
