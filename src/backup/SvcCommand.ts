import { Context } from "effect"
import { fileURLToPath } from "node:url"
import { moduleBeside } from "../../runner/thread/ModuleLocation.ts"

/**
 * Program and arguments with which the server starts its own commands. Defaults to this runtime with the entry point. A compiled
 * binary starts itself.
 */
export const SvcCommand = Context.Reference<{ readonly program: string; readonly args: ReadonlyArray<string> }>(
  "svc/src/backup/SvcCommand",
  {
    defaultValue: () => ({
      program: process.execPath,
      args: [fileURLToPath(moduleBeside(import.meta.url, "../Main"))]
    })
  }
)
