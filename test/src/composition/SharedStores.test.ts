import { expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { createHash } from "node:crypto"
import { Context, Effect, FileSystem, Layer, Option } from "effect"
import { SqlClient } from "effect/sql"
import { SharedDatabase } from "../../../actors/base/node/Nodes.ts"
import { BuildStore } from "../../../runner/execution/BuildStore.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { sharedBuilds, sharedSnapshots } from "../../../src/composition/SharedStores.ts"
import { on } from "../../actors/base/node/support/Servers.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

/** Returns the stores of a server that has its own disk. */
const server = Effect.fnUntraced(function* (shared = true) {
  const folder = yield* temporaryFolder
  const own = Layer.merge(
    sharedSnapshots(SnapshotStore.layer({ folder: `${folder}/snapshots` })),
    sharedBuilds(BuildStore.layer({ folder: `${folder}/builds` }), `${folder}/builds`)
  ).pipe(Layer.provide(Layer.succeed(SharedDatabase, shared)))
  const built = yield* Layer.build(Layer.fresh(own))
  return { folder, snapshots: Context.get(built, SnapshotStore), builds: Context.get(built, BuildStore) }
})

const bytes = new Uint8Array(2_500_000).map((_, index) => index % 251)
const digest = `sha256:${createHash("sha256").update(bytes).digest("hex")}`

const written = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  yield* files.writeFile(`${folder}/made`, bytes)
  return `${folder}/made`
})

const age = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`UPDATE shared_archives SET stored_at = '2020'`)
const parts = Effect.flatMap(SqlClient.SqlClient, (sql) => sql`SELECT part FROM shared_archive_parts ORDER BY part`)

it.live("a server reads another server's snapshots and builds, byte for byte", () =>
  on(
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const [one, other] = [yield* server(), yield* server()]
      const build = { digest, sizeBytes: bytes.length }
      yield* one.builds.adopt({ ...build, path: yield* written(one.folder) })
      yield* one.snapshots.adopt(yield* written(one.folder), digest)
      const found = Option.getOrThrow(yield* other.builds.find(build))
      const archive = Option.getOrThrow(yield* other.snapshots.archive(digest))
      expect(new Uint8Array(yield* files.readFile(found.path))).toEqual(bytes)
      expect(new Uint8Array(yield* files.readFile(archive))).toEqual(bytes)
    }).pipe(Effect.provide(NodeServices.layer))
  )
)

it.live("cleanup removes an old copy that nothing needs, unless a server has stored the copy again", () =>
  on(
    Effect.gen(function* () {
      const [one, other] = [yield* server(), yield* server()]
      yield* one.snapshots.adopt(yield* written(one.folder), digest)
      expect((yield* parts).length).toBeGreaterThan(1)
      yield* other.snapshots.cleanUp(new Set())
      yield* age
      yield* other.snapshots.cleanUp(new Set([digest]))
      yield* one.snapshots.adopt(yield* written(one.folder), digest)
      yield* other.snapshots.cleanUp(new Set())
      expect(Option.isSome(yield* other.snapshots.archive(digest))).toBe(true)
      yield* age
      yield* one.snapshots.cleanUp(new Set())
      expect(yield* parts).toEqual([])
      expect(Option.isSome(yield* (yield* server()).snapshots.archive(digest))).toBe(false)
    }).pipe(Effect.provide(NodeServices.layer))
  )
)

it.live("cleanup removes the parts that a killed server left behind", () =>
  on(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const one = yield* server()
      yield* sql`INSERT INTO shared_archive_parts ${sql.insert({ copy: "c", part: 0, stored_at: "2020", bytes })}`
      yield* one.snapshots.cleanUp(new Set())
      expect(yield* parts).toEqual([])
    }).pipe(Effect.provide(NodeServices.layer))
  )
)

it.live("a single server copies nothing to its database", () =>
  on(
    Effect.gen(function* () {
      const one = yield* server(false)
      yield* one.snapshots.adopt(yield* written(one.folder), digest)
      yield* one.builds.adopt({ digest, sizeBytes: bytes.length, path: yield* written(one.folder) })
      expect(yield* parts).toEqual([])
    }).pipe(Effect.provide(NodeServices.layer))
  )
)
