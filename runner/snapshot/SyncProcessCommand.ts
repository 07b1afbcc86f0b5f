import { Context } from "effect"
import { fileURLToPath } from "node:url"
import { moduleBeside } from "../thread/ModuleLocation.ts"

export interface SyncProcessCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * The command that starts the process for one sync. By default, it runs the entry point with the current runtime. A compiled
 * binary sets its own command.
 */
export const SyncProcessCommand = Context.Reference<SyncProcessCommandShape>("svc/runner/snapshot/SyncProcessCommand", {
  defaultValue: () => ({
    program: process.execPath,
    args: [fileURLToPath(moduleBeside(import.meta.url, "../git/SyncMain"))]
  })
})
