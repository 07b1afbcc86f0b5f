import { Console, Context, Effect } from "effect"
import { visibleText } from "../../../schema/records/VisibleText.ts"

/** True if `--quiet` is set. */
export const Quiet = Context.Reference("svc/src/cli/remote/Quiet", { defaultValue: () => false })

/**
 * Progress is for people, so it goes to standard error, which scripts do not read; `--quiet` suppresses it. Invisible
 * characters are spelled out here; the caller removes control characters from text of a server.
 */
export const progress = (line: string): Effect.Effect<void> =>
  Effect.flatMap(Quiet, (quiet) => (quiet ? Effect.void : Console.error(visibleText(line))))
