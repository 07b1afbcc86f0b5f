import { Effect, FileSystem, Path, Schema } from "effect"
import { licenseList } from "../../src/licenses/Licenses.ts"
import { collectLicenses } from "../../src/licenses/CollectLicenses.ts"
import { type LicenseReport, LicenseReportJson } from "../../src/licenses/LicenseReport.ts"
import { packageScope } from "../../src/PackageScope.ts"
import { version } from "../../src/Version.ts"
import { importedPackages, moduleFiles, withSpecifiers } from "./ModuleFiles.ts"
import { writeReadme } from "./PackageReadme.ts"

/** A package made from a part of the compiled library, in dependency order. */
interface Cut {
  readonly name: string
  readonly description: string
  /** The prefix of the library paths that the package contains. Paths within the package omit this prefix. */
  readonly prefix: string
  readonly exports: Readonly<Record<string, string>>
  readonly bin?: Readonly<Record<string, string>>
  readonly sideEffects: false | ReadonlyArray<string>
  /** Optional dependencies, with the accepted versions. */
  readonly optional?: Readonly<Record<string, string>>
}

const nodeRange = ">=22.19"
const bunRange = ">=1.4.5"

const nameOf = (cut: string) => `${packageScope}/${cut}`

const cuts: ReadonlyArray<Cut> = [
  {
    name: "schema",
    description: "Records, events, errors and the API of svc, as Effect schemas",
    prefix: "schema/",
    exports: { ".": "index" },
    sideEffects: false
  },
  {
    name: "client",
    description: "The typed client of svc, for Effect programs in browsers, Node and Bun",
    prefix: "src/client/",
    exports: { ".": "index" },
    sideEffects: false
  },
  {
    name: "server",
    description: "svc as a library: a Git-driven control plane for OpenTofu and Terraform, on Node and Bun",
    prefix: "",
    exports: { ".": "src/index", "./testing": "src/testing/index" },
    bin: { "svc-server": "dist/src/Main.js" },
    sideEffects: [
      "./dist/src/*Main.js",
      "./dist/runner/git/SyncMain.js",
      "./dist/runner/sandbox/confinement/*.js",
      "./dist/runner/*/*Worker.js"
    ],
    optional: { [nameOf("dashboard")]: version, bun: bunRange }
  }
]

const RootManifest = Schema.fromJsonString(
  Schema.Struct({
    dependencies: Schema.Record(Schema.String, Schema.String),
    devDependencies: Schema.Record(Schema.String, Schema.String)
  })
)
const decodeRoot = Schema.decodeUnknownEffect(RootManifest)
/** A declaration map, which editors use to find the source line of a declaration. */
const DeclarationMap = Schema.fromJsonString(
  Schema.StructWithRest(Schema.Struct({ sources: Schema.Array(Schema.String) }), [
    Schema.Record(Schema.String, Schema.Json)
  ])
)
const decodeMap = Schema.decodeUnknownEffect(DeclarationMap)
const encodeMap = Schema.encodeEffect(DeclarationMap)
const encodeReport = Schema.encodeEffect(LicenseReportJson)

const entry = (module: string) => ({ types: `./dist/${module}.d.ts`, default: `./dist/${module}.js` })

/** Returns the package that contains a module of the library. */
const cutOf = (module: string): Cut | undefined => cuts.find(({ prefix }) => module.startsWith(prefix))

/**
 * Splits the compiled library into packages. Imports from another package use the name of that package, so that each module
 * exists only once.
 */
export const libraryPackages = Effect.fn("libraryPackages")(function* (root: string, library: string, out: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const texts = yield* moduleFiles(library)
  const { dependencies, devDependencies } = yield* Effect.flatMap(
    files.readFileString(path.join(root, "package.json")),
    decodeRoot
  )
  const maps = new Set(
    (yield* files.readDirectory(library, { recursive: true })).filter((name) => name.endsWith(".d.ts.map"))
  )
  const report = yield* collectLicenses(root)
  for (const cut of cuts) {
    const folder = path.join(out, cut.name)
    yield* files.remove(folder, { recursive: true, force: true })
    const write = Effect.fnUntraced(function* (name: string, text: string) {
      const at = path.join(folder, name)
      yield* files.makeDirectory(path.dirname(at), { recursive: true })
      yield* files.writeFileString(at, text)
    })
    const siblings = new Set<string>()
    const libraries = new Set<string>()
    for (const [file, text] of texts) {
      if (cutOf(file) !== cut) continue
      for (const name of importedPackages(text)) libraries.add(name)
      const changed = withSpecifiers(text, (specifier) => {
        const target = path.normalize(path.join(path.dirname(file), specifier))
        const other = cutOf(target)
        if (other === undefined || other === cut) return undefined
        siblings.add(other.name)
        const module = target.slice(other.prefix.length).replace(/\.js$/, "")
        return module === "index" ? nameOf(other.name) : `${nameOf(other.name)}/${module}`
      })
      const own = file.slice(cut.prefix.length)
      yield* write(`dist/${own}`, changed)
      if (!file.endsWith(".d.ts") || !maps.has(`${file}.map`)) continue
      const { sources, ...map } = yield* decodeMap(yield* files.readFileString(path.join(library, `${file}.map`)))
      const [source = ""] = sources.map((each) => path.relative(root, path.resolve(library, path.dirname(file), each)))
      const shipped = `source/${source.slice(cut.prefix.length)}`
      const back = path.relative(path.dirname(`dist/${own}`), shipped)
      yield* write(`dist/${own}.map`, yield* encodeMap({ ...map, sources: [back] }))
      yield* write(shipped, yield* files.readFileString(path.join(root, source)))
    }
    const needed = [...libraries].filter((name) => name !== "effect" && name in dependencies).toSorted()
    const optional = Object.entries(cut.optional ?? {})
    yield* write(
      "package.json",
      `${JSON.stringify(
        {
          name: nameOf(cut.name),
          version,
          description: cut.description,
          license: "Apache-2.0",
          type: "module",
          // Private until the npm scope is registered. The documentation explains how to install the tarballs.
          private: true,
          sideEffects: cut.sideEffects,
          exports: {
            ...Object.fromEntries(Object.entries(cut.exports).map(([name, module]) => [name, entry(module)])),
            "./package.json": "./package.json",
            // All modules are exported, but only packages of the same version may import them, because modules that are not
            // listed above may change at any time.
            ...(cut.name === "server" ? {} : { "./*": entry("*") })
          },
          ...(cut.bin === undefined ? {} : { bin: cut.bin }),
          files: ["dist", "source", "docs", "NOTICE"],
          engines: { node: nodeRange, bun: bunRange },
          dependencies: Object.fromEntries([
            ...[...siblings].toSorted().map((name) => [nameOf(name), version]),
            ...needed.map((name) => [name, dependencies[name]])
          ]),
          peerDependencies: {
            effect: `^${devDependencies["effect"] ?? dependencies["effect"]}`,
            ...Object.fromEntries(optional)
          },
          ...(optional.length === 0
            ? {}
            : { peerDependenciesMeta: Object.fromEntries(optional.map(([name]) => [name, { optional: true }])) })
        },
        undefined,
        2
      )}\n`
    )
    yield* writeReadme(root, cut.name, folder)
    yield* write("LICENSE", report.product.text)
    yield* write("NOTICE", report.product.notice)
    if (cut.name === "server") yield* write(`dist/${licenseList}`, yield* encodeReport(withoutRuntime(report)))
    for (const program of Object.values(cut.bin ?? {})) yield* files.chmod(path.join(folder, program), 0o755)
  }
  return cuts.map(({ name }) => name)
})

/** Removes Bun from the report, because no package contains Bun. */
const withoutRuntime = (report: LicenseReport): LicenseReport => {
  const [first, ...others] = report.components.filter(({ version: of }) => !of.startsWith("with Bun "))
  return first === undefined ? report : { ...report, components: [first, ...others] }
}
