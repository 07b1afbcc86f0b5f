import { Clock, Context, Duration, Effect, FileSystem, Layer, Option, Path } from "effect"
import { retention } from "../../schema/records/Retention.ts"
import { buildFileName } from "./BuildFileName.ts"
import type { BuildReference } from "./RunJob.ts"
import type { BuildArchive } from "./RunPlace.ts"

/** Minimum age at which an archive may be removed. A younger archive may belong to a row that has not been written yet. */
const grace = Duration.toMillis(retention.buildArchive.after)
const archiveFile = /^([0-9a-f]{64})\.tar$/

/** Stores archives of reviewed source builds, storing each one only once, under its digest. */
export class BuildStore extends Context.Service<
  BuildStore,
  {
    /** Moves an archive from a run folder to the store. Returns when the archive is safely on disk. */
    readonly adopt: (archive: BuildArchive) => Effect.Effect<BuildReference>
    /**
     * Returns the path of an archive for the runner, or `none` if the archive no longer exists. The runner verifies the digest.
     */
    readonly find: (build: BuildReference) => Effect.Effect<Option.Option<BuildArchive>>
    /** Removes archives that are not in `keep`, except young archives. */
    readonly cleanUp: (keep: ReadonlySet<string>) => Effect.Effect<void>
  }
>()("svc/runner/execution/BuildStore") {
  /**
   * Stores archives in `folder`, an absolute path on the same disk as the run folders. The folder is created when the first
   * archive is stored.
   */
  static readonly layer = ({ folder }: { readonly folder: string }) =>
    Layer.effect(
      BuildStore,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const path = yield* Path.Path

        const fileOf = Effect.fnUntraced(function* (digest: string) {
          const name = buildFileName(digest)
          if (name === undefined) return yield* Effect.die(new Error("A build archive has no sha256 digest"))
          return path.join(folder, name)
        })

        const flushed = (file: string) =>
          Effect.scoped(Effect.flatMap(files.open(file, { flag: "r" }), (handle) => handle.sync))

        const adopt = Effect.fn("BuildStore.adopt")(function* (archive: BuildArchive) {
          const target = yield* fileOf(archive.digest)
          yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
          yield* flushed(archive.path)
          // Update the timestamp even if the archive exists, so that the cleanup treats it as young.
          yield* files.rename(archive.path, target)
          yield* flushed(folder)
          const at = new Date(yield* Clock.currentTimeMillis)
          yield* files.utimes(target, at, at)
          return { digest: archive.digest, sizeBytes: archive.sizeBytes }
        }, Effect.orDie)

        const find = Effect.fnUntraced(function* (build: BuildReference) {
          const file = yield* fileOf(build.digest)
          return (yield* files.exists(file)) ? Option.some({ ...build, path: file }) : Option.none<BuildArchive>()
        }, Effect.orDie)

        const cleanUp = Effect.fn("BuildStore.cleanUp")(
          function* (keep: ReadonlySet<string>) {
            if (!(yield* files.exists(folder))) return
            const oldest = (yield* Clock.currentTimeMillis) - grace
            for (const name of yield* files.readDirectory(folder)) {
              const sha256 = archiveFile.exec(name)?.[1]
              if (sha256 === undefined || keep.has(`sha256:${sha256}`)) continue
              const file = path.join(folder, name)
              const { mtime } = yield* files.stat(file)
              if (Option.exists(mtime, (at) => at.getTime() < oldest)) yield* files.remove(file)
            }
          },
          Effect.catch((error) => Effect.logWarning("Old build archives could not be removed", error))
        )

        return BuildStore.of({ adopt, find, cleanUp })
      })
    )
}
