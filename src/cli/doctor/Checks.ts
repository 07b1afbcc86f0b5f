import type { CheckFacts } from "./Check.ts"
import { folderChecks } from "./FolderChecks.ts"
import { machineChecks } from "./MachineChecks.ts"
import { serverCheck, storedChecks } from "./StoredChecks.ts"

/** Every check that `svc doctor` runs, and what server startup does about it. */
export const checks: ReadonlyArray<CheckFacts> = [...folderChecks, serverCheck, ...storedChecks, ...machineChecks]
