import { Context } from "effect"
import { fileURLToPath } from "node:url"
import { moduleBeside } from "../../runner/thread/ModuleLocation.ts"

/** How the server starts a command of its own: this runtime on the entry point by default; a compiled binary names itself. */
export const SvcCommand = Context.Reference<{ readonly program: string; readonly args: ReadonlyArray<string> }>(
  "svc/backup/SvcCommand",
  {
    defaultValue: () => ({
      program: process.execPath,
      args: [fileURLToPath(moduleBeside(import.meta.url, "../Main"))]
    })
  }
)
