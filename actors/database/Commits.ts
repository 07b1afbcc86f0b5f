import { Context } from "effect"

/**
 * Reports every commit of this process. Listeners are called synchronously and must only take note; the data is then read the
 * ordinary way.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /** Registers a listener; the result removes it. */
    readonly listen: (listener: () => void) => () => void
  }
>()("svc/database/Commits") {}

/** Listeners that can all be called together. */
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
