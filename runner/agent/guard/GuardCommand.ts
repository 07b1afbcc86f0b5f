import { fileURLToPath } from "node:url"
import { Context } from "effect"

/**
 * Command that starts an agent's guard: by default, this runtime with the entry point. A compiled binary sets its own command.
 */
export const GuardCommand = Context.Reference<{ readonly program: string; readonly args: ReadonlyArray<string> }>(
  "svc/runner/agent/guard/GuardCommand",
  {
    defaultValue: () => ({
      program: process.execPath,
      args: [fileURLToPath(new URL("./GuardMain.ts", import.meta.url))]
    })
  }
)
