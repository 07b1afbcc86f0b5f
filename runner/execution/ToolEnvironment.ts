import { posix } from "node:path"
import type { SandboxLevel } from "../../schema/records/Run.ts"
import { systemPath } from "../sandbox/SandboxCommandLine.ts"
import type { ProcessEnvironment } from "../sandbox/SandboxProcess.ts"
import { sandboxPaths } from "./RunFolder.ts"

/** Plugins put a socket of about 20 characters into the temporary folder, and a socket's path may have at most 107. */
const longestTemporary = 80

/** The least that programs expect; the service's own environment never takes part. */
export const baseEnvironment = (insideRoot: string, level: SandboxLevel): ProcessEnvironment => {
  const own = posix.join(insideRoot, sandboxPaths.temporary)
  return {
    PATH: systemPath,
    HOME: posix.join(insideRoot, sandboxPaths.home),
    // Only bubblewrap gives a private /tmp.
    TMPDIR: level === "bubblewrap" || own.length > longestTemporary ? "/tmp" : own,
    LANG: "C.UTF-8"
  }
}

/**
 * For a tool that starts no plugin: its collector may wait until there is more to collect, which takes a sixth off a short command.
 * Plugins would inherit it, and some of them hold too much for that. From the given size on it collects as it must. Programs of the
 * module see it too; it means something only to those that are written in Go.
 */
export const patientCollector: ProcessEnvironment = { GOGC: "400", GOMEMLIMIT: "1GiB" }

/** What makes the tool predictable: no prompts, no calls home, and only the runner's own configuration. */
export const toolEnvironment = (insideRoot: string): ProcessEnvironment => ({
  TF_IN_AUTOMATION: "1",
  TF_INPUT: "0",
  CHECKPOINT_DISABLE: "1",
  TF_CLI_CONFIG_FILE: posix.join(insideRoot, sandboxPaths.cliConfiguration)
})
