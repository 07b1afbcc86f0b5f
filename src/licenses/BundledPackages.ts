import { join } from "node:path"
import { Effect, Schema } from "effect"
import { dashboardEntries } from "../dashboard/Build.ts"

/** Raised if the sources could not be bundled, so that the shipped packages are unknown. */
export class PackagesUnknown extends Schema.TaggedError<PackagesUnknown>()("PackagesUnknown", {
  message: Schema.String
}) {}

/** Programs in a compiled binary, relative to the repository's root. Worker threads are loaded from these paths. */
export const programs = {
  main: "src/BinaryMain.ts",
  client: "src/ClientMain.ts",
  agent: "src/AgentBinaryMain.ts",
  service: "src/BinaryService.ts",
  sync: "runner/git/SyncMain.ts",
  confinement: "runner/sandbox/confinement/ConfineMain.ts",
  guard: "runner/agent/guard/GuardMain.ts",
  worker: "runner/scan/EmbeddedHclWorker.ts",
  redaction: "runner/redaction/RedactionWorker.ts",
  documents: "runner/document/DocumentWorker.ts"
} as const

/**
 * Modules that a compiled binary omits, spelt as in the imports. The binary either contains the results of these modules
 * already, or does not need them because they are for runtimes other than Bun.
 */
export const leftOut = ["../dashboard/Build.ts", "./CollectLicenses.ts", "./NodeServer.ts", "@node-rs/argon2"]

const packageFolder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/

/** Returns the folders of the innermost packages that contain the bundled files. */
export const packagesOf = (inputs: Iterable<string>): ReadonlySet<string> =>
  new Set(
    [...inputs].flatMap((file) => {
      const folder = packageFolder.exec(file)?.[0]
      return folder === undefined ? [] : [folder.slice(folder.indexOf("node_modules/"))]
    })
  )

const inputsOf = Effect.fnUntraced(function* (root: string, config: Bun.BuildConfig) {
  const built = yield* Effect.tryPromise({
    try: () =>
      Bun.build({ root, format: "esm", metafile: true, define: { "process.env.NODE_ENV": '"production"' }, ...config }),
    catch: (cause) =>
      new PackagesUnknown({
        message: cause instanceof AggregateError ? cause.errors.map(String).join("\n") : String(cause)
      })
  })
  if (!built.success || built.metafile === undefined) {
    return yield* new PackagesUnknown({ message: built.logs.map(String).join("\n") })
  }
  return Object.keys(built.metafile.inputs)
})

/** Returns the sorted folders of all packages that are bundled into a compiled binary's programs and dashboard. */
export const bundledPackages = Effect.fn("bundledPackages")(function* (root: string) {
  const [server, pages] = yield* Effect.all([
    inputsOf(root, {
      entrypoints: Object.values(programs).map((program) => join(root, program)),
      target: "bun",
      splitting: true,
      external: leftOut
    }),
    inputsOf(root, {
      entrypoints: [...dashboardEntries.pages, ...dashboardEntries.scripts].map((entry) =>
        join(root, "src/dashboard", entry)
      ),
      target: "browser",
      splitting: true
    })
  ])
  return [...packagesOf([...server, ...pages])].toSorted()
})
