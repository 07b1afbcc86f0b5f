import { Context } from "effect"

/**
 * Reports that something was committed to the database by this process, whatever it was. Listeners are called at once and
 * must only take note; what was committed is then read the ordinary way.
 */
export class Commits extends Context.Service<
  Commits,
  {
    /** Registers a listener; the answer removes it. */
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
