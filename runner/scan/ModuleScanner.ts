import { Context, Duration, Effect, Layer, Result } from "effect"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import type { ToolName } from "../toolchain/Tool.ts"
import { ConfigReader } from "./ConfigReader.ts"
import { addressesBelow } from "./ModuleAddresses.ts"
import type { LocalModuleCall, ModuleAddresses, ScannedModule, TreeScan } from "./ScannedModule.ts"
import { type HclParserUnavailable, ModuleNotInTree, ScanLimitExceeded } from "./ScanError.ts"
import { ScanLimits, type ScanLimitValues } from "./ScanLimits.ts"
import { type FolderKind, TreeIndex } from "./TreeIndex.ts"
import { posix } from "node:path"
import type { Finding } from "../../schema/records/CompatibilityReport.ts"
import type { ProviderPackage } from "../../schema/records/Provider.ts"
import type { ModuleCallDeclaration } from "./ModuleCallDeclaration.ts"
import { declareModule, type ModuleDeclaration } from "./ModuleDeclaration.ts"
import { rootRequirements } from "./ProviderInheritance.ts"
import { locate, notice, quoted, refusal } from "./ScanProblem.ts"
import { isAmbientFile, reservedFileProblem } from "../execution/ModuleOverride.ts"
import type { ReadFile } from "./BlockMerge.ts"
import { configFileName, configFilesOf } from "./ConfigFileName.ts"

/** Reports findings about other files in a module's folder, which matter only if that module is installed. */
const folderRemarks = (index: TreeIndex, folder: string, names: ReadonlyArray<string>): ReadonlyArray<Finding> => {
  const remarks = names.filter(isAmbientFile).map((name) => {
    const code = name.includes("tfvars") ? "tfvars_ignored" : "file_ignored"
    const message = `${quoted(name)} is removed before the tool starts. Give values as inputs of the installation.`
    return locate(notice("warning", code, message), posix.join(folder, name))
  })
  const omitted = index.countOmittedBelow(folder)
  if (omitted === 0) return remarks
  const message = `${omitted} symbolic links, submodules, special files or names that cannot be stored below this folder are left out of the snapshot. A module that reads them fails.`
  return [...remarks, locate(notice("warning", "entries_omitted", message), folder)]
}

/** Reports configuration files that would be lost, or would conflict with the runner's own files. */
const misplacedFiles = (index: TreeIndex, folder: string, names: ReadonlyArray<string>): ReadonlyArray<Finding> => {
  const lost = index.omittedOf(folder).flatMap((name) => {
    if (configFileName(name) === undefined) return []
    const message =
      "The configuration file is a symbolic link, a submodule or a special file, or has a name that cannot be stored, so it is not part of the snapshot. Store it as a regular file with a unique name."
    return [locate(refusal("config_file_omitted", message), posix.join(folder, name))]
  })
  const reserved = names.flatMap((name) => {
    const problem =
      configFileName(name) === undefined
        ? undefined
        : (reservedFileProblem(name) ?? reservedFileProblem(name.toLowerCase()))
    return problem === undefined ? [] : [locate(refusal("reserved_file_name", problem), posix.join(folder, name))]
  })
  return [...lost, ...reserved]
}

const dialectRemarks = (folder: string, files: ReturnType<typeof configFilesOf>): ReadonlyArray<Finding> => [
  ...files.read
    .filter(({ dialect }) => dialect === "opentofu")
    .map(({ name }) =>
      locate(
        notice("info", "opentofu_file", "Only OpenTofu reads this file; Terraform would run the module without it."),
        posix.join(folder, name)
      )
    ),
  ...files.unread.map(({ name }) =>
    locate(
      notice("info", "opentofu_file_unread", "Only OpenTofu reads this file; Terraform runs the module without it."),
      posix.join(folder, name)
    )
  ),
  ...files.hidden.map(({ name }) =>
    locate(
      notice(
        "warning",
        "hidden_by_opentofu_file",
        "OpenTofu reads the .tofu file of the same name instead of this one; it was not scanned."
      ),
      posix.join(folder, name)
    )
  )
]

/** Reports a folder that contains only files specific to OpenTofu, in which Terraform finds no configuration. */
const missingForTerraform = (
  folder: string,
  { read, unread }: ReturnType<typeof configFilesOf>
): ReadonlyArray<Finding> => {
  const [first] = unread
  if (first === undefined || read.length > 0) return []
  const message =
    "Only OpenTofu reads this file, and this service runs Terraform, which finds no configuration here. Run the service with OpenTofu, or add a .tf file."
  return [locate(refusal("tool_cannot_read", message), posix.join(folder, first.name))]
}

/** Reads each folder of a tree once, and enforces the limits of a scan. */
class ModuleLoader {
  readonly #tree: SourceTree
  readonly #index: TreeIndex
  readonly #reader: ConfigReader["Service"]
  readonly #limits: ScanLimitValues
  readonly #tool: ToolName
  readonly #loaded = new Map<string, ModuleDeclaration>()
  #files = 0
  #bytes = 0

  constructor(
    tree: SourceTree,
    index: TreeIndex,
    reader: ConfigReader["Service"],
    limits: ScanLimitValues,
    tool: ToolName
  ) {
    this.#tree = tree
    this.#index = index
    this.#reader = reader
    this.#limits = limits
    this.#tool = tool
  }

  /** The folders that have been read, including folders that module calls refer to but that contain no configuration. */
  get loaded(): ReadonlyMap<string, ModuleDeclaration> {
    return this.#loaded
  }

  #configFiles(folder: string) {
    const sizes = new Map(this.#index.filesOf(folder).map(({ path, sizeBytes }) => [posix.basename(path), sizeBytes]))
    const names = [...sizes.keys()]
    const files = configFilesOf(names, this.#tool)
    const sizeOf = (name: string) => sizes.get(name) ?? 0
    const readable = files.read.map(({ name }) => sizeOf(name)).filter((size) => size <= this.#limits.fileBytes)
    return { names, files, sizeOf, count: readable.length, bytes: readable.reduce((total, size) => total + size, 0) }
  }

  /** Fails if the folders together exceed the limits of a scan. Checks the limits before reading any folder. */
  checkSizes(folders: ReadonlyArray<string>): Effect.Effect<void, ScanLimitExceeded> {
    const all = folders.map((folder) => this.#configFiles(folder))
    const total = (key: "count" | "bytes") => all.reduce((sum, folder) => sum + folder[key], 0)
    return this.#check(total("count"), total("bytes"))
  }

  #check(count: number, bytes: number): Effect.Effect<void, ScanLimitExceeded> {
    const { files, totalBytes } = this.#limits
    if (count > files) {
      const message = `The scan would read more than ${files} configuration files. Scan a single module or a smaller tree.`
      return Effect.fail(new ScanLimitExceeded({ limit: "files", maximum: files, message }))
    }
    if (bytes > totalBytes) {
      const message = `The scan would read more than ${totalBytes} bytes of configuration. Scan a single module or a smaller tree.`
      return Effect.fail(new ScanLimitExceeded({ limit: "bytes", maximum: totalBytes, message }))
    }
    return Effect.void
  }

  readonly #readFolder = Effect.fnUntraced(function* (this: ModuleLoader, folder: string) {
    const { names, files, sizeOf, count, bytes } = this.#configFiles(folder)
    this.#files += count
    this.#bytes += bytes
    yield* this.#check(this.#files, this.#bytes)

    const findings: Array<Finding> = [...misplacedFiles(this.#index, folder, names), ...dialectRemarks(folder, files)]
    const readFiles: Array<ReadFile> = []
    for (const { name, syntax, override } of files.read) {
      const path = posix.join(folder, name)
      const tooLarge = refusal("file_too_large", `The file is larger than ${this.#limits.fileBytes} bytes. Split it.`)
      if (sizeOf(name) > this.#limits.fileBytes) {
        findings.push(locate(tooLarge, path))
        continue
      }
      const content = yield* Effect.result(this.#tree.read(path))
      if (Result.isFailure(content)) {
        findings.push(locate(refusal("file_unreadable", content.failure.message), path))
        continue
      }
      // Check the size again, because a folder on disk may have changed since it was listed.
      if (content.success.byteLength > this.#limits.fileBytes) {
        findings.push(locate(tooLarge, path))
        continue
      }
      const { blocks, problems } = yield* this.#reader.read(content.success, syntax)
      findings.push(...problems.map((problem) => locate(problem, path)))
      readFiles.push({ path, override, blocks })
    }
    if (files.read.length === 0) {
      findings.push(
        locate(
          notice(
            "warning",
            "module_without_configuration",
            "A module call refers to this folder, but it contains no configuration."
          ),
          folder
        )
      )
    }
    const rootFindings = [...folderRemarks(this.#index, folder, names), ...missingForTerraform(folder, files)]
    const dependsOnTool = names.some((name) => configFileName(name)?.dialect === "opentofu")
    return {
      ...declareModule(folder, readFiles, findings, rootFindings),
      ...(dependsOnTool ? { readAs: this.#tool } : {})
    }
  })

  /** Reads a folder, and all folders that it reaches through module calls. */
  readonly load = Effect.fnUntraced(function* (
    this: ModuleLoader,
    folder: string
  ): Effect.fn.Return<void, ScanLimitExceeded | HclParserUnavailable> {
    const waiting = [folder]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      if (this.#loaded.has(next)) continue
      const declaration = yield* this.#readFolder(next)
      this.#loaded.set(next, declaration)
      for (const { path } of declaration.calls) {
        if (path !== undefined && this.#index.kindOf(path) === "folder") waiting.push(path)
      }
    }
  })
}

const brokenTargets: Record<Exclude<FolderKind, "folder">, { readonly code: string; readonly reason: string }> = {
  missing: { code: "module_not_found", reason: "the tree has no such folder" },
  symlink: {
    code: "module_source_symlink",
    reason: "the path goes through a symbolic link, which is not part of the snapshot"
  },
  submodule: {
    code: "module_source_submodule",
    reason: "the path goes into a Git submodule, which is not part of the snapshot"
  },
  special: {
    code: "module_source_special",
    reason: "the path goes through a special file or a name that cannot be stored, which is not part of the snapshot"
  }
}

/** Follows the module calls of one module through folders that have been read. */
class GraphWalk {
  readonly localModules: Array<LocalModuleCall> = []
  readonly reached = new Map<string, ModuleDeclaration>()
  readonly findings: Array<Finding> = []
  readonly #root: ModuleDeclaration
  readonly #index: TreeIndex
  readonly #loaded: ReadonlyMap<string, ModuleDeclaration>
  readonly #maxCalls: number
  #tooLarge = false

  constructor(
    root: ModuleDeclaration,
    index: TreeIndex,
    loaded: ReadonlyMap<string, ModuleDeclaration>,
    maxCalls: number
  ) {
    this.#root = root
    this.#index = index
    this.#loaded = loaded
    this.#maxCalls = maxCalls
  }

  #refuse(code: string, message: string, { sourceLocation: { path, line } }: ModuleCallDeclaration) {
    this.findings.push(locate(refusal(code, message, line), path))
  }

  walk(module: ModuleDeclaration = this.#root, prefix = "", above: ReadonlyArray<string> = []) {
    if (!this.reached.has(module.path)) {
      this.reached.set(module.path, module)
      this.findings.push(...module.findings)
    }
    const path = [...above, module.path]
    for (const call of module.calls) {
      if (this.#tooLarge) return
      this.#follow(call, prefix, path)
    }
  }

  #follow(call: ModuleCallDeclaration, prefix: string, above: ReadonlyArray<string>) {
    // A call without a path was already refused when the call was read.
    if (call.path === undefined) return
    const kind = this.#index.kindOf(call.path)
    if (kind !== "folder") {
      const { code, reason } = brokenTargets[kind]
      this.#refuse(
        code,
        `The module call ${quoted(call.name)} cannot be followed to ${quoted(call.path)}: ${reason}.`,
        call
      )
      return
    }
    if (above.includes(call.path)) {
      this.#refuse(
        "module_cycle",
        `The module call ${quoted(call.name)} leads back to ${quoted(call.path)}, which is being called already.`,
        call
      )
      return
    }
    if (this.localModules.length >= this.#maxCalls) {
      this.#tooLarge = true
      this.#refuse(
        "module_graph_too_large",
        `The module reaches more than ${this.#maxCalls} module calls. Flatten it.`,
        call
      )
      return
    }
    const key = `${prefix}${call.name}`
    const dir = posix.relative(posix.join("/", this.#root.path), posix.join("/", call.path))
    this.localModules.push({ key, source: call.source, dir: dir === "" ? "." : dir, path: call.path })
    const child = this.#loaded.get(call.path)
    if (child !== undefined) this.walk(child, `${key}.`, above)
  }
}

const compare = (left: string, right: string) => (left < right ? -1 : left > right ? 1 : 0)
const sortedUnique = (texts: Iterable<string>) => [...new Set(texts)].sort(compare)

const packagesOf = (modules: Iterable<ModuleDeclaration>): ReadonlyArray<ProviderPackage> => {
  const packages = new Map<string, Array<string>>()
  for (const { providers } of modules) {
    for (const { source, constraints } of providers.names.values()) {
      if (source.builtin) continue
      const known = packages.get(source.address)
      if (known === undefined) packages.set(source.address, [...constraints])
      else known.push(...constraints)
    }
  }
  return [...packages]
    .sort(([left], [right]) => compare(left, right))
    .map(([source, constraints]) => ({ source, versionConstraints: sortedUnique(constraints) }))
}

const severities = ["error", "warning", "info"]
const maxFindings = 200

/**
 * Maximum number of constraints to keep. It is enough to explain why a tool does not fit, because even thousands of modules
 * share the same few constraints.
 */
const maxToolConstraints = 500

/** Returns the distinct findings, most severe first. Findings beyond the limit are only counted. */
const orderedFindings = (findings: ReadonlyArray<Finding>): ReadonlyArray<Finding> => {
  const unique = [...new Map(findings.map((finding) => [JSON.stringify(finding), finding])).values()].sort(
    (left, right) =>
      severities.indexOf(left.severity) - severities.indexOf(right.severity) ||
      compare(left.path ?? "", right.path ?? "") ||
      (left.line ?? 0) - (right.line ?? 0) ||
      compare(left.code, right.code)
  )
  if (unique.length <= maxFindings) return unique
  const more = unique.length - maxFindings
  return [
    ...unique.slice(0, maxFindings),
    notice("warning", "more_findings", `There are ${more} more findings. Correct these first.`)
  ]
}

/**
 * Returns the verdict on one module, and the number of module calls that the scan followed. `loaded` contains every folder
 * that the module reaches.
 */
const judgeModule = (
  root: ModuleDeclaration,
  index: TreeIndex,
  loaded: ReadonlyMap<string, ModuleDeclaration>,
  maxCalls: number
): { readonly module: ScannedModule; readonly followedCalls: number } => {
  const graph = new GraphWalk(root, index, loaded, maxCalls)
  graph.walk()
  const reached = [...graph.reached.values()]
  const findings = orderedFindings([...graph.findings, ...root.rootFindings])
  const supported = findings.every(({ severity }) => severity !== "error")
  const { inherited, requirements } = supported
    ? rootRequirements(root, (path) => loaded.get(path))
    : { requirements: [], inherited: [] }
  const readAs = reached.find((module) => module.readAs !== undefined)?.readAs
  const module: ScannedModule = {
    path: root.path,
    status: supported ? "supported" : "unsupported",
    variables: root.variables,
    outputs: root.outputs,
    providerPackages: supported ? packagesOf(reached) : [],
    rootProviderRequirements: requirements,
    ...(inherited.length === 0 ? {} : { inheritedProviders: inherited }),
    moduleCalls: root.calls.map(({ name, source, path, location }) => ({
      name,
      source,
      ...(path === undefined ? {} : { path }),
      location
    })),
    localModules: supported ? graph.localModules : [],
    requiredVersion: sortedUnique(reached.flatMap(({ requiredVersion }) => requiredVersion)),
    ...(readAs === undefined ? {} : { readAs }),
    toolDemands: reached.flatMap(({ toolConstraints }) => toolConstraints).slice(0, maxToolConstraints),
    findings
  }
  return { module, followedCalls: graph.localModules.length }
}

const withDeadline = <A, E>(scan: Effect.Effect<A, E>, { scanDeadline }: ScanLimitValues) =>
  Effect.timeoutOrElse(scan, {
    duration: scanDeadline,
    orElse: () =>
      Effect.fail(
        new ScanLimitExceeded({
          limit: "time",
          maximum: Duration.toMillis(scanDeadline),
          message: `The scan took longer than ${Duration.format(scanDeadline)}. Scan a single module or a smaller tree.`
        })
      )
  })

const exampleOfPath = "Give . for the root or a path such as modules/network, as the scan of the tree lists it."

const notInTree = (modulePath: string) =>
  new ModuleNotInTree({ modulePath, message: `The tree has no module at this path. ${exampleOfPath}` })

/** Default tool of a scan: OpenTofu, which the toolchain prefers. */
const defaultTool: ToolName = "opentofu"

/**
 * Reports the requirements of the modules in a tree, and the reasons why they cannot be installed. Never fetches anything,
 * and never runs code from the tree. Respects `ScanLimits`. `tool` is the tool whose files are read.
 */
export class ModuleScanner extends Context.Service<
  ModuleScanner,
  {
    /**
     * Scans every folder in the tree that contains configuration files. Each verdict covers everything that the module reaches.
     */
    readonly scanTree: (
      tree: SourceTree,
      tool?: ToolName
    ) => Effect.Effect<TreeScan, ScanLimitExceeded | HclParserUnavailable>
    /** Scans one module and everything it reaches. */
    readonly scanModule: (
      tree: SourceTree,
      modulePath: string,
      tool?: ToolName
    ) => Effect.Effect<ScannedModule, ModuleNotInTree | ScanLimitExceeded | HclParserUnavailable>
    /**
     * Scans each of `modulePaths` that is a module in the tree. The limits of a single scan apply to all these modules
     * combined.
     */
    readonly scanModules: (
      tree: SourceTree,
      modulePaths: ReadonlyArray<string>,
      tool?: ToolName
    ) => Effect.Effect<ReadonlyArray<ScannedModule>, ScanLimitExceeded | HclParserUnavailable>
    /** Lists the managed resources of one module and everything it reaches. */
    readonly addresses: (
      tree: SourceTree,
      modulePath: string,
      tool?: ToolName
    ) => Effect.Effect<ModuleAddresses, ModuleNotInTree | ScanLimitExceeded | HclParserUnavailable>
    /** Lists the paths of all modules in the tree, in order. Reads no files. */
    readonly listModules: (tree: SourceTree) => ReadonlyArray<string>
  }
>()("svc/runner/scan/ModuleScanner") {
  static readonly layerWithoutReader = Layer.effect(
    ModuleScanner,
    Effect.gen(function* () {
      const reader = yield* ConfigReader

      const scanTree = Effect.fn("ModuleScanner.scanTree")(function* (tree: SourceTree, tool: ToolName = defaultTool) {
        const limits = yield* ScanLimits
        const index = new TreeIndex(tree)
        const loader = new ModuleLoader(tree, index, reader, limits, tool)
        const scan = Effect.gen(function* () {
          const paths = index.modules()
          yield* loader.checkSizes(paths)
          for (const path of paths) yield* loader.load(path)
          const modules: Array<ScannedModule> = []
          let calls = 0
          for (const path of paths) {
            const declaration = loader.loaded.get(path)
            if (declaration === undefined) continue
            const { module, followedCalls } = judgeModule(declaration, index, loader.loaded, limits.moduleCalls)
            calls += followedCalls
            if (calls > limits.treeModuleCalls) {
              return yield* new ScanLimitExceeded({
                limit: "module_calls",
                maximum: limits.treeModuleCalls,
                message: `The modules of the tree reach more than ${limits.treeModuleCalls} module calls. Scan a single module.`
              })
            }
            modules.push(module)
            yield* Effect.yieldNow
          }
          return { modules }
        })
        return yield* withDeadline(scan, limits)
      })

      const scanModules = Effect.fn("ModuleScanner.scanModules")(function* (
        tree: SourceTree,
        modulePaths: ReadonlyArray<string>,
        tool: ToolName = defaultTool
      ) {
        const limits = yield* ScanLimits
        const index = new TreeIndex(tree)
        const loader = new ModuleLoader(tree, index, reader, limits, tool)
        const paths = modulePaths.filter((path) => index.isModule(path))
        yield* withDeadline(
          Effect.forEach(paths, (path) => loader.load(path), { discard: true }),
          limits
        )
        return paths.flatMap((path) => {
          const declaration = loader.loaded.get(path)
          return declaration === undefined
            ? []
            : [judgeModule(declaration, index, loader.loaded, limits.moduleCalls).module]
        })
      })

      const scanModule = Effect.fn("ModuleScanner.scanModule")(function* (
        tree: SourceTree,
        modulePath: string,
        tool?: ToolName
      ) {
        const [module] = yield* scanModules(tree, [modulePath], tool)
        if (module !== undefined) return module
        return yield* notInTree(modulePath)
      })

      const addresses = Effect.fn("ModuleScanner.addresses")(function* (
        tree: SourceTree,
        modulePath: string,
        tool: ToolName = defaultTool
      ) {
        const limits = yield* ScanLimits
        const index = new TreeIndex(tree)
        const loader = new ModuleLoader(tree, index, reader, limits, tool)
        if (!index.isModule(modulePath)) return yield* notInTree(modulePath)
        yield* withDeadline(loader.load(modulePath), limits)
        const root = loader.loaded.get(modulePath)
        if (root === undefined) return yield* notInTree(modulePath)
        const { localModules } = judgeModule(root, index, loader.loaded, limits.moduleCalls).module
        const all = [
          root.addresses,
          ...localModules.flatMap(({ key, path }) => {
            const called = loader.loaded.get(path)
            return called === undefined ? [] : [addressesBelow(key, called.addresses)]
          })
        ]
        return {
          declared: all.flatMap(({ declared }) => declared),
          moved: all.flatMap(({ moved }) => moved),
          removed: all.flatMap(({ removed }) => removed)
        }
      })

      const listModules = (tree: SourceTree) => new TreeIndex(tree).modules()

      return ModuleScanner.of({ scanTree, scanModule, scanModules, addresses, listModules })
    })
  )

  static readonly layer = this.layerWithoutReader.pipe(Layer.provide(ConfigReader.layer))
}
