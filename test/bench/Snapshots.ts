import { Clock, Effect, FileSystem, Layer, Schema } from "effect"
import { GitPolicy } from "../../runner/git/GitPolicy.ts"
import { GitRemote } from "../../runner/git/GitRemote.ts"
import { InstalledGit } from "../../runner/git/InstalledGit.ts"
import { GitRef } from "../../schema/git/GitRef.ts"
import { GitAddress } from "../../schema/git/GitAddress.ts"
import { folderTree } from "../../runner/scan/FolderTree.ts"
import { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import { SnapshotStore } from "../../runner/snapshot/SnapshotStore.ts"
import { SnapshotSync } from "../../runner/snapshot/SnapshotSync.ts"
import { SyncProcessCommand } from "../../runner/snapshot/SyncProcessCommand.ts"
import { syncArgument } from "../../src/BinaryArguments.ts"
import { type Figure, median } from "./support/Figures.ts"
import { manyFiles, module, moduleOfFiles, repositoryOf } from "./support/Modules.ts"

const rounds = 3

const timed = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const started = yield* Clock.currentTimeMillis
  yield* work
  return (yield* Clock.currentTimeMillis) - started
})

const repeated = Effect.fnUntraced(function* <A, E, R>(work: Effect.Effect<A, E, R>) {
  const times: Array<number> = []
  for (let round = 0; round < rounds; round++) times.push(yield* timed(work))
  return median(times)
})

/** Measures a sync of a large repository, with and without git, and the scan of a large module. */
export const snapshots = (binary: string) =>
  Effect.gen(function* () {
    const files = yield* FileSystem.FileSystem
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-snapshots-" })
    const repository = yield* repositoryOf({ "main.tf": module, ...manyFiles(2499) })
    const sync = (native: "auto" | "off") => {
      const git = Layer.mergeAll(GitRemote.layer, InstalledGit.layer).pipe(
        Layer.provideMerge(GitPolicy.layerWith({ allowOrigins: [repository.origin], native }))
      )
      const layer = SnapshotSync.layer.pipe(
        Layer.provide(Layer.mergeAll(git, SnapshotStore.layer({ folder: `${folder}/${native}` }))),
        Layer.provide(git)
      )
      return Effect.flatMap(SnapshotSync, (service) =>
        repeated(
          service
            .sync({
              url: Schema.decodeUnknownSync(GitAddress)(repository.url),
              ref: Schema.decodeUnknownSync(GitRef)("HEAD"),
              path: "."
            })
            .pipe(Effect.provideService(SyncProcessCommand, { program: binary, args: [syncArgument] }))
        )
      ).pipe(Effect.provide(layer))
    }
    const native = yield* sync("auto")
    const own = yield* sync("off")
    for (const [name, text] of Object.entries(moduleOfFiles(100)))
      yield* files.writeFileString(`${yield* made(folder)}/${name}`, text)
    const scan = yield* Effect.gen(function* () {
      const scanner = yield* ModuleScanner
      const tree = yield* folderTree(`${folder}/module`)
      yield* scanner.scanModule(tree, ".")
      return yield* repeated(scanner.scanModule(tree, "."))
    }).pipe(Effect.provide(ModuleScanner.layer))
    const figures: ReadonlyArray<Figure> = [
      { name: "sync of a 2,500-file repository, installed git", figure: native, unit: "ms" },
      { name: "sync of a 2,500-file repository, without git", figure: own, unit: "ms" },
      { name: "scan of a 100-file module", figure: scan, unit: "ms" }
    ]
    return figures
  }).pipe(Effect.scoped)

const made = Effect.fnUntraced(function* (folder: string) {
  const files = yield* FileSystem.FileSystem
  yield* files.makeDirectory(`${folder}/module`, { recursive: true })
  return `${folder}/module`
})
