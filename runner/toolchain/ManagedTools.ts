import { Array as Arr, Effect, FileSystem, Order, Path, Result, SemVer } from "effect"
import type { ToolCandidate } from "./Tool.ts"

/** Names of an operating system and an architecture, as in the file names of releases. */
export interface Platform {
  readonly name: string
  readonly executable: string
}

export const currentPlatform = (system: string, architecture: string): Platform | undefined => {
  const systems = new Map([
    ["linux", "linux"],
    ["darwin", "darwin"],
    ["win32", "windows"]
  ])
  const architectures = new Map([
    ["x64", "amd64"],
    ["arm64", "arm64"]
  ])
  const os = systems.get(system)
  const arch = architectures.get(architecture)
  if (os === undefined || arch === undefined) return undefined
  return { name: `${os}_${arch}`, executable: os === "windows" ? "tofu.exe" : "tofu" }
}

export interface ManagedTool extends ToolCandidate {
  readonly expected: { readonly sha256: string; readonly version: string }
}

const newestFirst = Order.flip(
  Order.mapInput(SemVer.Order, (tool: ManagedTool) => SemVer.parseUnsafe(tool.expected.version))
)

/** Returns the folder of a managed OpenTofu: `<tools>/opentofu/<version>/<os>_<arch>/<sha256 of the executable>/tofu`. */
export const managedFolder = (path: Path.Path, tools: string, version: string, platform: Platform, sha256: string) =>
  path.join(tools, "opentofu", version, platform.name, sha256)

/** Lists the managed executables for this platform, newest first. They have not been verified yet. */
export const managedTools = Effect.fn("ManagedTools.list")(function* (tools: string, platform: Platform) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const entries = (folder: string) =>
    fileSystem
      .readDirectory(folder)
      .pipe(
        Effect.catchTag("PlatformError", (error) =>
          error.reason._tag === "NotFound" ? Effect.succeed([]) : Effect.fail(error)
        )
      )
  const found: Array<ManagedTool> = []
  const root = path.join(tools, "opentofu")
  for (const version of yield* entries(root)) {
    if (Result.isFailure(SemVer.parse(version))) continue
    for (const sha256 of yield* entries(path.join(root, version, platform.name))) {
      if (!/^[0-9a-f]{64}$/.test(sha256)) continue
      const file = path.join(managedFolder(path, tools, version, platform, sha256), platform.executable)
      found.push({ path: file, origin: "managed", expected: { sha256, version } })
    }
  }
  return Arr.sort(found, newestFirst)
})
