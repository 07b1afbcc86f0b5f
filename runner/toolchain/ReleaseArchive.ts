import { createReadStream } from "node:fs"
import { pipeline } from "node:stream"
import { createGunzip } from "node:zlib"
import { Effect, FileSystem, Path } from "effect"
import { extract } from "tar"
import { ToolDownloadFailed } from "./ToolErrors.ts"

const largestExecutable = 1024 ** 3
/** Maximum unpacked size of an archive, including licences and a change log. */
const mostUnpacked = largestExecutable + 64 * 1024 ** 2

/** Returns true if a compressed file unpacks to at most this many bytes. Stops at the limit. */
const unpacksWithin = async (file: string, most: number): Promise<boolean> => {
  let length = 0
  // If reading the file fails, `pipeline` also ends `contents` with that error.
  const contents = pipeline(createReadStream(file), createGunzip(), () => {})
  for await (const chunk of contents) {
    length += chunk.length
    if (length > most) return false
  }
  return true
}

const refuse = (message: string) =>
  new ToolDownloadFailed({
    reason: "archive",
    message,
    remedy: "Check that the mirror serves the official .tar.gz archive of the release."
  })

/**
 * Extracts the executable from a verified release archive, writes no other file, and returns the executable's path. Fails with
 * `ToolDownloadFailed` "archive". Stops and fails as soon as the archive unpacks to more than `most` bytes.
 */
export const extractExecutable = Effect.fn("ReleaseArchive.extract")(function* (
  archive: string,
  folder: string,
  executable: string,
  most: number = mostUnpacked
) {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const cannot = () => refuse("The archive of the release cannot be unpacked.")
  if (!(yield* Effect.tryPromise({ try: () => unpacksWithin(archive, most), catch: cannot })))
    return yield* refuse(`The archive of the release unpacks to more than ${most} bytes.`)
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
    catch: cannot
  })
  const file = path.join(folder, executable)
  if (!(yield* fileSystem.exists(file))) {
    return yield* refuse(`The archive of the release contains no regular file "${executable}".`)
  }
  yield* fileSystem.chmod(file, 0o755)
  return file
})
