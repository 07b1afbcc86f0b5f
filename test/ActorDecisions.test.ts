import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { untestedBranches } from "./support/ActorBranches.ts"
import { drivenActors } from "./support/DrivenActors.ts"

const root = dirname(import.meta.dir)
const untested = untestedBranches(root)

/** A file that branches no more than that has its decision in one look. */
const mostBranches = 3

test("what decides in actors/ is imported by a test, or driven by one for a reason", () => {
  const deciding = [...untested].filter(([, branches]) => branches > mostBranches).map(([file]) => file)
  // A new one: take the decision out into a pure function with a table in test/, or add its line to DrivenActors.
  expect(deciding.filter((file) => !Object.hasOwn(drivenActors, file)).toSorted()).toEqual([])
  expect(untested.size).toBeGreaterThan(50)
})

test("what is driven is still there, branches, and has no test of its own", () => {
  expect(Object.keys(drivenActors).filter((file) => (untested.get(file) ?? 0) === 0)).toEqual([])
})

test.each(Object.entries(drivenActors).map(([file, [driver]]) => [file, driver] as const))(
  "%s is driven by %s",
  (_file, driver) => {
    expect(existsSync(join(root, "test", `${driver}.test.ts`))).toBe(true)
  }
)
