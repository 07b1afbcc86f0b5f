import { Console, Context, Effect } from "effect"

/** Whether `--quiet` is set. */
export const Quiet = Context.Reference("svc/cli/Quiet", { defaultValue: () => false })

/**
 * Progress is for people, so it goes to standard error, which scripts do not read; `--quiet` suppresses it. The caller sanitises
 * any text that comes from a server.
 */
export const progress = (line: string): Effect.Effect<void> =>
  Effect.flatMap(Quiet, (quiet) => (quiet ? Effect.void : Console.error(line)))
