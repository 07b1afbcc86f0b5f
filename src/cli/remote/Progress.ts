import { Console, Context, Effect } from "effect"

/** Set by `--quiet`. */
export const Quiet = Context.Reference("svc/cli/Quiet", { defaultValue: () => false })

/**
 * Progress is for people, so it goes to standard error, where scripts do not read; `--quiet` leaves it out. The caller
 * makes text of a server safe.
 */
export const progress = (line: string): Effect.Effect<void> =>
  Effect.flatMap(Quiet, (quiet) => (quiet ? Effect.void : Console.error(line)))
