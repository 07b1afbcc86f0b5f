import { fileURLToPath } from "node:url"
import { Context } from "effect"
import { moduleBeside } from "../../thread/ModuleLocation.ts"

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
    args: [fileURLToPath(moduleBeside(import.meta.url, "./ConfineMain"))]
  })
})
