import { Effect, FileSystem, Path } from "effect"

/** Returns the start of a release's heading in the changelog. */
export const releaseHeading = (version: string) => `## ${version}`

/** Returns the changelog's section about a release; empty if there is none. */
export const releaseNotes = (changelog: string, version: string): string => {
  const lines = changelog.split("\n")
  const from = lines.findIndex(
    (line) => line === releaseHeading(version) || line.startsWith(`${releaseHeading(version)} `)
  )
  if (from < 0) return ""
  const length = lines.slice(from + 1).findIndex((line) => line.startsWith("## "))
  return `${lines
    .slice(from + 1, length < 0 ? undefined : from + 1 + length)
    .join("\n")
    .trim()}\n`
}

const sumsFile = "SHA256SUMS"

/** Returns the SHA-256 of every file in the folder, in the format of `sha256sum --check`. */
export const checksums = Effect.fn("release.checksums")(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(folder)).filter((name) => name !== sumsFile)
  const lines = yield* Effect.forEach(names.toSorted(), (name) =>
    Effect.map(
      files.readFile(path.join(folder, name)),
      (bytes) => `${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}  ${name}\n`
    )
  )
  return lines.join("")
})
