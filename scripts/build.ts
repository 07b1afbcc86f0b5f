// `bun run build`: the whole service as one file, dist/svc. With `-- --all` one file a platform, and their checksums.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Path, Runtime, Schema } from "effect"
import type { AssetSet } from "../src/dashboard/Assets.ts"
import { buildDashboard } from "../src/dashboard/Build.ts"

/** The bundler refused. */
class BuildFailed extends Schema.TaggedError<BuildFailed>()("BuildFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const targets: ReadonlyArray<readonly [name: string, target: Bun.Build.CompileTarget]> = [
  ["linux-x64", "bun-linux-x64"],
  ["linux-arm64", "bun-linux-arm64"],
  ["linux-x64-musl", "bun-linux-x64-musl"],
  ["linux-arm64-musl", "bun-linux-arm64-musl"],
  ["darwin-arm64", "bun-darwin-arm64"]
]

// Relative to the repository's root, from which the parser looks for its worker in a compiled binary.
const worker = "runner/scan/HclWorker.ts"
const sync = "runner/git/SyncMain.ts"
const service = "dist/build/Service.ts"
const entry = "src/BinaryMain.ts"

const encodings = ["identity", "br", "gzip"] as const

/** Writes the files of the dashboard, and the entry that imports each of them so that the bundler embeds it. */
const writeEntry = Effect.fn("build.writeEntry")(function* (root: string, assets: AssetSet) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, "dist/dashboard")
  yield* files.remove(folder, { recursive: true, force: true })
  const imports: Array<string> = []
  const records: Array<string> = []
  for (const asset of assets.values()) {
    const names = yield* Effect.forEach(encodings, (encoding) =>
      Effect.gen(function* () {
        const file = path.join(folder, encoding, asset.path)
        yield* files.makeDirectory(path.dirname(file), { recursive: true })
        yield* files.writeFile(file, asset[encoding] ?? asset.identity)
        const name = `file${imports.length}`
        imports.push(`import ${name} from "../dashboard/${encoding}${asset.path}" with { type: "file" }`)
        return `${encoding}: ${name}`
      })
    )
    const { contentType, immutable, path: at, sha256 } = asset
    records.push(`{ ...${JSON.stringify({ path: at, contentType, sha256, immutable })}, ${names.join(", ")} }`)
  }
  const code = `${imports.join("\n")}
import { main } from "../../src/BinaryService.ts"
main([
  ${records.join(",\n  ")}
])
`
  yield* files.makeDirectory(path.join(root, "dist/build"), { recursive: true })
  yield* files.writeFileString(path.join(root, service), code)
})

/**
 * Effect reads its settings from `import.meta.env` besides `process.env`. Bun makes both the same, and byte code cannot hold
 * the first.
 */
const withoutImportMeta: Bun.BunPlugin = {
  name: "without-import-meta",
  setup: (build) => {
    build.onLoad({ filter: /\/effect\/dist\/ConfigProvider\.js$/ }, async ({ path }) => {
      const text = await Bun.file(path).text()
      if (!text.includes("import.meta?.env"))
        throw new Error(`${path} has no import.meta?.env any more: drop this plugin.`)
      return { contents: text.replaceAll("import.meta?.env", "undefined"), loader: "js" }
    })
  }
}

const compile = Effect.fn("build.compile")(function* (
  root: string,
  outfile: string,
  target: Bun.Build.CompileTarget | undefined
) {
  const result = yield* Effect.tryPromise({
    try: () =>
      Bun.build({
        entrypoints: [entry, service, sync, worker].map((file) => `${root}/${file}`),
        root,
        target: "bun",
        format: "cjs",
        minify: true,
        bytecode: true,
        sourcemap: "linked",
        define: { "process.env.NODE_ENV": '"production"' },
        plugins: [withoutImportMeta],
        // Bundles the dashboard from its sources: a binary holds the result.
        external: ["../dashboard/Build.ts"],
        compile: {
          outfile,
          ...(target === undefined ? {} : { target }),
          // Whatever lies in the folder where the binary is started must not steer it.
          autoloadDotenv: false,
          autoloadBunfig: false,
          autoloadTsconfig: false,
          autoloadPackageJson: false
        }
      }),
    catch: (cause) =>
      new BuildFailed({
        message: cause instanceof AggregateError ? cause.errors.map(String).join("\n") : String(cause)
      })
  })
  if (!result.success) return yield* new BuildFailed({ message: result.logs.map(String).join("\n") })
})

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const started = yield* Clock.currentTimeMillis
  const assets = yield* buildDashboard("best")
  yield* writeEntry(root, assets)
  const all = process.argv.includes("--all")
  const wanted = all ? targets : [["", undefined] as const]
  const sums: Array<string> = []
  for (const [name, target] of wanted) {
    const file = name === "" ? "svc" : `svc-${name}`
    const outfile = path.join(root, "dist", file)
    yield* compile(root, outfile, target)
    const bytes = yield* files.readFile(outfile)
    sums.push(`${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}  ${file}`)
    yield* Console.log(`dist/${file}  ${(bytes.byteLength / 1024 / 1024).toFixed(1)} MiB`)
  }
  if (all) yield* files.writeFileString(path.join(root, "dist/SHA256SUMS"), `${sums.join("\n")}\n`)
  yield* Console.log(`Built in ${(((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(1)} s`)
})

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
