import { afterAll, expect } from "bun:test"
import { Effect } from "effect"
import { neededOmissions } from "../../../runner/scan/ModuleFootprint.ts"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const reading = (expression: string) => ({
  "app/main.tf": `module "m" {\n  source = "../lib"\n}\nlocals {\n  a = ${expression}\n}\n`,
  "lib/main.tf": 'locals {\n  a = file("${path.module}/files/a.txt")\n}\n'
})

const cases: ReadonlyArray<readonly [what: string, expression: string, omitted: string, needed: boolean]> = [
  ["far from the module", "1", "docs/README", false],
  ["beside the module's files", "1", "app/README", false],
  ["that the module reads", 'file("${path.module}/notes/a.txt")', "app/notes/a.txt", true],
  ["that holds what the module reads", 'file("${path.module}/notes/a.txt")', "app/notes", true],
  ["in a folder that the module lists", 'fileset(path.module, "notes/*")', "app/notes/a.txt", true],
  ["that a called module reads", "1", "lib/files/a.txt", true],
  ["below a module that computes what it reads", "file(var.path)", "app/notes/a.txt", true],
  ["below a called module, of a module that computes what it reads", "file(var.path)", "lib/notes/a.txt", true],
  ["far from a module that computes what it reads", "file(var.path)", "docs/README", false]
]

for (const [what, expression, omitted, needed] of cases) {
  scanner.live(`the scan reports that an omitted entry ${what} is ${needed ? "needed" : "not needed"}`, () =>
    Effect.gen(function* () {
      const tree = memoryTree(reading(expression), [{ path: omitted, kind: "special" }])
      const found = yield* neededOmissions(tree, "app")
      expect(found.map(({ path }) => path)).toEqual(needed ? [omitted] : [])
    })
  )
}

scanner.live("the list of needed omitted entries contains no links or submodules, because the scan reports them", () =>
  Effect.gen(function* () {
    const tree = memoryTree(reading("file(var.path)"), [{ path: "app/link", kind: "symlink" }])
    expect(yield* neededOmissions(tree, "app")).toEqual([])
  })
)
