import { join } from "node:path"
import { Effect } from "effect"
import { endProcessesIn } from "../sandbox/FolderProcesses.ts"
import { endNotedProcesses, killNotedProcesses } from "../sandbox/ProcessNote.ts"
import { processNoteName } from "./RunFolder.ts"

/**
 * Kills all processes of a run whose service has exited: processes that use the run's folder, sandboxes created for the run,
 * and descendants of its recorded supervisors. Waits until all of them have exited, because the run's state cannot be read
 * safely before then.
 */
export const endProcessesOfRun = (folder: string) =>
  Effect.andThen(endNotedProcesses(join(folder, processNoteName)), endProcessesIn(folder))

/** Like `endProcessesOfRun`, but kills immediately. Used when a Run's lease ends while its service may be dead or suspended. */
export const killProcessesOfRun = (folder: string) =>
  Effect.andThen(killNotedProcesses(join(folder, processNoteName)), endProcessesIn(folder))
