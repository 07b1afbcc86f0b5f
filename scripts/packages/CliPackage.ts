import { Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { clientCommandNames } from "../../src/cli/ClientCommandNames.ts"
import { packagesOf, programs } from "../../src/licenses/BundledPackages.ts"
import { collectLicenses } from "../../src/licenses/CollectLicenses.ts"
import { reportText, thirdPartyFile } from "../../src/licenses/LicenseReport.ts"
import { version } from "../../src/Version.ts"
import { withoutImportMeta } from "../WithoutImportMeta.ts"
import { packageScope } from "../../src/PackageScope.ts"
import { completionScript, datedManPages } from "./CommandTexts.ts"
import { writeReadme } from "./PackageReadme.ts"

/** The error when a package cannot be assembled. */
export class PackageFailed extends Schema.TaggedError<PackageFailed>()("PackageFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const program = "svc.mjs"
const commands = "commands.mjs"
/** The file of each shell that completes words of `svc`. The shell loads it from its own folder of completions. */
const completions = { bash: "svc", zsh: "_svc", fish: "svc.fish" } as const

// Caches compiled code between commands where Node supports it, because a short command spends most of its time compiling.
const launcher = `#!/usr/bin/env node
import module from "node:module"
module.enableCompileCache?.()
await import("./${commands}")
`

const manifest = {
  name: `${packageScope}/cli`,
  version,
  description: "svc in the terminal: a client of svc servers",
  license: "Apache-2.0",
  type: "module",
  // Private until the npm scope is registered. The documentation explains how to install the tarball.
  private: true,
  bin: { svc: program },
  engines: { node: ">=20.19" },
  files: [program, commands, "man", "completions", "docs", "NOTICE", thirdPartyFile]
}

/** Bundles one file for Node and returns the packages in the bundle. The bundle has the same commands as the binary. */
const bundle = Effect.fn("cliPackage.bundle")(function* (root: string, folder: string) {
  const built = yield* Effect.tryPromise({
    try: () =>
      Bun.build({
        entrypoints: [`${root}/${programs.client}`],
        root,
        outdir: folder,
        naming: commands,
        target: "node",
        format: "esm",
        minify: true,
        metafile: true,
        define: { "process.env.NODE_ENV": '"production"' },
        plugins: [withoutImportMeta]
      }),
    catch: (cause) =>
      new PackageFailed({
        message: cause instanceof AggregateError ? cause.errors.map(String).join("\n") : String(cause)
      })
  })
  if (!built.success || built.metafile === undefined) {
    return yield* new PackageFailed({ message: built.logs.map(String).join("\n") })
  }
  const names = [...packagesOf(Object.keys(built.metafile.inputs))]
  return new Set(names.map((place) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length)))
})

/** Assembles the command-line package in a new folder. */
export const cliPackage = Effect.fn("cliPackage")(function* (root: string, folder: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  yield* files.remove(folder, { recursive: true, force: true })
  yield* files.makeDirectory(folder, { recursive: true })
  const bundled = yield* bundle(root, folder)
  const report = yield* collectLicenses(root)
  const [first, ...others] = report.components.filter(({ name }) => bundled.has(name))
  const missing = [...bundled].filter((name) => !report.components.some((component) => component.name === name))
  if (first === undefined || missing.length > 0) {
    return yield* new PackageFailed({ message: `No licence is known of what is bundled: ${missing.join(", ")}` })
  }
  const write = Effect.fnUntraced(function* (name: string, text: string) {
    yield* files.makeDirectory(path.dirname(path.join(folder, name)), { recursive: true })
    yield* files.writeFileString(path.join(folder, name), text)
  })
  yield* write(program, launcher)
  yield* files.chmod(path.join(folder, program), 0o755)
  const pages = (yield* datedManPages(root)).filter(
    ({ name }) => name === "svc.1" || clientCommandNames.has(name.replace(/^svc-|\.1$/g, ""))
  )
  for (const { name, text } of pages) yield* write(`man/${name}`, text)
  for (const [shell, name] of Object.entries(completions)) {
    yield* write(`completions/${shell}/${name}`, yield* completionScript(root, shell))
  }
  // npm links these pages at a global installation.
  const man = pages.map(({ name }) => `./man/${name}`)
  yield* write("package.json", `${JSON.stringify({ ...manifest, man }, undefined, 2)}\n`)
  yield* writeReadme(root, "cli", folder)
  yield* write("LICENSE", report.product.text)
  yield* write("NOTICE", report.product.notice)
  yield* write(thirdPartyFile, reportText({ ...report, components: [first, ...others] }))
  return { name: manifest.name, bytes: (yield* files.stat(path.join(folder, commands))).size }
})
