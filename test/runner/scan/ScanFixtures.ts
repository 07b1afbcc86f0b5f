import { join } from "node:path"
import { Effect } from "effect"
import { folderTree } from "../../../runner/scan/FolderTree.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import type { ScannedModule } from "../../../runner/scan/ScannedModule.ts"
import type { OmittedEntry } from "../../../runner/snapshot/SourceTree.ts"
import { memoryTree } from "./MemoryTree.ts"

export const fixtureFolder = join(import.meta.dir, "../../fixtures/modules")

export const fixtureTree = Effect.orDie(folderTree(fixtureFolder))

/** Scans the module at `path` in a tree with the given files. The default path is `.`. */
export const scanFiles = (
  contents: Readonly<Record<string, string | Uint8Array>>,
  options: { readonly path?: string; readonly omitted?: ReadonlyArray<OmittedEntry> } = {}
) =>
  Effect.flatMap(ModuleScanner, (scanner) =>
    scanner.scanModule(memoryTree(contents, options.omitted), options.path ?? ".")
  )

export const scanFixture = (path: string) =>
  Effect.gen(function* () {
    const scanner = yield* ModuleScanner
    return yield* scanner.scanModule(yield* fixtureTree, path)
  })

export const errorCodes = ({ findings }: Pick<ScannedModule, "findings">) =>
  findings.filter(({ severity }) => severity === "error").map(({ code }) => code)

/** Formats each finding as `code path:line`. */
export const placedCodes = ({ findings }: Pick<ScannedModule, "findings">) =>
  findings.map(({ code, path, line }) => `${code} ${path ?? ""}:${line ?? ""}`)
