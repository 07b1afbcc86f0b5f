import { fileURLToPath } from "node:url"
import { Context } from "effect"

export interface ConfinementCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/**
 * How to start the process that becomes a program of a sandbox: this runtime on the entry point by default; a compiled binary names itself.
 */
export const ConfinementCommand = Context.Reference<ConfinementCommandShape>("svc/sandbox/ConfinementCommand", {
  defaultValue: () => ({
    program: process.execPath,
    args: [fileURLToPath(new URL("./ConfineMain.ts", import.meta.url))]
  })
})
