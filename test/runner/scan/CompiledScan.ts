import { Effect } from "effect"
import { folderTree } from "../../../runner/scan/FolderTree.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"

// Entry point of the binary compiled by CompiledBinary.test.ts.
const program = Effect.gen(function* () {
  const scanner = yield* ModuleScanner
  const tree = yield* folderTree(process.argv[2] ?? ".")
  const { path, status, providerPackages } = yield* scanner.scanModule(tree, ".")
  process.stdout.write(JSON.stringify([path, status, providerPackages.length]))
})

void Effect.runPromise(program.pipe(Effect.provide(ModuleScanner.layer)))
