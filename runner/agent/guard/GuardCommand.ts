import { fileURLToPath } from "node:url"
import { Context } from "effect"

/**
 * The command that starts an agent's guard. By default, it runs the guard's entry point with the current runtime. A compiled
 * binary sets its own command.
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
