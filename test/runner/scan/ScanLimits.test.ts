import { afterAll, describe, expect } from "bun:test"
import { Duration, Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { defaultScanLimits, ScanLimits, type ScanLimitValues } from "../../../runner/scan/ScanLimits.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"
import { errorCodes, placedCodes, scanFiles } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const within = (limits: Partial<ScanLimitValues>) =>
  Effect.provideService(ScanLimits, { ...defaultScanLimits, ...limits })

const scanTree = (files: Readonly<Record<string, string>>) => {
  const tree = memoryTree(files)
  return { tree, scan: Effect.flatMap(ModuleScanner, (service) => service.scanTree(tree)) }
}

const slowText = (name: string) =>
  `locals {\n  ${name} = {\n${Array.from({ length: 20_000 }, (_, key) => `    k${key} = ${key}\n`).join("")}  }\n}\n`

describe("Scan limits", () => {
  scanner.live("a scan of too many files fails without reading any file", () =>
    Effect.gen(function* () {
      const { tree, scan } = scanTree({ "a/a.tf": "", "b/b.tf": "", "c/c.tf": "", "c/readme.md": "" })
      const failure = yield* Effect.flip(scan.pipe(within({ files: 2 })))
      expect(failure).toMatchObject({ _tag: "ScanLimitExceeded", limit: "files", maximum: 2 })
      expect(tree.reads.size).toBe(0)
      expect((yield* scan.pipe(within({ files: 3 }))).modules.length).toBe(3)
    })
  )

  scanner.live("a scan of too many bytes is rejected", () =>
    Effect.gen(function* () {
      const { tree, scan } = scanTree({ "a/a.tf": "# 45\n", "b/b.tf": "# 45\n" })
      expect(yield* Effect.flip(scan.pipe(within({ totalBytes: 9 })))).toMatchObject({ limit: "bytes" })
      expect(tree.reads.size).toBe(0)
      expect((yield* scan.pipe(within({ totalBytes: 10 }))).modules.length).toBe(2)
    })
  )

  scanner.live("scan limits count only the files that one module reaches, not all files in the tree", () =>
    Effect.gen(function* () {
      const files = { "a.tf": 'module "m" {\n  source = "./m"\n}\n', "m/m.tf": "", "other/x.tf": "", "other/y.tf": "" }
      expect((yield* scanFiles(files).pipe(within({ files: 2 }))).status).toBe("supported")
      expect(yield* Effect.flip(scanFiles(files).pipe(within({ files: 1 })))).toMatchObject({ limit: "files" })
    })
  )

  scanner.live("a scan that takes too long fails", () =>
    Effect.gen(function* () {
      const { scan } = scanTree({ "a.tf": slowText("time") })
      const failure = yield* Effect.flip(scan.pipe(within({ scanDeadline: Duration.millis(1) })))
      expect(failure).toMatchObject({ limit: "time", maximum: 1 })
    })
  )

  scanner.live("a scan rejects module calls that double at every level", () =>
    Effect.gen(function* () {
      const twice = (level: number) =>
        ["x", "y"].map((name) => `module "${name}" {\n  source = "../l${level + 1}"\n}\n`).join("")
      const levels = Array.from({ length: 40 }, (_, level) => [`l${level}/a.tf`, level === 39 ? "" : twice(level)])
      const files: Record<string, string> = Object.fromEntries(levels)
      const scan = yield* scanFiles(files, { path: "l0" })
      expect(errorCodes(scan)).toEqual(["module_graph_too_large"])
      expect(scan.localModules).toEqual([])
      const failure = yield* Effect.flip(scanTree(files).scan.pipe(within({ treeModuleCalls: 500 })))
      expect(failure).toMatchObject({ limit: "module_calls", maximum: 500 })
    })
  )
})

describe("File limits", () => {
  const fine = { "fine/a.tf": 'output "o" {\n}\n' }
  const verdicts = (modules: ReadonlyArray<{ readonly path: string; readonly status: string }>) =>
    modules.map(({ path, status }) => `${path} ${status}`)

  scanner.live("a file that is too large is not read, and makes its modules unsupported", () =>
    Effect.gen(function* () {
      const { tree, scan } = scanTree({ ...fine, "big/a.tf": `# ${"x".repeat(100)}\n` })
      const { modules } = yield* scan.pipe(within({ fileBytes: 50 }))
      expect(verdicts(modules)).toEqual(["big unsupported", "fine supported"])
      expect(modules[0] && placedCodes(modules[0])).toEqual(["file_too_large big/a.tf:"])
      expect(tree.reads.has("big/a.tf")).toBe(false)
    })
  )

  scanner.live("a file that is nested too deeply is not parsed, and makes its modules unsupported", () =>
    Effect.gen(function* () {
      const { modules } = yield* scanTree({ ...fine, "deep/a.tf": `locals {\n  a = ${"[".repeat(10_000)}\n}\n` }).scan
      expect(verdicts(modules)).toEqual(["deep unsupported", "fine supported"])
      expect(modules[0] && placedCodes(modules[0])).toEqual(["nesting_too_deep deep/a.tf:2"])
    })
  )

  scanner.live(
    "a file that crashes the parser makes its modules unsupported, and the parser handles the next file",
    () =>
      Effect.gen(function* () {
        const { modules } = yield* scanTree({ "bomb/a.tf": `locals {\n  a = ${"!".repeat(50_000)}true\n}\n`, ...fine })
          .scan
        expect(verdicts(modules)).toEqual(["bomb unsupported", "fine supported"])
        expect(modules[0] && errorCodes(modules[0])).toEqual(["parser_crash"])
      })
  )

  scanner.live("a file that takes too long makes its modules unsupported, and the parser handles the next file", () =>
    Effect.gen(function* () {
      const files = { "a.tf": slowText("deadline") }
      const scan = yield* scanFiles(files).pipe(within({ fileDeadline: Duration.millis(1) }))
      expect(errorCodes(scan)).toEqual(["parse_deadline"])
      expect((yield* scanFiles(fine, { path: "fine" })).status).toBe("supported")
    })
  )

  scanner.live("a file that cannot be read makes its modules unsupported", () =>
    Effect.gen(function* () {
      const tree = memoryTree(fine)
      const listed = { ...tree, files: [...tree.files, { path: "fine/b.tf", sizeBytes: 1, executable: false }] }
      const scan = yield* Effect.flatMap(ModuleScanner, ({ scanModule }) => scanModule(listed, "fine"))
      expect(placedCodes(scan)).toEqual(["file_unreadable fine/b.tf:"])
    })
  )

  scanner.live("the scan lists findings up to a limit, and only counts further findings", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf": Array.from({ length: 500 }, (_, index) => `stray${index} = 1\n`).join("")
      })
      expect(scan.findings.length).toBe(201)
      expect(scan.findings.at(-1)).toMatchObject({ code: "more_findings" })
    })
  )
})
