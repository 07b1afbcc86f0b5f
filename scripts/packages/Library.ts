import { Effect, FileSystem, Path, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { version } from "../../src/Version.ts"
import { moduleFiles, relativeSpecifiers } from "./ModuleFiles.ts"

/** The error raised when the library cannot be compiled. */
export class LibraryFailed extends Schema.TaggedError<LibraryFailed>()("LibraryFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

/** Modules that are loaded by name, either by users or by the server in its own processes and threads. */
export const libraryEntries = {
  schema: ["schema/index.ts"],
  client: ["src/client/index.ts"],
  server: ["src/index.ts", "src/testing/index.ts"],
  programs: [
    "src/Main.ts",
    "runner/git/SyncMain.ts",
    "runner/sandbox/confinement/ConfineMain.ts",
    "runner/sandbox/confinement/MissingConfinement.ts",
    "runner/scan/HclWorker.ts",
    "runner/redaction/RedactionWorker.ts",
    "runner/document/DocumentWorker.ts"
  ]
} as const

const entries = Object.values(libraryEntries).flat()
/** Modules whose declarations are published for users. */
const typedEntries = [libraryEntries.schema, libraryEntries.client, libraryEntries.server].flat()

/** Modules that are loaded at run time only in a checkout, so the library omits them. */
const ofCheckout: ReadonlySet<string> = new Set(["src/dashboard/Build", "src/licenses/CollectLicenses"])

// Emits one module per input module, because workers and processes are located relative to their module.
const compilerOptions = (folder: string, declarations: boolean) => ({
  extends: "../tsconfig.json",
  compilerOptions: {
    module: "NodeNext",
    moduleResolution: "NodeNext",
    target: "ES2024",
    lib: ["ESNext", "DOM", "DOM.Iterable"],
    noEmit: false,
    declaration: declarations,
    declarationMap: declarations,
    rewriteRelativeImportExtensions: true,
    allowImportingTsExtensions: false,
    skipLibCheck: true,
    incremental: false,
    plugins: [],
    paths: {},
    rootDir: "..",
    outDir: folder
  },
  include: [],
  files: [...entries.map((file) => `../${file}`), "../runner/scan/HclAssets.d.ts"]
})

const withoutExtension = (file: string) => file.replace(/\.(?:d\.ts|js)$/, "")

/**
 * Compiles the library into a folder of the checkout: the modules reachable from its entry points, as ES modules, and the
 * declarations that users can reach. Declarations refer to modules in the same way as the code. Emitting the declarations
 * takes most of the time, because the compiler infers the types.
 */
export const compileLibrary = Effect.fn("compileLibrary")(function* (
  root: string,
  folder: string,
  { declarations }: { readonly declarations: boolean } = { declarations: true }
) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  yield* files.remove(folder, { recursive: true, force: true })
  yield* files.makeDirectory(folder, { recursive: true })
  const project = path.join(root, "dist", "library.tsconfig.json")
  yield* files.writeFileString(project, JSON.stringify(compilerOptions(folder, declarations)))
  const [output, code] = yield* Effect.scoped(
    Effect.gen(function* () {
      // With several threads, the compiler may print the members of an inferred type in another order each time.
      const compiler = yield* spawner.spawn(
        ChildProcess.make(path.join(root, "node_modules/.bin/tsc"), ["-p", project, "--singleThreaded", "--noCheck"], {
          cwd: root,
          extendEnv: true
        })
      )
      return yield* Effect.all([Stream.mkString(Stream.decodeText(compiler.all)), compiler.exitCode], {
        concurrency: 2
      })
    })
  )
  if (Number(code) !== 0) return yield* new LibraryFailed({ message: output })

  // Remove the copy of the checkout's manifest. The compiler copied it because `Version` imports the version from the
  // manifest.
  yield* files.remove(path.join(folder, "package.json"))
  yield* files.writeFileString(
    path.join(folder, "src/Version.js"),
    `/** The version of this release. */\nexport const version = ${JSON.stringify(version)}\n`
  )

  const texts = yield* moduleFiles(folder)
  /** Returns the modules that can be reached from these modules through imports in files with these extensions. */
  const reachedFrom = (modules: ReadonlyArray<string>, extensions: ReadonlyArray<string>): ReadonlySet<string> => {
    const reached = new Set<string>()
    const visit = (module: string): void => {
      if (reached.has(module) || ofCheckout.has(module)) return
      reached.add(module)
      for (const extension of extensions) {
        for (const specifier of relativeSpecifiers(texts.get(`${module}${extension}`) ?? "")) {
          const target = path.normalize(path.join(path.dirname(module), specifier)).replace(/\.(?:[jt]sx?)$/, "")
          if (texts.has(`${target}.js`)) visit(target)
        }
      }
    }
    for (const module of modules) visit(module.replace(/\.ts$/, ""))
    return reached
  }
  const loaded = reachedFrom(entries, [".js", ".d.ts"])
  const declared = reachedFrom(typedEntries, [".d.ts"])
  for (const [file, text] of texts) {
    const at = path.join(folder, file)
    const kept = file.endsWith(".d.ts") ? declared : loaded
    if (!kept.has(withoutExtension(file))) {
      yield* files.remove(at)
      yield* files.remove(`${at}.map`, { force: true })
    } else if (file.endsWith(".d.ts")) {
      yield* files.writeFileString(at, text.replaceAll(/(["'])(\.{1,2}\/[^"'\n]+)\.tsx?\1/g, "$1$2.js$1"))
    }
  }
})
