import { posix } from "node:path"
import { Effect, Result } from "effect"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import { configFileName } from "./ConfigFileName.ts"
import { configText } from "./ConfigText.ts"
import { callsReader, fileReads } from "./FileReads.ts"
import { ModuleScanner } from "./ModuleScanner.ts"
import type { ScannedModule } from "./ScannedModule.ts"
import { TreeIndex } from "./TreeIndex.ts"

/**
 * The parts of a tree that belong to a module.
 *
 * - `folders`: folders of the module and of the local modules it reaches, with the files directly in them
 * - `paths`: files that it reads, and folders of which it may read any file
 * - `unknown`: the reason why the parts cannot be determined for this tree
 */
export type ModuleFootprint =
  | { readonly kind: "known"; readonly folders: ReadonlySet<string>; readonly paths: ReadonlySet<string> }
  | { readonly kind: "unknown"; readonly reason: string }

const unknown = (reason: string): ModuleFootprint => ({ kind: "unknown", reason })

/** The scans of the module for every tool that reads other files: a change of either file changes the behaviour of some tool. */
const scansOf = Effect.fnUntraced(function* (tree: SourceTree, modulePath: string) {
  const scanner = yield* ModuleScanner
  const [module] = yield* scanner.scanModules(tree, [modulePath])
  if (module?.readAs === undefined) return module === undefined ? [] : [module]
  return [module, ...(yield* scanner.scanModules(tree, [modulePath], "terraform"))]
})

const foldersOf = (scans: ReadonlyArray<ScannedModule>): ReadonlySet<string> =>
  new Set(scans.flatMap(({ localModules, path }) => [path, ...localModules.map((call) => call.path)]))

/** Limited by the limits of a scan of the module, and by the size of the tree. */
export const moduleFootprint = Effect.fn("moduleFootprint")(function* (tree: SourceTree, modulePath: string) {
  const scans = yield* scansOf(tree, modulePath)
  const [module] = scans
  if (module === undefined) return unknown("The commit has no such module")
  if (scans.some(({ status }) => status === "unsupported")) return unknown("The scan refuses the module")
  const folders = foldersOf(scans)
  const index = new TreeIndex(tree)
  const paths = new Set<string>()
  const templates = new Set<string>()
  for (const folder of folders) {
    for (const { path } of index.filesOf(folder)) {
      const name = configFileName(posix.basename(path))
      if (name === undefined) continue
      if (name.syntax === "json") return unknown(`${path} is in JSON syntax`)
      const text = yield* Effect.result(
        Effect.flatMap(tree.read(path), (bytes) => Effect.fromResult(configText(bytes, name.syntax)))
      )
      if (Result.isFailure(text)) return unknown(`${path} cannot be read`)
      const reads = fileReads(text.success, {
        path,
        folder,
        root: module.path,
        isFolder: (other) => index.kindOf(other) === "folder"
      })
      if (reads.unproven !== undefined) return unknown(reads.unproven)
      for (const read of reads.paths) paths.add(read)
      for (const template of reads.templates) templates.add(template)
      yield* Effect.yieldNow
    }
  }
  for (const { path } of tree.files) {
    if (!templates.has(path)) continue
    const bytes = yield* Effect.result(tree.read(path))
    if (Result.isFailure(bytes)) return unknown(`${path} cannot be read`)
    if (callsReader(new TextDecoder().decode(bytes.success))) return unknown(`The template ${path} may read files`)
  }
  return { kind: "known", folders, paths } satisfies ModuleFootprint
})

const isBelow = (path: string, folder: string) => folder === "." || path === folder || path.startsWith(`${folder}/`)

/**
 * The omitted entries of the tree that the module may read. If its reads are unknown, it may read anything below its folder and
 * the folders of the modules that it calls.
 */
export const neededOmissions = Effect.fn("neededOmissions")(function* (tree: SourceTree, modulePath: string) {
  const special = tree.omitted.filter(({ kind }) => kind === "special")
  if (special.length === 0) return []
  const footprint = yield* moduleFootprint(tree, modulePath)
  const reads = footprint.kind === "unknown" ? foldersOf(yield* scansOf(tree, modulePath)) : footprint.paths
  return special.filter(({ path }) => [...reads].some((read) => isBelow(path, read) || isBelow(read, path)))
})
