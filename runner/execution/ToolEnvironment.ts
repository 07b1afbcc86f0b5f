import { posix } from "node:path"
import type { OpenSandbox } from "../sandbox/levels/Level.ts"
import type { ProcessEnvironment } from "../sandbox/SandboxProcess.ts"
import { systemPath } from "../sandbox/SandboxView.ts"
import { goGcSettings } from "../toolchain/GoGcSettings.ts"
import type { CredentialDelivery } from "./CredentialDelivery.ts"
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

/**
 * Access that a tool command needs: `install` can contact registries, and `credentials` gets the credentials of the module's
 * providers.
 */
export type ToolAccess = "none" | "install" | "credentials"

interface EnvironmentPlace {
  readonly insideRoot: string
  readonly temporary: string
  readonly cwd: string
  readonly isUninstalled: boolean
}

/**
 * Returns the tool's environment for each kind of access. Only an installation gets registry tokens, and only `credentials`
 * gets the remaining secrets.
 */
export const environmentsOf = (
  delivery: Pick<CredentialDelivery, "environment">,
  { cwd, insideRoot, isUninstalled, temporary }: EnvironmentPlace
): Readonly<Record<ToolAccess, ProcessEnvironment>> => {
  const plain = {
    ...baseEnvironment({ root: insideRoot, temporary }),
    ...toolEnvironment(insideRoot),
    // If the path is a link, programs can find it only through `PWD`.
    PWD: posix.join(insideRoot, cwd)
  }
  const common = isUninstalled ? { ...plain, ...goGcSettings } : plain
  const registryTokens = Object.fromEntries(
    Object.entries(delivery.environment).filter(([name]) => name.startsWith("TF_TOKEN_"))
  )
  return {
    none: common,
    install: { ...plain, ...goGcSettings, ...registryTokens },
    credentials: { ...common, ...delivery.environment }
  }
}
