import { Effect, FileSystem, Path } from "effect"

/** Start of the changelog's heading of a release. */
export const releaseHeading = (version: string) => `## ${version}`

const sumsFile = "SHA256SUMS"

/** Returns the SHA-256 of every file in the folder, in the format of `sha256sum --check`. */
export const checksums = Effect.fn("release.checksums")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(folder)).filter((name) => name !== sumsFile && !name.endsWith(".map"))
  const lines = yield* Effect.forEach(names.toSorted(), (name) =>
    Effect.map(
      files.readFile(path.join(folder, name)),
      (bytes) => `${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}  ${name}\n`
    )
  )
  return lines.join("")
})
