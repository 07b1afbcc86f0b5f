import { posix } from "node:path"
import { Effect, Result } from "effect"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import { configFileName } from "./ConfigFileName.ts"
import { configText } from "./ConfigText.ts"
import { ModuleScanner } from "./ModuleScanner.ts"
import type { ScannedModule } from "./ScannedModule.ts"
import { TreeIndex } from "./TreeIndex.ts"
import { type ConfigToken, configTokens } from "./ConfigTokens.ts"
import { resolveLocalSource } from "./ModuleSource.ts"

/**
 * The folder of a configuration file (`folder`), and the tool's working folder (`root`), which is the base of relative
 * paths. Both are canonical folders in the tree.
 */
interface ReadingPlace {
  readonly path: string
  readonly folder: string
  readonly root: string
  readonly isFolder: (path: string) => boolean
}

/**
 * Paths that a configuration may read from the tree.
 *
 * - `paths`: files, and folders including everything below them
 * - `templates`: the files in `paths` that the tool evaluates
 * - `unproven`: the reason why the list may be incomplete
 */
interface FileReads {
  readonly paths: ReadonlySet<string>
  readonly templates: ReadonlySet<string>
  readonly unproven?: string
}

/** Matches functions that read files, including functions that providers and later tool versions may add. */
const readingFunction = /^(?:file[a-z0-9_]*|templatefile)$/
const pathFunction = /^(?:templatestring|abspath|pathexpand)$/
const functionCall = /\b(?:file[a-z0-9_]*|templatefile|templatestring|abspath|pathexpand)\s*\(|\bprovider\s*::/
const programBlock = /^(?:external|local_command)$/

/** Matches arguments for which providers accept a path. */
const readingArgument =
  /^(?:sources?|src|path|chart|program|scripts?|interpreter|context|dockerfile|working_dir)$|(?:^|_)(?:files?|filenames?|filepath|dirs?|directory|folder)$|^(?:config|source|local|package|template|script|build|chart|values|module)_paths?$/

type NameToken = Extract<ConfigToken, { readonly kind: "name" }>

const isSign = (token: ConfigToken | undefined, ...signs: ReadonlyArray<string>) =>
  token?.kind === "sign" && signs.includes(token.text)

const isPathAttribute = (token: ConfigToken | undefined) =>
  token?.kind === "name" && (token.text === "module" || token.text === "root")

/** Returns true if a template in another file calls a function that may read files. */
const callsReader = (template: string): boolean => functionCall.test(template)

class ReadWalk {
  readonly paths = new Set<string>()
  readonly templates = new Set<string>()
  readonly #place: ReadingPlace
  unproven: string | undefined

  constructor(place: ReadingPlace) {
    this.#place = place
  }

  #doubt(what: string, { line }: ConfigToken) {
    this.unproven ??= `${what} (${this.#place.path}:${line})`
  }

  /** Returns the existing entry at a path in the tree. Ignores paths outside the tree, because a commit cannot change them. */
  #resolved(from: string, path: string): string | undefined {
    return path.startsWith("/") || path.startsWith("~") ? undefined : resolveLocalSource(from, path)
  }

  /** Returns the folder to which a lone `path.module` or `path.root` refers. */
  #folderOf(tokens: ReadonlyArray<ConfigToken>): string | undefined {
    const [path, dot, name, ...rest] = tokens
    if (rest.length > 0 || path?.kind !== "name" || path.text !== "path") return undefined
    if (!isSign(dot, ".") || !isPathAttribute(name)) return undefined
    return name?.kind === "name" && name.text === "module" ? this.#place.folder : this.#place.root
  }

  /**
   * Returns a path that is written as plain text, optionally starting with `path.module` or `path.root`. Omits `inTree` if
   * the path is outside the tree.
   */
  #provenPath(token: ConfigToken | undefined): { readonly inTree: string | undefined } | undefined {
    if (token?.kind !== "text" || token.heredoc) return undefined
    const [first, second, ...rest] = token.parts
    if (rest.length > 0) return undefined
    if (first === undefined) return { inTree: this.#place.root }
    if (typeof first === "string")
      return second === undefined ? { inTree: this.#resolved(this.#place.root, first) } : undefined
    const folder = this.#folderOf(first)
    if (folder === undefined) return undefined
    if (second === undefined) return { inTree: folder }
    return typeof second === "string" && second.startsWith("/")
      ? { inTree: this.#resolved(folder, `.${second}`) }
      : undefined
  }

  #add(path: string | undefined) {
    if (path !== undefined) this.paths.add(path)
  }

  /** Records a string as a path, because a provider may accept any string as a file name. */
  #text(token: Extract<ConfigToken, { readonly kind: "text" }>) {
    const proven = this.#provenPath(token)
    const [first, ...rest] = token.parts
    if (proven !== undefined) {
      const isTrivial = first === undefined || (typeof first === "string" && /^[./]*$/.test(first))
      if (!isTrivial) this.#add(proven.inTree)
      return
    }
    if (!token.heredoc && typeof first === "string" && rest.length > 0 && first.includes("/")) {
      const folder = this.#resolved(this.#place.root, first.slice(0, first.lastIndexOf("/") + 1))
      if (folder !== undefined && this.#place.isFolder(folder)) this.#doubt("A path is computed", token)
    }
    for (const part of token.parts) if (typeof part !== "string") this.walk(part)
  }

  /**
   * Reads the arguments, beginning at `at`, of a function that reads files. Returns the number of understood tokens after
   * the function's name.
   */
  #call(name: NameToken, tokens: ReadonlyArray<ConfigToken>, at: number): number {
    const places: Array<number> = []
    for (let place = at; place < tokens.length && places.length < 5; place++) {
      if (tokens[place]?.kind !== "line-end") places.push(place)
    }
    const after = places.flatMap((place) => tokens[place] ?? [])
    const bare = name.text === "fileset" ? this.#folderOf(after.slice(0, 3)) : undefined
    const width = bare === undefined ? 1 : 3
    const proven = bare === undefined ? this.#provenPath(after[0]) : { inTree: bare }
    if (proven === undefined || !isSign(after[width], ",", ")")) {
      this.#doubt(`${name.text}() reads a path that is computed`, name)
      return 0
    }
    if (name.text === "fileset") {
      const pattern = after[width + 1]
      const [glob, ...rest] = pattern?.kind === "text" ? pattern.parts : []
      if (typeof glob !== "string" || rest.length > 0 || glob.includes("..")) {
        this.#doubt("fileset() lists by a pattern that is computed", name)
        return 0
      }
    }
    this.#add(proven.inTree)
    if (name.text === "templatefile" && proven.inTree !== undefined) this.templates.add(proven.inTree)
    return (places[width - 1] ?? at) - at + 2
  }

  /** Reads the value, beginning at `at`, of an argument that providers treat as a path or a list of paths. */
  #argument(name: string, tokens: ReadonlyArray<ConfigToken>, at: number) {
    const value = tokens[at]
    const isList = isSign(value, "[")
    for (let item = isList ? at + 1 : at; ; item++) {
      const token = tokens[item]
      if (isList && isSign(token, "]")) return
      if (isList && (token?.kind === "line-end" || isSign(token, ","))) continue
      const proven = this.#provenPath(token)
      const end = tokens[item + 1]
      const isEnd = end === undefined || end.kind === "line-end" || isSign(end, ",", isList ? "]" : "}")
      if (isEnd && proven !== undefined) this.#add(proven.inTree)
      else if (!isEnd || token?.kind !== "name" || token.text !== "null") {
        return this.#doubt(`${name} takes a path that is computed`, token ?? value ?? { kind: "line-end", line: 1 })
      }
      if (!isList) return
    }
  }

  /** Reads an object key or an argument name, with or without quotes. */
  #key(name: string, tokens: ReadonlyArray<ConfigToken>, at: number) {
    const isAssigned = isSign(tokens[at + 1], "=", ":") && !isSign(tokens[at + 2], "=", ">", ":")
    if (isAssigned && readingArgument.test(name)) this.#argument(name, tokens, at + 2)
  }

  /** Reads a name. Returns the number of understood tokens after the name. */
  #name(token: NameToken, tokens: ReadonlyArray<ConfigToken>, at: number): number {
    if (isSign(tokens[at - 1], ".")) return 0
    const next = tokens[at + 1]
    const block = next?.kind === "name" ? next.text : next?.kind === "text" ? next.parts[0] : undefined
    if (token.text === "provisioner" && block !== undefined) this.#doubt("A provisioner runs a program", token)
    if (typeof block === "string" && programBlock.test(block)) this.#doubt(`${block} runs a program`, token)
    if (token.text === "provider" && isSign(next, ":")) this.#doubt("A provider's function may read files", token)
    if (token.text === "path" && isSign(next, ".", "[")) this.#doubt("A path is computed", token)
    if (isSign(next, "(") && pathFunction.test(token.text)) this.#doubt(`${token.text}() computes a path`, token)
    if (isSign(next, "(") && readingFunction.test(token.text)) return this.#call(token, tokens, at + 2)
    this.#key(token.text, tokens, at)
    return 0
  }

  walk(tokens: ReadonlyArray<ConfigToken>) {
    let depth = 0
    let inModule = false
    for (let at = 0; at < tokens.length; at++) {
      const token = tokens[at]
      if (isSign(token, "{")) depth++
      if (isSign(token, "}")) depth--
      if (token?.kind === "name" && depth === 0) inModule = token.text === "module"
      // Skip the sources of module calls, which the scan itself follows. No other subfolders are read.
      const isCall = inModule && depth === 1 && token?.kind === "name" && token.text === "source"
      if (isCall && isSign(tokens[at + 1], "=")) at += 2
      else if (token?.kind === "name") at += this.#name(token, tokens, at)
      else if (token?.kind === "text") {
        const [name, ...rest] = token.parts
        if (typeof name === "string" && rest.length === 0) this.#key(name, tokens, at)
        this.#text(token)
      }
    }
  }
}

/**
 * Lists the paths that a configuration file may read from the tree. The list may be too long, but never too short: every
 * string that is the path of a file counts, and a possible path that is not plain text makes the list unproven.
 */
const fileReads = (text: string, place: ReadingPlace): FileReads => {
  const walk = new ReadWalk(place)
  const tokens = configTokens(text)
  if (tokens === undefined) walk.unproven = `${place.path} cannot be read`
  else walk.walk(tokens)
  const { paths, templates, unproven } = walk
  return { paths, templates, ...(unproven === undefined ? {} : { unproven }) }
}

/**
 * Parts of a tree that are part of a module.
 * - `folders`: folders of the module and of the local modules that it reaches, including the files directly in these folders
 * - `paths`: files that the module reads, and folders in which it may read any file
 * - `unknown`: the reason why the parts cannot be determined
 */
export type ModuleFootprint =
  | { readonly kind: "known"; readonly folders: ReadonlySet<string>; readonly paths: ReadonlySet<string> }
  | { readonly kind: "unknown"; readonly reason: string }

const unknown = (reason: string): ModuleFootprint => ({ kind: "unknown", reason })

/**
 * If tools read different files, scans the module once for each of these tools, because a change to any of the files affects
 * some tool.
 */
const scansOf = Effect.fnUntraced(function* (tree: SourceTree, modulePath: string) {
  const scanner = yield* ModuleScanner
  const [module] = yield* scanner.scanModules(tree, [modulePath])
  if (module?.readAs === undefined) return module === undefined ? [] : [module]
  return [module, ...(yield* scanner.scanModules(tree, [modulePath], "terraform"))]
})

const foldersOf = (scans: ReadonlyArray<ScannedModule>): ReadonlySet<string> =>
  new Set(scans.flatMap(({ localModules, path }) => [path, ...localModules.map((call) => call.path)]))

/**
 * Determines the parts of a tree that are part of a module, within the limits of a module scan and the size limit of the
 * tree.
 */
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
 * Lists the omitted entries of the tree that the module may read. If it is not known what the module reads, assumes that the
 * module may read anything below its own folder and the folders of the modules that it calls.
 */
export const neededOmissions = Effect.fn("neededOmissions")(function* (tree: SourceTree, modulePath: string) {
  const special = tree.omitted.filter(({ kind }) => kind === "special")
  if (special.length === 0) return []
  const footprint = yield* moduleFootprint(tree, modulePath)
  const reads = footprint.kind === "unknown" ? foldersOf(yield* scansOf(tree, modulePath)) : footprint.paths
  return special.filter(({ path }) => [...reads].some((read) => isBelow(path, read) || isBelow(read, path)))
})
