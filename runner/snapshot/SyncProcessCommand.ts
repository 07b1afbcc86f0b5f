import { Context } from "effect"
import { fileURLToPath } from "node:url"
import { moduleBeside } from "../thread/ModuleLocation.ts"

export interface SyncProcessCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * Command that starts the process for one sync: by default, this runtime with the entry point. A compiled binary sets its own
 * command.
 */
export const SyncProcessCommand = Context.Reference<SyncProcessCommandShape>("svc/runner/snapshot/SyncProcessCommand", {
  defaultValue: () => ({
    program: process.execPath,
    args: [fileURLToPath(moduleBeside(import.meta.url, "../git/SyncMain"))]
  })
})
