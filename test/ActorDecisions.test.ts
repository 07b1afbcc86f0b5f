import { expect, test } from "bun:test"
import { existsSync } from "node:fs"
import { dirname, join } from "node:path"
import { untestedBranches } from "./support/ActorBranches.ts"
import { drivenActors } from "./support/DrivenActors.ts"

const root = dirname(import.meta.dir)
const untested = untestedBranches(root)

/** A file with at most this many branches can be understood at a glance. */
const mostBranches = 3

test("every file in actors/ that makes decisions is imported by a test, or listed with a test that exercises it", () => {
  const deciding = [...untested].filter(([, branches]) => branches > mostBranches).map(([file]) => file)
  // If a new file fails here: move the decision into a pure function with a table test, or add the file to DrivenActors.
  expect(deciding.filter((file) => !Object.hasOwn(drivenActors, file)).toSorted()).toEqual([])
  expect(untested.size).toBeGreaterThan(50)
})

test("every listed actor file exists, contains branches, and has no direct test", () => {
  expect(Object.keys(drivenActors).filter((file) => (untested.get(file) ?? 0) === 0)).toEqual([])
})

test.each(
  Object.entries(drivenActors).flatMap(([file, [tests]]) => [tests].flat().map((driver) => [file, driver] as const))
)("the actor file %s is exercised by the test %s", (_file, driver) => {
  expect(existsSync(join(root, "test", `${driver}.test.ts`))).toBe(true)
})
