import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { actorFolders, actorsPage, folderImports, upwardImports } from "./support/ActorFolders.ts"

const root = dirname(import.meta.dir)
const imports = folderImports(root)

describe("the folders in actors/", () => {
  test("match the list", () => {
    const folders = readdirSync(join(root, "actors"), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(folders.map(({ name }) => name).toSorted()).toEqual(
      actorFolders.flatMap(([name]) => (name === "" ? [] : [name])).toSorted()
    )
    expect(imports.length).toBeGreaterThan(500)
  })

  test("import only from folders listed before them", () => {
    expect(upwardImports(imports)).toEqual([])
  })

  test("a wrong import is detected", () => {
    const upward = { from: "run", to: "capsule", file: "run/A.ts", target: "capsule/B.ts" }
    const unknown = { from: "run", to: "misplaced", file: "run/A.ts", target: "misplaced/B.ts" }
    expect(upwardImports([upward, unknown])).toHaveLength(2)
  })

  test("are listed in the documentation", () => {
    expect(readFileSync(join(root, "docs", "actors.md"), "utf8")).toBe(actorsPage(imports))
  })
})
