import { Effect, FileSystem, Schema } from "effect"
import { fileURLToPath } from "node:url"
import { withoutImportMeta } from "../../scripts/WithoutImportMeta.ts"
import { leftOut } from "../../src/licenses/BundledPackages.ts"

class BuildFailed extends Schema.TaggedError<BuildFailed>()("BuildFailed", { message: Schema.String }) {}

const root = fileURLToPath(new URL("../..", import.meta.url))
// The first path is the entry point of the compiled file.
const entrypoints = [
  "test/crash/server/Main.ts",
  "test/crash/service/Main.ts",
  "runner/git/SyncMain.ts",
  "runner/sandbox/confinement/ConfineMain.ts",
  "runner/scan/EmbeddedHclWorker.ts",
  "runner/redaction/RedactionWorker.ts",
  "runner/document/DocumentWorker.ts"
]

/** Compiles the server, changed by plugins of the bundler. */
export const serverBinaryWith = Effect.fnUntraced(function* (plugins: ReadonlyArray<Bun.BunPlugin>) {
  const files = yield* FileSystem.FileSystem
  const outfile = `${yield* files.makeTempDirectoryScoped({ prefix: "svc-crash-server-" })}/svc`
  const result = yield* Effect.tryPromise({
    try: () =>
      Bun.build({
        entrypoints: entrypoints.map((file) => `${root}/${file}`),
        root,
        target: "bun",
        format: "esm",
        splitting: true,
        bytecode: true,
        plugins: [withoutImportMeta, ...plugins],
        external: leftOut,
        compile: { outfile, autoloadDotenv: false, autoloadBunfig: false }
      }),
    catch: (cause) => new BuildFailed({ message: String(cause) })
  })
  if (!result.success) return yield* new BuildFailed({ message: result.logs.map(String).join("\n") })
  return outfile
})

/**
 * Compiles the server of these suites into a single file, which is deleted when the Scope closes. The file starts in less
 * than half the time of the sources, and these suites start it hundreds of times.
 */
export const serverBinary = serverBinaryWith([])
