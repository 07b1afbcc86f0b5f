import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { basename, dirname, join } from "node:path"

const root = dirname(import.meta.dir)

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" }).filter((path) => /\.tsx?$/.test(path))

/** Returns true for test folders that do not mirror a code folder. */
const isSupport = (folder: string): boolean => folder.split("/").includes("support")

test.each(["schema", "runner", "actors"])("the tests of %s mirror its folders", (room) => {
  const sources = filesOf(room).filter((path) => !path.includes(".test."))
  const folders = new Set(sources.map((path) => dirname(path)))
  const placesOf = Map.groupBy(sources, (path) => basename(path).replace(/\.tsx?$/, ""))
  const tests = filesOf(join("test", room)).filter((path) => /\.test\.tsx?$/.test(path) && !isSupport(dirname(path)))
  expect(tests.length).toBeGreaterThan(20)
  // Tests that span several folders are at the top level.
  expect(tests.filter((path) => dirname(path) !== "." && !folders.has(dirname(path)))).toEqual([])
  const elsewhere = tests.filter((path) => {
    const places = placesOf.get(basename(path).replace(/\.test\.tsx?$/, ""))
    return places !== undefined && !places.some((place) => dirname(place) === dirname(path))
  })
  expect(elsewhere).toEqual([])
})
