import { posix } from "node:path"
import type { OpenSandbox } from "../sandbox/levels/Level.ts"
import type { ProcessEnvironment } from "../sandbox/SandboxProcess.ts"
import { systemPath } from "../sandbox/SandboxView.ts"
import { sandboxPaths } from "./RunFolder.ts"

/** The least that programs expect; the service's own environment never takes part. */
export const baseEnvironment = (box: Pick<OpenSandbox, "root" | "temporary">): ProcessEnvironment => ({
  PATH: systemPath,
  HOME: posix.join(box.root, sandboxPaths.home),
  TMPDIR: box.temporary,
  LANG: "C.UTF-8"
})

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
