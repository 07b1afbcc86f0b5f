import { Clock, Context, Duration, Effect, FileSystem, Layer, Option, Path } from "effect"
import { SqlClient } from "effect/sql"
import type { BuildArchive } from "../../runner/execution/RunJob.ts"
import { RunSettings } from "../run/RunSettings.ts"
import { livingCapsule } from "../../schema/tables/CapsuleTables.ts"

/** What a record keeps of a build: enough to find the archive again and to notice another one in its place. */
export interface StoredBuild {
  readonly digest: string
  readonly sizeBytes: number
}

/** Columns of a row that refers to a build. */
export interface BuildColumns {
  readonly build_digest: string | null
  readonly build_size_bytes: number | null
}

export const buildColumns = (build: StoredBuild | undefined): BuildColumns => ({
  build_digest: build?.digest ?? null,
  build_size_bytes: build?.sizeBytes ?? null
})

export const storedBuild = (row: BuildColumns): StoredBuild | undefined =>
  row.build_digest === null ? undefined : { digest: row.build_digest, sizeBytes: row.build_size_bytes ?? 0 }

/** Archives younger than this are never swept: the row that refers to them may be on its way. */
const grace = Duration.toMillis(Duration.hours(1))
const digestText = /^sha256:([0-9a-f]{64})$/
const archiveFile = /^([0-9a-f]{64})\.tar$/

/**
 * What reviewed source builds made, each archive once under its digest: kept while a plan may still be applied with it, and
 * while it belongs to a Capsule's current state.
 */
export class BuildArchives extends Context.Service<
  BuildArchives,
  {
    /** Takes an archive out of a run folder. It is on disk when this answers. */
    readonly adopt: (archive: BuildArchive) => Effect.Effect<StoredBuild>
    /** The archive where the runner can read it; none when it is gone. The runner compares the digest. */
    readonly find: (build: StoredBuild) => Effect.Effect<Option.Option<BuildArchive>>
    /** Removes what no plan and no current state refers to. */
    readonly cleanUp: Effect.Effect<void>
  }
>()("svc/actors/build/BuildArchives") {
  static readonly layer = Layer.effect(
    BuildArchives,
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const files = yield* FileSystem.FileSystem
      const path = yield* Path.Path
      const { buildsFolder } = yield* RunSettings

      const fileOf = Effect.fnUntraced(function* (digest: string) {
        const sha256 = digestText.exec(digest)?.[1]
        if (sha256 === undefined) return yield* Effect.die(new Error("A build archive has no sha256 digest"))
        return path.join(buildsFolder, `${sha256}.tar`)
      })

      const flushed = (file: string) =>
        Effect.scoped(Effect.flatMap(files.open(file, { flag: "r" }), (handle) => handle.sync))

      const adopt = Effect.fn("BuildArchives.adopt")(function* (archive: BuildArchive) {
        const target = yield* fileOf(archive.digest)
        yield* files.makeDirectory(buildsFolder, { recursive: true, mode: 0o700 })
        yield* flushed(archive.path)
        // Also when it is there already: its time protects it from the cleanup.
        yield* files.rename(archive.path, target)
        yield* flushed(buildsFolder)
        const at = new Date(yield* Clock.currentTimeMillis)
        yield* files.utimes(target, at, at)
        return { digest: archive.digest, sizeBytes: archive.sizeBytes }
      }, Effect.orDie)

      const find = Effect.fnUntraced(function* (build: StoredBuild) {
        const file = yield* fileOf(build.digest)
        return (yield* files.exists(file)) ? Option.some({ ...build, path: file }) : Option.none<BuildArchive>()
      }, Effect.orDie)

      const cleanUp = Effect.gen(function* () {
        if (!(yield* files.exists(buildsFolder))) return
        const names = yield* files.readDirectory(buildsFolder)
        if (names.length === 0) return
        const rows = yield* sql<{ build_digest: string }>`
          SELECT build_digest FROM run_plans WHERE build_digest IS NOT NULL
          UNION SELECT v.build_digest FROM state_versions v JOIN capsules c ON c.current_state_version_id = v.id
            WHERE v.build_digest IS NOT NULL AND ${sql.literal(livingCapsule("c."))}`
        const keep = new Set(rows.map((row) => row.build_digest))
        const oldest = (yield* Clock.currentTimeMillis) - grace
        for (const name of names) {
          const sha256 = archiveFile.exec(name)?.[1]
          if (sha256 === undefined || keep.has(`sha256:${sha256}`)) continue
          const file = path.join(buildsFolder, name)
          const { mtime } = yield* files.stat(file)
          if (Option.exists(mtime, (at) => at.getTime() < oldest)) yield* files.remove(file)
        }
      }).pipe(
        Effect.catch((error) => Effect.logWarning("Old build archives could not be removed", error)),
        Effect.withSpan("BuildArchives.cleanUp")
      )

      return BuildArchives.of({ adopt, find, cleanUp })
    })
  )
}
