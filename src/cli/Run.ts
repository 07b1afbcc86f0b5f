import { commandLine } from "./CommandLine.ts"
import { svc } from "./Root.ts"

/** Runs one command line. The arguments do not include the program's name. */
export const run = commandLine(svc)
