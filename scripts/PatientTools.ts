import { Effect, FileSystem, Option, Path } from "effect"
import { goGcSettings } from "../runner/toolchain/GoGcSettings.ts"
import { toolExecutables } from "../runner/toolchain/Tool.ts"
import { findOnPath } from "../runner/toolchain/ToolSearch.ts"

// The test processes keep all cores busy: a command that looks for work on a second one only takes it from them.
const oneProcessor = { GOMAXPROCS: "1" }

/** Visible in every sandbox. */
const shown = "/usr/"

/**
 * A PATH whose tools delay garbage collection and use one processor: tests start them more than a thousand times on small states,
 * and collecting takes a fifth of each command. `folder` holds the scripts that start them. A tool outside `/usr` is left as it
 * is, because a sandbox would expose its script without the tool.
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
