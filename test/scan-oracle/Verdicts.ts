import { Effect, FileSystem, Path, Schema } from "effect"
import { folderTree } from "../../runner/scan/FolderTree.ts"
import { ModuleScanner } from "../../runner/scan/ModuleScanner.ts"
import { toolProblems } from "../../runner/scan/ToolFit.ts"
import type { Snippet } from "./Snippets.ts"

/** The reasons why the tool and the scan refuse a module. An empty list means that the module is accepted. */
export interface Verdicts {
  readonly tool: ReadonlyArray<string>
  readonly scan: ReadonlyArray<string>
}

const Report = Schema.fromJsonString(
  Schema.Struct({
    diagnostics: Schema.Array(
      Schema.Struct({ severity: Schema.String, summary: Schema.String, detail: Schema.optionalKey(Schema.String) })
    )
  })
)

/** No provider is installed here, so the tool stops with this error, but only after every check that the scan could make. */
const withoutProviders = /^(?:Missing required provider|Inconsistent dependency lock file|Module not installed)/

const start = async (folder: string, args: ReadonlyArray<string>) => {
  const child = Bun.spawn(["terraform", `-chdir=${folder}`, ...args], {
    env: { PATH: process.env["PATH"], HOME: folder, TF_CLI_CONFIG_FILE: "/dev/null", CHECKPOINT_DISABLE: "1" },
    stdout: "pipe",
    stderr: "pipe"
  })
  const [output, errors, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited
  ])
  return { output, errors, code }
}

const toolErrors = Effect.fnUntraced(function* (folder: string, callsModules: boolean) {
  if (callsModules) {
    const { code, errors } = yield* Effect.promise(() => start(folder, ["get", "-no-color"]))
    if (code !== 0) return [...errors.matchAll(/Error: ([^\n]*)/g)].map((found) => found[1] ?? "")
  }
  const { output } = yield* Effect.promise(() => start(folder, ["validate", "-json"]))
  const { diagnostics } = yield* Schema.decodeEffect(Report)(output)
  return diagnostics
    .filter(({ severity, summary }) => severity === "error" && !withoutProviders.test(summary))
    .map(({ detail = "", summary }) => `${summary}: ${detail.split("\n", 1)[0] ?? ""}`)
})

/** Runs `terraform validate` and the scan on the same files. */
export const verdictsOn = Effect.fn("verdictsOn")(function* ({ files }: Snippet, version: string) {
  const system = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const scanner = yield* ModuleScanner
  const folder = yield* system.makeTempDirectoryScoped({ prefix: "svc-scan-oracle-" })
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name)
    yield* system.makeDirectory(path.dirname(file), { recursive: true })
    yield* system.writeFile(file, typeof content === "string" ? new TextEncoder().encode(content) : content)
  }
  // Scans first, because the tool leaves a folder behind in the module.
  const scan = yield* scanner.scanModule(yield* folderTree(folder), ".", "terraform")
  const unfit = toolProblems(scan, { name: "terraform", version })
  const callsModules = Object.keys(files).some((name) => name.includes("/"))
  return {
    tool: yield* toolErrors(folder, callsModules),
    scan: [...scan.findings.filter(({ severity }) => severity === "error"), ...unfit].map(
      ({ code, message }) => `${code}: ${message}`
    )
  } satisfies Verdicts
}, Effect.scoped)
