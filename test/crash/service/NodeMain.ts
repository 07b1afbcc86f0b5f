// The same from the sources, as the packages are on Node: processes and threads are found next to their modules.
import { crashService } from "./CrashService.ts"

crashService((program) => program)
