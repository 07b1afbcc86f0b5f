import { Effect, FileSystem, Path, Schema } from "effect"
import type { Asset, AssetSet } from "./Assets.ts"
import { buildDashboard, DashboardBuildError } from "./Build.ts"

/** One file of a release: where its bytes are, plain and compressed. */
const ReleasedFile = Schema.Struct({
  path: Schema.String,
  contentType: Schema.String,
  sha256: Schema.String,
  immutable: Schema.Boolean,
  identity: Schema.String,
  br: Schema.String,
  gzip: Schema.String
})
export type ReleasedFile = typeof ReleasedFile.Type

const manifestName = "manifest.json"
const Manifest = Schema.fromJsonString(Schema.Struct({ files: Schema.Array(ReleasedFile) }))
const encodeManifest = Schema.encodeEffect(Manifest)
const decodeManifest = Schema.decodeUnknownEffect(Manifest)

const failed = (what: string) => (cause: { readonly message: string }) =>
  new DashboardBuildError({ message: `${what}: ${cause.message}` })

const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1)

/**
 * The module that a compiled binary imports: importing a file with `type: "file"` puts it into the binary and yields its
 * path there.
 */
const embeddedModule = (files: ReadonlyArray<ReleasedFile>): string => {
  const names = files.flatMap(({ identity, br, gzip }) => [identity, br, gzip])
  const imports = names.map((name, index) => `import f${index} from "./${name}" with { type: "file" }`)
  const entries = files.map(
    (file, index) =>
      `  { ...${JSON.stringify(file)}, identity: f${index * 3}, br: f${index * 3 + 1}, gzip: f${index * 3 + 2} }`
  )
  return `${imports.join("\n")}\n\nexport const embedded = [\n${entries.join(",\n")}\n]\n`
}

/** Builds the dashboard with the best compression into `folder`: every file, `manifest.json` and `Embedded.ts`. */
export const writeRelease = Effect.fn("Release.writeRelease")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const assets = yield* buildDashboard("best")
  const write = (name: string, bytes: Uint8Array) =>
    fs
      .writeFile(path.join(folder, name), bytes)
      .pipe(Effect.mapError(failed(`The dashboard's ${name} could not be written`)))
  yield* fs
    .remove(folder, { recursive: true, force: true })
    .pipe(
      Effect.andThen(fs.makeDirectory(folder, { recursive: true })),
      Effect.mapError(failed("The dashboard's folder could not be made"))
    )
  const files = yield* Effect.forEach(assets.values(), (asset) =>
    Effect.gen(function* () {
      const name = fileName(asset.path)
      yield* write(name, asset.identity)
      yield* write(`${name}.br`, asset.br ?? asset.identity)
      yield* write(`${name}.gz`, asset.gzip ?? asset.identity)
      const { contentType, immutable, sha256 } = asset
      return { path: asset.path, contentType, sha256, immutable, identity: name, br: `${name}.br`, gzip: `${name}.gz` }
    })
  )
  const encoder = new TextEncoder()
  yield* write(manifestName, encoder.encode(yield* Effect.orDie(encodeManifest({ files }))))
  yield* write("Embedded.ts", encoder.encode(embeddedModule(files)))
  return files
})

/** Reads a release into memory. `files` comes from a manifest, or from the embedded module of a compiled binary. */
export const loadRelease = Effect.fn("Release.loadRelease")(function* (files: ReadonlyArray<ReleasedFile>) {
  const read = (file: string) =>
    Effect.tryPromise({
      // Bun's own file, because a file inside a compiled binary has no other reader.
      try: () => Bun.file(file).arrayBuffer(),
      catch: (cause) =>
        new DashboardBuildError({
          message: `The dashboard's file ${fileName(file)} could not be read: ${String(cause)}`
        })
    }).pipe(Effect.map((buffer) => new Uint8Array(buffer)))
  const loaded = yield* Effect.forEach(
    files,
    (file) =>
      Effect.map(
        Effect.all([read(file.identity), read(file.br), read(file.gzip)]),
        ([identity, br, gzip]): Asset => ({ ...file, identity, br, gzip })
      ),
    { concurrency: 8 }
  )
  const assets: AssetSet = new Map(loaded.map((asset) => [asset.path, asset]))
  return assets
})

/** The dashboard for a start from files: the release in `folder`, or else a quick build of the sources, in memory. */
export const loadDashboard = Effect.fn("Release.loadDashboard")(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const manifest = path.join(folder, manifestName)
  const found = yield* fs.exists(manifest).pipe(Effect.orElseSucceed(() => false))
  if (!found) return yield* buildDashboard("fast")
  const { files } = yield* fs
    .readFileString(manifest)
    .pipe(
      Effect.flatMap(decodeManifest),
      Effect.mapError(failed("The dashboard's manifest cannot be read; remove dist/dashboard or build it again"))
    )
  return yield* loadRelease(
    files.map((file) => ({
      ...file,
      identity: path.join(folder, file.identity),
      br: path.join(folder, file.br),
      gzip: path.join(folder, file.gzip)
    }))
  )
})
