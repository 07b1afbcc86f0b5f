import { Context, Effect } from "effect"
import type { HelpDoc } from "effect/cli"

/** The help of the command at a path, from which completion reads the commands and flags. */
export const CommandTree = Context.Reference<{
  readonly help: (path: ReadonlyArray<string>) => Effect.Effect<HelpDoc.HelpDoc | undefined>
}>("svc/src/cli/completion/CommandTree", { defaultValue: () => ({ help: () => Effect.undefined }) })
