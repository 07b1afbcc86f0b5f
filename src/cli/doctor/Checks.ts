import type { CheckFacts } from "./Check.ts"
import { folderChecks } from "./FolderChecks.ts"
import { machineChecks } from "./MachineChecks.ts"
import { serverCheck, storedChecks } from "./StoredChecks.ts"

/** Every check of `svc doctor`, and its role at server startup. */
export const checks: ReadonlyArray<CheckFacts> = [...folderChecks, serverCheck, ...storedChecks, ...machineChecks]
