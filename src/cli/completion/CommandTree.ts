import { Context, Effect } from "effect"
import type { HelpDoc } from "effect/cli"

/** The help text of the command at a path. Completion reads the commands and flags from this text. */
export const CommandTree = Context.Reference<{
  readonly help: (path: ReadonlyArray<string>) => Effect.Effect<HelpDoc.HelpDoc | undefined>
}>("svc/src/cli/completion/CommandTree", { defaultValue: () => ({ help: () => Effect.undefined }) })
