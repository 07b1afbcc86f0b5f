import { Context } from "effect"
import { fileURLToPath } from "node:url"

export interface SyncProcessCommandShape {
  readonly program: string
  readonly args: ReadonlyArray<string>
}

/** How to start the process of one sync: this runtime on the entry point by default; a compiled binary names itself. */
export const SyncProcessCommand = Context.Reference<SyncProcessCommandShape>("svc/snapshot/SyncProcessCommand", {
  defaultValue: () => ({
    program: process.execPath,
    args: [fileURLToPath(new URL("../git/SyncMain.ts", import.meta.url))]
  })
})
