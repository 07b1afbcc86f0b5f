import { Duration, Effect, FileSystem, Layer, Option, Stream } from "effect"
import { SharedArchives } from "../../actors/ledger/archive/SharedArchives.ts"
import { BuildStore } from "../../runner/execution/BuildStore.ts"
import { SnapshotStorageFailed } from "../../runner/snapshot/SnapshotError.ts"
import { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import { retention } from "../../schema/records/Retention.ts"

/** Minimum age at which a copy may be removed. A newer copy may belong to a row that has not been written yet. */
const snapshotGrace = Duration.toMillis(Duration.days(1))
const buildGrace = Duration.toMillis(retention.buildArchive.after)

const notShared = () =>
  new SnapshotStorageFailed({ message: "The snapshot could not be copied to the database for the other servers." })

/**
 * Shares this server's snapshots with the other servers that use the database, and fetches another server's snapshot when
 * somebody reads it.
 */
export const sharedSnapshots = <E, R>(own: Layer.Layer<SnapshotStore, E, R>) =>
  Layer.effect(
    SnapshotStore,
    Effect.gen(function* () {
      const store = yield* SnapshotStore
      const shared = yield* SharedArchives

      /** Fetches a snapshot that is not on this disk. If the fetch fails, the read reports the missing snapshot. */
      const present = Effect.fnUntraced(function* (digest: string) {
        if (Option.isSome(yield* store.archive(digest))) return
        const file = `${yield* store.temporaryFolder}/archive`
        if (yield* shared.fetch({ kind: "snapshot", digest }, file)) yield* store.adopt(file, digest)
      }, Effect.scoped)
      const after = <A, E2, R2>(digest: string, read: Effect.Effect<A, E2, R2>) =>
        Effect.andThen(
          Effect.catch(present(digest), (error) =>
            Effect.logWarning(`The snapshot ${digest} could not be fetched from the database`, error)
          ),
          read
        )

      return SnapshotStore.of({
        ...store,
        open: (digest) => after(digest, store.open(digest)),
        digests: (digest) => after(digest, store.digests(digest)),
        files: (digest) => Stream.unwrap(after(digest, Effect.succeed(store.files(digest)))),
        extract: (digest, target) => after(digest, store.extract(digest, target)),
        archive: (digest) => after(digest, store.archive(digest)),
        adopt: Effect.fnUntraced(function* (file, digest) {
          yield* Effect.mapError(shared.publish({ kind: "snapshot", digest }, file), notShared)
          yield* store.adopt(file, digest)
        }),
        cleanUp: (keep) =>
          Effect.tap(store.cleanUp(keep), () =>
            Effect.mapError(shared.cleanUp("snapshot", keep, snapshotGrace), notShared)
          )
      })
    })
  ).pipe(Layer.provide(own), Layer.provide(SharedArchives.layer))

/** Like `sharedSnapshots`, for the archives of builds. */
export const sharedBuilds = <E, R>(own: Layer.Layer<BuildStore, E, R>, folder: string) =>
  Layer.effect(
    BuildStore,
    Effect.gen(function* () {
      const store = yield* BuildStore
      const shared = yield* SharedArchives
      const files = yield* FileSystem.FileSystem

      const fetched = Effect.fnUntraced(
        function* (build: Parameters<typeof store.find>[0]) {
          yield* files.makeDirectory(folder, { recursive: true, mode: 0o700 })
          const path = `${yield* files.makeTempDirectoryScoped({ directory: folder, prefix: "fetched-" })}/archive`
          if (!(yield* shared.fetch({ kind: "build", digest: build.digest }, path))) return Option.none()
          yield* store.adopt({ ...build, path })
          return yield* store.find(build)
        },
        Effect.scoped,
        Effect.orDie
      )

      return BuildStore.of({
        adopt: (archive) =>
          Effect.andThen(
            Effect.orDie(shared.publish({ kind: "build", digest: archive.digest }, archive.path)),
            store.adopt(archive)
          ),
        find: (build) =>
          Effect.flatMap(store.find(build), (found) => (Option.isSome(found) ? Effect.succeed(found) : fetched(build))),
        cleanUp: (keep) =>
          Effect.andThen(
            store.cleanUp(keep),
            Effect.catch(shared.cleanUp("build", keep, buildGrace), (error) =>
              Effect.logWarning("Old copies of build archives could not be removed", error)
            )
          )
      })
    })
  ).pipe(Layer.provide(own), Layer.provide(SharedArchives.layer))
