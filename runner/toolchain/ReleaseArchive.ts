import { Effect, FileSystem, Path } from "effect"
import { extract } from "tar"
import { ToolDownloadFailed } from "./ToolErrors.ts"

const largestExecutable = 1024 ** 3

const refuse = (message: string) =>
  new ToolDownloadFailed({
    reason: "archive",
    message,
    remedy: "Check that the mirror serves the official .tar.gz archive of the release."
  })

/**
 * Extracts the one executable from a verified release archive; nothing else is written. Returns its path. Fails with
 * `ToolDownloadFailed` "archive".
 */
export const extractExecutable = Effect.fn("ReleaseArchive.extract")(function* (
  archive: string,
  folder: string,
  executable: string
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* Effect.tryPromise({
    try: () =>
      extract({
        file: archive,
        cwd: folder,
        strict: true,
        preserveOwner: false,
        filter: (name, entry) =>
          name.replace(/^\.\//, "") === executable &&
          entry.size <= largestExecutable &&
          "type" in entry &&
          entry.type === "File"
      }),
    catch: () => refuse("The archive of the release cannot be unpacked.")
  })
  const file = path.join(folder, executable)
  if (!(yield* fileSystem.exists(file))) {
    return yield* refuse(`The archive of the release holds no regular file "${executable}".`)
  }
  yield* fileSystem.chmod(file, 0o755)
  return file
})
