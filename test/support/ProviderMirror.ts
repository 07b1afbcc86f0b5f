import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { NodeFileSystem, NodePath } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Path } from "effect"
import { builtOnce, sharedBuilds } from "./BuiltOnce.ts"

export const demoProviderVersions = ["1.0.0", "1.1.0"] as const

/** `acme/demo` resolves to the tool's default host, `example.test/acme/demo` to its own host. */
const hosts = ["example.test", "registry.terraform.io", "registry.opentofu.org"] as const
const architectures: Readonly<Record<string, string>> = { x64: "amd64", ia32: "386" }
const platform = `${process.platform}_${architectures[process.arch] ?? process.arch}`
const entrypoint = new URL("../fixtures/provider/Main.ts", import.meta.url).pathname

const buildPlugin = async (version: string): Promise<string> => {
  const result = await Bun.build({
    entrypoints: [entrypoint],
    target: "bun",
    minify: true,
    define: { DEMO_VERSION: JSON.stringify(version) }
  })
  const [output] = result.outputs
  if (output === undefined) throw new Error("The demo provider did not build.")
  return `#!${process.execPath}\n${await output.text()}`
}

let plugins: Promise<ReadonlyArray<string>> | undefined

/** Writes the mirror into a folder that does not exist yet. */
const writeMirror = async (mirror: string): Promise<void> => {
  plugins ??= Promise.all(demoProviderVersions.map(buildPlugin))
  const built = await plugins
  for (const [index, version] of demoProviderVersions.entries()) {
    for (const host of hosts) {
      const folder = join(mirror, host, "acme", "demo", version, platform)
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, `terraform-provider-demo_v${version}`), built[index] ?? "", { mode: 0o755 })
    }
  }
}

/** The mirror that all processes of a test run may read. */
const shared = (folder: string) => {
  const mirror = join(folder, "mirror")
  return Effect.as(
    Effect.promise(() => builtOnce("provider-mirror", () => writeMirror(mirror))),
    mirror
  )
}

/** What a tool and a module need beside the mirror. Lives as long as the Scope. */
const around = Effect.fnUntraced(function* (root: string, mirror: string) {
  const fileSystem = yield* FileSystem.FileSystem
  const notesDir = join(root, "notes")
  const cliConfigFile = join(root, "cli.tfrc")
  yield* fileSystem.makeDirectory(notesDir)
  yield* fileSystem.writeFileString(
    cliConfigFile,
    `provider_installation {\n  filesystem_mirror {\n    path = ${JSON.stringify(mirror)}\n  }\n}\n`
  )
  return {
    path: mirror,
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
})

const temporaryRoot = Effect.flatMap(FileSystem.FileSystem, (files) =>
  files.makeTempDirectoryScoped({ prefix: "provider-mirror-" })
)

/**
 * A filesystem mirror with the real demo provider, which tests may only read, and an empty folder for its notes, which lives as
 * long as the Scope.
 *
 * - `path`: root of the mirror (`<host>/acme/demo/<version>/<os>_<arch>/`)
 * - `interpreter`: the executable named in the plugin's first line; a sandbox must make it readable
 * - `notesDir`: for DEMO_DIR; holds `<id>.json` per note and `creations.log`
 * - `cliConfigFile`: a CLI configuration that allows only this mirror
 * - `environment`: everything a bare tool needs besides PATH and DEMO_TOKEN
 */
export const providerMirror = Effect.gen(function* () {
  const root = yield* temporaryRoot
  return yield* around(root, yield* shared(sharedBuilds ?? root))
}).pipe(Effect.orDie, Effect.provide(NodeFileSystem.layer))

/** The same with a mirror of its own, which a test may change. */
export const ownProviderMirror = Effect.gen(function* () {
  const root = yield* temporaryRoot
  const fileSystem = yield* FileSystem.FileSystem
  const mirror = join(root, "own-mirror")
  yield* fileSystem.copy(yield* shared(sharedBuilds ?? root), mirror)
  return yield* around(root, mirror)
}).pipe(Effect.orDie, Effect.provide(NodeFileSystem.layer))

/** Number of notes actually created, whatever any state says. */
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
