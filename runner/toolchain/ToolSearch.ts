import { Effect, FileSystem, Option, Path } from "effect"
import type { ToolCandidate } from "./Tool.ts"

const executableBits = 0o111

/**
 * Finds the first executable with the given name in the absolute folders of a PATH. Skips relative folders, which depend on
 * the working folder.
 */
export const findOnPath = Effect.fn("ToolSearch.findOnPath")(function* (searchPath: string, executable: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const separator = path.sep === "\\" ? ";" : ":"
  for (const folder of searchPath.split(separator)) {
    if (!path.isAbsolute(folder)) continue
    const file = path.join(folder, path.sep === "\\" ? `${executable}.exe` : executable)
    const found = yield* Effect.option(fileSystem.stat(file))
    const runs = Option.exists(found, ({ type, mode }) => type === "File" && (mode & executableBits) !== 0)
    if (runs) return Option.some<ToolCandidate>({ path: file, origin: "path" })
  }
  return Option.none<ToolCandidate>()
})
