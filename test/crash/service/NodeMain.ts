// The same program run from source, as the packages run on Node: processes and threads are found next to their modules.
import { crashService } from "./CrashService.ts"

crashService((program) => program)
