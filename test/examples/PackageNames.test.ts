import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const root = join(import.meta.dir, "../..")

/** The only names that a program may import svc from. */
const published = ["schema", "client", "server", "server/testing", "dashboard", "cli"].map((name) => `@svc-dev/${name}`)

const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(?:md|ts|mjs|json)$/.test(name))
    .map((name) => `${folder}/${name}`)

const imported = /(?:\bfrom|\bimport)\s*\(?\s*["']((?:@svc-dev|svc)(?:\/[^"']*)?)["']/g

test("documentation, examples and tests import svc by the names of the packages", () => {
  const texts = ["README.md", ...["docs", "examples", "test/packages", "test/examples"].flatMap(filesBelow)]
  const found = texts.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(imported)].map(([, name = ""]) => [file, name] as const)
  )
  expect(found.length).toBeGreaterThan(20)
  expect(found.filter(([, name]) => !published.includes(name))).toEqual([])
})

test("the checkout cannot be imported as a package under a second name", () => {
  const manifest = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
  const { paths } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")).compilerOptions
  expect([manifest.private, manifest.exports, manifest.bin]).toEqual([true, undefined, undefined])
  const names = Object.keys(paths).filter((name) => !name.startsWith("visible/"))
  expect(names.filter((name) => !published.includes(name))).toEqual([])
})
