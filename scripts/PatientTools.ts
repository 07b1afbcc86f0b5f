import { Effect, FileSystem, Option, Path } from "effect"
import { goGcSettings } from "../runner/toolchain/GoGcSettings.ts"
import { toolExecutables } from "../runner/toolchain/Tool.ts"
import { findOnPath } from "../runner/toolchain/ToolSearch.ts"

// Limits tools to one thread. The test processes keep all cores busy, so additional threads would only slow the test
// processes down.
const oneProcessor = { GOMAXPROCS: "1" }

/** Folder that every sandbox can see. */
const shown = "/usr/"

/**
 * Returns a PATH whose tools delay garbage collection and use one processor. Tests start these tools more than a thousand
 * times with small states, and garbage collection would take a fifth of each command's time. Writes the scripts that start
 * the tools to `folder`. Leaves a tool outside `/usr` unchanged, because a sandbox would contain the script but not the
 * tool.
 */
export const patientPath = Effect.fn("patientPath")(function* (searchPath: string, folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const settings = Object.entries({ ...goGcSettings, ...oneProcessor }).map(([name, value]) => `${name}=${value}`)
  for (const name of Object.values(toolExecutables)) {
    const found = yield* findOnPath(searchPath, name)
    if (Option.isNone(found) || !found.value.path.startsWith(shown)) continue
    const script = path.join(folder, name)
    yield* files.writeFileString(script, `#!/bin/sh\n${settings.join(" ")} exec '${found.value.path}' "$@"\n`)
    yield* files.chmod(script, 0o755)
  }
  yield* files.chmod(folder, 0o755)
  return `${folder}:${searchPath}`
})
