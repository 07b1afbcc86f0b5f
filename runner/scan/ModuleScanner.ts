import { Context, Duration, Effect, Layer } from "effect"
import type { SourceTree } from "../snapshot/SourceTree.ts"
import { ConfigReader } from "./ConfigReader.ts"
import { judgeModule } from "./ModuleGraph.ts"
import { ModuleLoader } from "./ModuleLoader.ts"
import type { ScannedModule, TreeScan } from "./ScannedModule.ts"
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

/**
 * Says of the modules of a tree what they need and whether they can be installed. Never fetches anything and never runs code of the
 * tree. Obeys `ScanLimits`.
 */
export class ModuleScanner extends Context.Service<
  ModuleScanner,
  {
    /** Every folder of the tree that holds configuration files is a module; each comes with the verdict on its own graph. */
    readonly scanTree: (tree: SourceTree) => Effect.Effect<TreeScan, ScanLimitExceeded | HclParserUnavailable>
    /** One module and everything it reaches. */
    readonly scanModule: (
      tree: SourceTree,
      modulePath: string
    ) => Effect.Effect<ScannedModule, ModuleNotInTree | ScanLimitExceeded | HclParserUnavailable>
  }
>()("svc/scan/ModuleScanner") {
  static readonly layerWithoutReader = Layer.effect(
    ModuleScanner,
    Effect.gen(function* () {
      const reader = yield* ConfigReader

      const scanTree = Effect.fn("ModuleScanner.scanTree")(function* (tree: SourceTree) {
        const limits = yield* ScanLimits
        const index = new TreeIndex(tree)
        const loader = new ModuleLoader(tree, index, reader, limits)
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

      const scanModule = Effect.fn("ModuleScanner.scanModule")(function* (tree: SourceTree, modulePath: string) {
        const limits = yield* ScanLimits
        const index = new TreeIndex(tree)
        const notInTree = new ModuleNotInTree({
          modulePath,
          message: `The tree has no module at this path. ${exampleOfPath}`
        })
        if (!index.isModule(modulePath)) return yield* notInTree
        const loader = new ModuleLoader(tree, index, reader, limits)
        yield* withDeadline(loader.load(modulePath), limits)
        const declaration = loader.loaded.get(modulePath)
        if (declaration === undefined) return yield* notInTree
        return judgeModule(declaration, index, loader.loaded, limits.moduleCalls).module
      })

      return ModuleScanner.of({ scanTree, scanModule })
    })
  )

  static readonly layer = this.layerWithoutReader.pipe(Layer.provide(ConfigReader.layer))
}
