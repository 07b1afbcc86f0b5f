import { Context, Duration, Effect, Layer } from "effect"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import type { ToolName } from "../toolchain/Tool.ts"
import { ConfigReader } from "./ConfigReader.ts"
import { addressesBelow } from "./ModuleAddresses.ts"
import { judgeModule } from "./ModuleGraph.ts"
import { ModuleLoader } from "./ModuleLoader.ts"
import type { ModuleAddresses, ScannedModule, TreeScan } from "./ScannedModule.ts"
import { type HclParserUnavailable, ModuleNotInTree, ScanLimitExceeded } from "./ScanError.ts"
import { ScanLimits, type ScanLimitValues } from "./ScanLimits.ts"
import { TreeIndex } from "./TreeIndex.ts"

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

/** The tool of a scan without a tool in its request: OpenTofu, which the toolchain prefers. */
const defaultTool: ToolName = "opentofu"

/**
 * Reports the requirements of the modules in a tree and the reasons that prevent their installation. Never fetches anything and
 * never runs code from the tree. Obeys `ScanLimits`. `tool` is the tool whose files are read.
 */
export class ModuleScanner extends Context.Service<
  ModuleScanner,
  {
    /** Every folder in the tree that contains configuration files is a module; each receives a verdict on its own graph. */
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
    /** The entries of `modulePaths` that are modules in the tree, all within the limits of one scan. */
    readonly scanModules: (
      tree: SourceTree,
      modulePaths: ReadonlyArray<string>,
      tool?: ToolName
    ) => Effect.Effect<ReadonlyArray<ScannedModule>, ScanLimitExceeded | HclParserUnavailable>
    /** The managed resources in one module and in everything it reaches. */
    readonly addresses: (
      tree: SourceTree,
      modulePath: string,
      tool?: ToolName
    ) => Effect.Effect<ModuleAddresses, ModuleNotInTree | ScanLimitExceeded | HclParserUnavailable>
    /** The path of every module in the tree, in order. Reads no files. */
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
