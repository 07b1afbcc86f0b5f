// Downloads the runtime for a binary of another platform: Bun's package for that platform from the npm registry, with exactly the
// version and bytes pinned in package-lock.json.
import { Effect, FileSystem, Path, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { extract } from "tar"

/** The error when a platform's runtime is unavailable or does not match the lock file. */
export class RuntimeUnavailable extends Schema.TaggedError<RuntimeUnavailable>()("RuntimeUnavailable", {
  message: Schema.String
}) {
  override readonly [Runtime.errorExitCode] = 1
}

/** Every platform for which a binary is built, with Bun's name for that platform. */
export const targets = {
  "linux-x64": { compile: "bun-linux-x64", package: "@oven/bun-linux-x64" },
  "linux-arm64": { compile: "bun-linux-arm64", package: "@oven/bun-linux-aarch64" },
  "linux-x64-musl": { compile: "bun-linux-x64-musl", package: "@oven/bun-linux-x64-musl" },
  "linux-arm64-musl": { compile: "bun-linux-arm64-musl", package: "@oven/bun-linux-aarch64-musl" },
  "darwin-arm64": { compile: "bun-darwin-arm64", package: "@oven/bun-darwin-aarch64" }
} as const satisfies Record<string, { readonly compile: Bun.Build.CompileTarget; readonly package: string }>

export type TargetName = keyof typeof targets
export const targetNames: ReadonlyArray<TargetName> = [
  "linux-x64",
  "linux-arm64",
  "linux-x64-musl",
  "linux-arm64-musl",
  "darwin-arm64"
]

const Lockfile = Schema.fromJsonString(
  Schema.Struct({
    packages: Schema.Record(
      Schema.String,
      Schema.Struct({ version: Schema.optionalKey(Schema.String), integrity: Schema.optionalKey(Schema.String) })
    )
  })
)
const decodeLockfile = Schema.decodeEffect(Lockfile)

const executable = "package/bin/bun"

/** Returns the version and integrity (`sha512-...`) of a package, as pinned in package-lock.json. */
const locked = Effect.fn("TargetRuntime.locked")(function* (root: string, name: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { packages } = yield* decodeLockfile(yield* files.readFileString(path.join(root, "package-lock.json")))
  const { integrity, version } = packages[`node_modules/${name}`] ?? {}
  if (version === undefined || integrity?.startsWith("sha512-") !== true) {
    return yield* new RuntimeUnavailable({ message: `package-lock.json holds no version and sha512 of ${name}.` })
  }
  // Require the same version of Bun, because byte code can be read only by the version that produced it.
  if (version !== Bun.version) {
    return yield* new RuntimeUnavailable({
      message: `This is Bun ${Bun.version}, and package-lock.json holds ${version}. Build with \`npm run build\` after \`npm ci\`.`
    })
  }
  return { version, integrity }
})

const npmPack = Effect.fn("TargetRuntime.npmPack")(
  function* (wanted: string, folder: string) {
    const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
    const options = { cwd: folder, extendEnv: true }
    const npm = yield* spawner.spawn(
      ChildProcess.make("npm", ["pack", wanted, "--ignore-scripts", "--loglevel=error"], options)
    )
    const [said, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(npm.all)), npm.exitCode], {
      concurrency: 2
    })
    return Number(code) === 0 ? undefined : said.trim()
  },
  Effect.scoped,
  Effect.catchTag("PlatformError", () => Effect.succeed("npm cannot be started"))
)

/**
 * Extracts a platform's Bun executable into `folder`. Does not use the network if the folder already contains the archive. Fails
 * with `RuntimeUnavailable` if the package cannot be fetched or does not match the lock file.
 */
export const targetRuntime = Effect.fn("targetRuntime")(function* (root: string, folder: string, target: TargetName) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const name = targets[target].package
  const { integrity, version } = yield* locked(root, name)
  const archive = path.join(folder, `${name.replace("@", "").replace("/", "-")}-${version}.tgz`)
  const wanted = `${name}@${version}`
  const read = Effect.map(
    files.readFile(archive),
    (bytes) => `sha512-${new Bun.CryptoHasher("sha512").update(bytes).digest("base64")}`
  )

  yield* files.makeDirectory(folder, { recursive: true })
  if (!(yield* files.exists(archive)) || (yield* read) !== integrity) {
    yield* files.remove(archive, { force: true })
    const problem = yield* npmPack(wanted, folder)
    if (problem !== undefined || !(yield* files.exists(archive))) {
      return yield* new RuntimeUnavailable({
        message: `The runtime for ${target} could not be fetched. \`npm pack ${wanted}\` says: ${problem ?? "nothing"}\nMake the registry that npm uses reachable, or put that package at ${archive}.`
      })
    }
    const found = yield* read
    if (found !== integrity) {
      yield* files.remove(archive)
      return yield* new RuntimeUnavailable({
        message: `The runtime for ${target} is not the one that package-lock.json holds: ${wanted} shall be ${integrity}, and the registry gave ${found}. It was removed; find out what the registry serves before you build.`
      })
    }
  }

  const unpacked = path.join(folder, target)
  yield* files.remove(unpacked, { recursive: true, force: true })
  yield* files.makeDirectory(unpacked)
  yield* Effect.tryPromise({
    try: () => extract({ file: archive, cwd: unpacked, strict: true, filter: (entry) => entry === executable }),
    catch: () => new RuntimeUnavailable({ message: `${archive} cannot be unpacked.` })
  })
  const file = path.join(unpacked, executable)
  if (!(yield* files.exists(file))) {
    return yield* new RuntimeUnavailable({ message: `${archive} holds no ${executable}.` })
  }
  return file
})
