import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { actorFloors, actorsPage, folderImports, upwardImports } from "./support/ActorFolders.ts"

const root = dirname(import.meta.dir)
const imports = folderImports(root)
const foldersIn = (path: string) =>
  readdirSync(join(root, path), { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []))

describe("Actor floors", () => {
  test("the layers of actors/ and their folders match the list", () => {
    expect(foldersIn("actors").toSorted()).toEqual(actorFloors.map(([name]) => name).toSorted())
    for (const [name, , folders] of actorFloors)
      expect(foldersIn(`actors/${name}`).toSorted()).toEqual(Object.keys(folders).toSorted())
    expect(imports.length).toBeGreaterThan(500)
  })

  test("each layer of actors/ imports only from itself and from layers earlier in the list", () => {
    expect(upwardImports(imports)).toEqual([])
  })

  test("the check detects an import from a higher layer", () => {
    const upward = { from: "ledger/run", to: "commands/run", file: "ledger/run/A.ts", target: "commands/run/B.ts" }
    const unknown = { from: "ledger/run", to: "misplaced", file: "ledger/run/A.ts", target: "misplaced/B.ts" }
    const base = { from: "base/paging", to: "ledger/run", file: "base/paging/A.ts", target: "ledger/run/B.ts" }
    const downward = {
      from: "upkeep/retention",
      to: "ledger/run",
      file: "upkeep/retention/A.ts",
      target: "ledger/run/B.ts"
    }
    expect(upwardImports([upward, unknown, base, downward])).toHaveLength(3)
  })

  test("the documentation lists the layers of actors/", () => {
    expect(readFileSync(join(root, "docs", "builders", "actors.md"), "utf8")).toBe(actorsPage(imports))
  })
})
