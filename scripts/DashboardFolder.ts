import { Effect, FileSystem, Path, Schema } from "effect"
import type { AssetSet } from "../src/dashboard/Assets.ts"
import { DashboardList, dashboardList } from "../src/dashboard/PrebuiltDashboard.ts"

const encodings = ["identity", "br", "gzip"] as const
const encodeList = Schema.encodeEffect(DashboardList)

/**
 * Empties a folder, then writes the dashboard's files and a list of these files. Each encoding is a path relative to the
 * folder.
 */
export const writeDashboard = Effect.fn("writeDashboard")(function* (folder: string, assets: AssetSet) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* files.remove(folder, { recursive: true, force: true })
  const listed = yield* Effect.forEach(assets.values(), (asset) =>
    Effect.gen(function* () {
      for (const encoding of encodings) {
        const bytes = asset[encoding]
        // Skip encodings that do not exist: fonts are already compressed.
        if (bytes === undefined) continue
        const file = path.join(folder, encoding, asset.path)
        yield* files.makeDirectory(path.dirname(file), { recursive: true })
        yield* files.writeFile(file, bytes)
      }
      const { contentType, immutable, path: at, sha256 } = asset
      const place = (encoding: (typeof encodings)[number]) => `${encoding}${at}`
      return {
        path: at,
        contentType,
        sha256,
        immutable,
        identity: place("identity"),
        ...(asset.br === undefined ? {} : { br: place("br") }),
        ...(asset.gzip === undefined ? {} : { gzip: place("gzip") })
      }
    })
  )
  yield* files.writeFileString(path.join(folder, dashboardList), yield* encodeList(listed))
  return listed
})
