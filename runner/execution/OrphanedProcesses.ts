import { join } from "node:path"
import { Effect } from "effect"
import { endProcessesIn } from "../sandbox/FolderProcesses.ts"
import { endNotedProcesses, killNotedProcesses } from "../sandbox/ProcessNote.ts"
import { processNoteName } from "./RunFolder.ts"

/**
 * Kills every process of a run whose service has exited: processes that work in its folder, sandboxes created for it, and
 * descendants of its recorded supervisors. They must all have exited before the run's state is read.
 */
export const endProcessesOfRun = (folder: string) =>
  Effect.andThen(endNotedProcesses(join(folder, processNoteName)), endProcessesIn(folder))

/** Like the above, but immediately and by force, for a Run whose lease ends while its service may be dead or suspended. */
export const killProcessesOfRun = (folder: string) =>
  Effect.andThen(killNotedProcesses(join(folder, processNoteName)), endProcessesIn(folder))
