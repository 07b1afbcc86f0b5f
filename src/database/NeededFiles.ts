import { Effect, FileSystem } from "effect"
import { neededBuilds } from "../../actors/ledger/build/BuildCleanup.ts"
import { neededSnapshots } from "../../actors/ledger/source/NeededSnapshots.ts"
import { buildFileName } from "../../runner/execution/BuildFileName.ts"
import { openArchive } from "../../runner/snapshot/ArchiveReader.ts"
import type { NeededFile } from "./BackupManifest.ts"
import { passOn } from "./FileRanges.ts"

/** Lists the files in the data folder that existing Capsules need. */
export const neededFiles = Effect.gen(function* () {
  const files: ReadonlyArray<NeededFile> = [
    ...(yield* neededSnapshots).map((digest) => ({ kind: "snapshot" as const, digest })),
    ...(yield* neededBuilds).map((digest) => ({ kind: "build" as const, digest }))
  ]
  return files
})

const sha256Of = Effect.fnUntraced(function* (file: string) {
  const fs = yield* FileSystem.FileSystem
  const handle = yield* fs.open(file, { flag: "r" })
  const { sha256 } = yield* passOn(handle, 0, Number((yield* handle.stat).size), () => Effect.void)
  return sha256
}, Effect.scoped)

/** Returns true if the contents of the file match the digest in its name. */
export const isWhole = (file: NeededFile, place: string) =>
  file.kind === "snapshot"
    ? Effect.isSuccess(openArchive(place, file.digest))
    : Effect.map(sha256Of(place), (sha256) => buildFileName(`sha256:${sha256}`) === buildFileName(file.digest))
