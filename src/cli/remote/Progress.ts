import { Console, Context, Effect } from "effect"
import { visibleText } from "../../../schema/records/VisibleText.ts"

/** True if `--quiet` is set. */
export const Quiet = Context.Reference("svc/src/cli/remote/Quiet", { defaultValue: () => false })

/**
 * Prints human-readable progress to standard error, so that scripts that read standard output are unaffected. `--quiet`
 * suppresses it. Escapes invisible characters; the caller must remove control characters from text that a server sent.
 */
export const progress = (line: string): Effect.Effect<void> =>
  Effect.flatMap(Quiet, (quiet) => (quiet ? Effect.void : Console.error(visibleText(line))))
