import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { dirname, extname, join, normalize } from "node:path"
import { neighbourFiles } from "./support/NeighbourFiles.ts"

const root = dirname(import.meta.dir)
const product = ["schema", "runner", "actors", "src"]
const maxLines = 600

const texts = new Map(
  [...product, "test", "scripts", "examples"].flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
      .filter((name) => /\.(?:tsx?|mjs)$/.test(name) && !name.endsWith(".d.ts"))
      .map((name) => [join(room, name), readFileSync(join(root, room, name), "utf8")] as const)
  )
)

/** Every import of a file by its path. An import that runs later is `deferred`. */
const imports = [...texts].flatMap(([from, text]) =>
  [...text.matchAll(/(?:\bfrom|\bimport)\s*(\(?)\s*["'](\.[^"'\n]+)["']/g)].map(([, deferred, to = ""]) => ({
    from,
    to: normalize(join(dirname(from), to)),
    deferred: deferred !== ""
  }))
)
const importsOf = Map.groupBy(imports, ({ to }) => to)

const linesOf = (text: string) => text.split("\n").length - 1
const withoutImports = (text: string) => text.replaceAll(/^import [^"'(]*["'][^"'\n]+["'].*\n/gm, "")

/** Returns the only importer of a file, if it is a file of the same kind in the same folder. */
const hostOf = (file: string): string | undefined => {
  const found = importsOf.get(file) ?? []
  const [host, ...others] = new Set(found.map(({ from }) => from))
  if (host === undefined || others.length > 0 || found.some(({ deferred }) => deferred)) return undefined
  return dirname(host) === dirname(file) && extname(host) === extname(file) ? host : undefined
}

const neighbours = [...texts].flatMap(([file, text]) => {
  const host = product.includes(file.split("/")[0] ?? "") ? hostOf(file) : undefined
  return host === undefined
    ? []
    : [{ file, host, merged: linesOf(texts.get(host) ?? "") + linesOf(withoutImports(text)) }]
})
const listed = neighbourFiles.flatMap(([, files]) => files)

test("a file that only a neighbour imports is part of the neighbour, or is listed with a reason", () => {
  // If a new file fails here: move it into its importer, import it in a test, or add it to the group with the fitting reason.
  const unlisted = neighbours.filter(({ file, merged }) => merged <= maxLines && !listed.includes(file))
  expect(unlisted.map(({ file, host }) => `${file} -> ${host}`)).toEqual([])
})

test("every listed file exists, and only a neighbour imports it", () => {
  expect(listed.filter((file) => !neighbours.some((each) => each.file === file))).toEqual([])
  expect(new Set(listed).size).toBe(listed.length)
})

test("the check reads the imports of the product and of its tests", () => {
  expect(imports.length).toBeGreaterThan(5000)
  expect(neighbours.length).toBeGreaterThan(20)
})
