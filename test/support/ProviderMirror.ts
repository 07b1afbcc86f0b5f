import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path } from "effect"
import { zipArchive } from "./ZipArchive.ts"

export const demoProviderVersions = ["1.0.0", "1.1.0"] as const

/** `acme/demo` resolves to the tool's default host; `example.test/acme/demo` has an explicit host. */
const hosts = ["example.test", "registry.terraform.io", "registry.opentofu.org"] as const
const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" }
const platform = `${process.platform}_${architectures[process.arch] ?? process.arch}`
const entrypoint = new URL("../fixtures/provider/Main.ts", import.meta.url).pathname

const build = Effect.fnUntraced(function* (version: string) {
  const result = yield* Effect.promise(() =>
    Bun.build({
      entrypoints: [entrypoint],
      target: "bun",
      minify: true,
      define: { DEMO_VERSION: JSON.stringify(version) }
    })
  )
  const [output] = result.outputs
  if (output === undefined) return yield* Effect.die(new Error("the demo provider did not build"))
  const code = yield* Effect.promise(() => output.text())
  return { version, script: new TextEncoder().encode(`#!${process.execPath}\n${code}`) }
})

const builds = Effect.runSync(Effect.cached(Effect.all(demoProviderVersions.map(build))))

/**
 * Creates a filesystem mirror with the real demo provider, and an empty folder for the notes that the provider creates. Both
 * are removed when the Scope closes. The provider is built once per process.
 * - `path`: root of the mirror (`<host>/acme/demo/<version>/<os>_<arch>/`)
 * - `packed`: root of a mirror with the same packages as archives, which the tool unpacks like packages from a registry
 * - `interpreter`: the executable in the plugin's first line, which a sandbox must make readable
 * - `notesDir`: the value of DEMO_DIR, which contains `<id>.json` for each note, and `creations.log`
 * - `cliConfigFile`: a CLI configuration that allows only this mirror
 * - `environment`: all variables that the tool needs when started directly, except PATH and DEMO_TOKEN
 */
export const providerMirror = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = yield* fileSystem.makeTempDirectoryScoped({ prefix: "provider-mirror-" })
  const mirror = path.join(root, "mirror")
  const packed = path.join(root, "packed")
  const notesDir = path.join(root, "notes")
  const cliConfigFile = path.join(root, "cli.tfrc")
  yield* fileSystem.makeDirectory(notesDir)
  for (const { version, script } of yield* builds) {
    for (const host of hosts) {
      const folder = path.join(mirror, host, "acme", "demo", version, platform)
      yield* fileSystem.makeDirectory(folder, { recursive: true })
      const plugin = path.join(folder, `terraform-provider-demo_v${version}`)
      yield* fileSystem.writeFile(plugin, script, { mode: 0o755 })
      const archives = path.join(packed, host, "acme", "demo")
      yield* fileSystem.makeDirectory(archives, { recursive: true })
      yield* fileSystem.writeFile(
        path.join(archives, `terraform-provider-demo_${version}_${platform}.zip`),
        zipArchive(`terraform-provider-demo_v${version}`, script)
      )
    }
  }
  yield* fileSystem.writeFileString(
    cliConfigFile,
    `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`
  )
  return {
    path: mirror,
    packed,
    interpreter: process.execPath,
    notesDir,
    cliConfigFile,
    environment: {
      TF_CLI_CONFIG_FILE: cliConfigFile,
      TF_IN_AUTOMATION: "1",
      TF_INPUT: "0",
      CHECKPOINT_DISABLE: "1",
      DEMO_DIR: notesDir,
      // A killed plugin leaves its socket behind.
      TMPDIR: root
    }
  }
}).pipe(Effect.orDie, Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer)))

/** Counts the notes that were really created, whatever the states contain. */
export const countCreations = Effect.fnUntraced(
  function* (notesDir: string) {
    const fileSystem = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const log = path.join(notesDir, "creations.log")
    if (!(yield* fileSystem.exists(log))) return 0
    const content = yield* fileSystem.readFileString(log)
    return content.split("\n").filter((line) => line !== "").length
  },
  Effect.orDie,
  Effect.provide(Layer.mergeAll(NodeFileSystem.layer, NodePath.layer))
)
