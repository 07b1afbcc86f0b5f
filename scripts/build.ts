// `bun run build` builds the whole server as a single file for this machine, dist/svc. With `-- --all`, it builds one file per
// platform with checksums, and with `-- --target linux-arm64` only that file.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Clock, Console, Effect, FileSystem, Path, Runtime, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import type { AssetSet } from "../src/dashboard/Assets.ts"
import { buildDashboard } from "../src/dashboard/Build.ts"
import { bundledPackages, leftOut, packagesOf, programs } from "../src/licenses/BundledPackages.ts"
import { collectLicenses } from "../src/licenses/CollectLicenses.ts"
import { LicenseReportJson, reportText, thirdPartyFile } from "../src/licenses/LicenseReport.ts"
import { type DocsFile, packDocs, sha256Of } from "../src/http/DocsArchive.ts"
import { writeDashboard } from "./DashboardFolder.ts"
import { buildDocs } from "./DocsBuild.ts"
import { billOfMaterials, sbomFile } from "./Sbom.ts"
import { type TargetName, targetNames, targetRuntime, targets } from "./TargetRuntime.ts"
import { withoutImportMeta } from "./WithoutImportMeta.ts"

/** The error when the bundler fails. */
class BuildFailed extends Schema.TaggedError<BuildFailed>()("BuildFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

// The factor by which code must run more often than by default before it is compiled to machine code. The program resets the
// factor after startup, because code that runs once at startup takes longer to compile than to run.
const startReluctance = 100

// The path of the entry point that replaces the server's usual entry point and imports the files to embed in the binary.
const service = "dist/build/Service.ts"
const licenseJson = "dist/build/Licenses.json"
const docsArchive = "dist/build/Docs.br"

/** The binary contains the documentation only because it is small. */
const docsLimit = 2 * 1024 * 1024

const encodeReport = Schema.encodeEffect(LicenseReportJson)
const sharedMap = /^chunk-[0-9a-z]+\.js\.map$/

/**
 * Collects the licences of everything that will be bundled. The licences are embedded in the binary and are also shipped as
 * a separate file.
 */
const writeLicenses = Effect.fn("build.writeLicenses")(function* (
  root: string,
  folder: string,
  ofDocs: ReadonlyArray<string>
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const report = yield* collectLicenses(root, ofDocs)
  yield* files.makeDirectory(path.join(root, path.dirname(licenseJson)), { recursive: true })
  yield* files.writeFileString(path.join(root, licenseJson), yield* encodeReport(report))
  yield* files.makeDirectory(folder, { recursive: true })
  yield* files.writeFileString(path.join(folder, "LICENSE"), report.product.text)
  yield* files.writeFileString(path.join(folder, "NOTICE"), report.product.notice)
  yield* files.writeFileString(path.join(folder, thirdPartyFile), reportText(report))
  yield* files.writeFileString(path.join(folder, sbomFile), yield* billOfMaterials(root, report))
})

/** Builds the documentation, and packs it into a single file. Returns the folders of the packages that it contains. */
const writeDocs = Effect.fn("build.writeDocs")(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const { folder, packages } = yield* buildDocs(root)
  const contents: Array<DocsFile> = []
  for (const name of (yield* files.readDirectory(folder, { recursive: true })).toSorted()) {
    if ((yield* files.stat(path.join(folder, name))).type !== "File") continue
    const bytes = new Uint8Array(yield* files.readFile(path.join(folder, name)))
    contents.push({ path: name.split(path.sep).join("/"), bytes, sha256: sha256Of(bytes) })
  }
  const archive = yield* packDocs(contents)
  if (archive.byteLength >= docsLimit) {
    return yield* new BuildFailed({
      message: `The documentation takes ${archive.byteLength} bytes of the binary, and ${docsLimit} are permitted.`
    })
  }
  yield* files.makeDirectory(path.join(root, path.dirname(docsArchive)), { recursive: true })
  yield* files.writeFile(path.join(root, docsArchive), archive)
  return packages
})

/** Writes the dashboard's files, and an entry point that imports all of them so that the bundler embeds them. */
const writeEntry = Effect.fn("build.writeEntry")(function* (root: string, assets: AssetSet) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, "dist/dashboard")
  const imports: Array<string> = []
  const records = (yield* writeDashboard(folder, assets)).map(({ br, gzip, identity, ...described }) => {
    const names = Object.entries({ identity, br, gzip }).flatMap(([encoding, place]) => {
      if (place === undefined) return []
      const name = `file${imports.length}`
      imports.push(`import ${name} from "../dashboard/${place}" with { type: "file" }`)
      return [`${encoding}: ${name}`]
    })
    return `{ ...${JSON.stringify(described)}, ${names.join(", ")} }`
  })
  const code = `${imports.join("\n")}
import { main } from "../../src/BinaryService.ts"
import docs from "./Docs.br" with { type: "file" }
import licenses from "./Licenses.json" with { type: "file" }
main([
  ${records.join(",\n  ")}
], licenses, docs)
`
  yield* files.makeDirectory(path.join(root, "dist/build"), { recursive: true })
  yield* files.writeFileString(path.join(root, service), code)
})

/** Returns the commit of the checkout, or an empty string if Git is unavailable or there are uncommitted changes. */
const commitOf = (root: string): string => {
  const git = (...args: ReadonlyArray<string>) => {
    const { exitCode, stdout } = Bun.spawnSync(["git", ...args], { cwd: root, stderr: "ignore" })
    return exitCode === 0 ? stdout.toString().trim() : undefined
  }
  return git("status", "--porcelain") === "" ? (git("rev-parse", "HEAD") ?? "") : ""
}

const compile = Effect.fn("build.compile")(function* (
  root: string,
  outfile: string,
  target: { readonly name: TargetName; readonly runtime: string } | undefined
) {
  const result = yield* Effect.tryPromise({
    try: () =>
      Bun.build({
        entrypoints: [
          programs.main,
          programs.client,
          programs.agent,
          service,
          programs.sync,
          programs.confinement,
          programs.guard,
          programs.worker,
          programs.redaction,
          programs.documents
        ].map((file) => `${root}/${file}`),
        root,
        target: "bun",
        format: "esm",
        // Store code shared by two programs only once in the binary. Each program loads only what it needs.
        splitting: true,
        minify: true,
        bytecode: true,
        sourcemap: "linked",
        define: {
          "process.env.NODE_ENV": '"production"',
          SVC_BUILT_FROM: JSON.stringify(commitOf(root))
        },
        plugins: [withoutImportMeta],
        external: leftOut,
        metafile: true,
        compile: {
          outfile,
          jitPolicy: startReluctance,
          ...(target === undefined ? {} : { target: targets[target.name].compile, executablePath: target.runtime }),
          // Ignore configuration files in the folder where the binary is started.
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
  const licensed = new Set(yield* bundledPackages(root))
  const unlicensed = [...packagesOf(Object.keys(result.metafile?.inputs ?? {}))].filter((one) => !licensed.has(one))
  if (result.metafile === undefined || unlicensed.length > 0) {
    return yield* new BuildFailed({
      message: `The binary holds packages whose licence it does not hold: ${unlicensed}`
    })
  }
})

const build = Effect.fn("build")(function* (names: ReadonlyArray<TargetName>, out: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const folder = path.resolve(root, out)
  const started = yield* Clock.currentTimeMillis
  // Fail before the build starts if a runtime is unavailable.
  const wanted = yield* Effect.forEach(names, (name) =>
    Effect.map(targetRuntime(root, path.join(root, "dist/runtimes"), name), (runtime) => ({ name, runtime }))
  )
  const assets = yield* buildDashboard("best")
  yield* writeLicenses(root, folder, yield* writeDocs(root))
  yield* writeEntry(root, assets)
  // Remove the source maps of earlier builds. Maps of shared code are named after their contents, so they would accumulate.
  yield* files.makeDirectory(folder, { recursive: true })
  for (const name of yield* files.readDirectory(folder)) {
    if (sharedMap.test(name)) yield* files.remove(path.join(folder, name))
  }
  const sums: Array<string> = []
  for (const target of wanted.length === 0 ? [undefined] : wanted) {
    const file = target === undefined ? "svc" : `svc-${target.name}`
    const outfile = path.join(folder, file)
    yield* compile(root, outfile, target)
    const bytes = yield* files.readFile(outfile)
    sums.push(`${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}  ${file}`)
    yield* Console.log(`${path.relative(root, outfile)}  ${(bytes.byteLength / 1024 / 1024).toFixed(1)} MiB`)
  }
  if (wanted.length > 0) yield* files.writeFileString(path.join(folder, "SHA256SUMS"), `${sums.join("\n")}\n`)
  yield* Console.log(`Built in ${(((yield* Clock.currentTimeMillis) - started) / 1000).toFixed(1)} s`)
})

const command = Command.make(
  "build",
  {
    all: Flag.Boolean("all").pipe(
      Flag.withDescription("A binary for each platform, with SHA256SUMS"),
      Flag.withDefault(false)
    ),
    target: Flag.Literals("target", targetNames).pipe(
      Flag.withDescription("A binary for this platform; may be repeated"),
      Flag.atLeast(0)
    ),
    out: Flag.String("out").pipe(
      Flag.withDescription("Folder for the result, from the repository's root"),
      Flag.withDefault("dist")
    )
  },
  ({ all, out, target }) => build(all ? targetNames : [...new Set(target)], out)
).pipe(Command.withDescription("Build the whole service as one file: dist/svc for this machine"))

NodeRuntime.runMain(Command.run(command, { version: Bun.version }).pipe(Effect.provide(NodeServices.layer)))
