import { posix } from "node:path"
import type { OpenSandbox } from "../sandbox/levels/Level.ts"
import type { ProcessEnvironment } from "../sandbox/SandboxProcess.ts"
import { systemPath } from "../sandbox/SandboxView.ts"
import { sandboxPaths } from "./RunFolder.ts"

/** The minimal environment that programs need. Nothing is inherited from the server's environment. */
export const baseEnvironment = (box: Pick<OpenSandbox, "root" | "temporary">): ProcessEnvironment => ({
  PATH: systemPath,
  HOME: posix.join(box.root, sandboxPaths.home),
  TMPDIR: box.temporary,
  LANG: "C.UTF-8"
})

/** Makes the tool predictable: no prompts, no requests to its vendor, and only the runner's configuration. */
export const toolEnvironment = (insideRoot: string): ProcessEnvironment => ({
  TF_IN_AUTOMATION: "1",
  TF_INPUT: "0",
  CHECKPOINT_DISABLE: "1",
  TF_CLI_CONFIG_FILE: posix.join(insideRoot, sandboxPaths.cliConfiguration)
})
