// The same program, run from source on Node like the packages. It finds its child processes and threads next to their
// modules.
import { crashService } from "./CrashService.ts"

crashService((program) => program)
