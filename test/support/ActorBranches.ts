import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const filesOf = (root: string, folder: string): ReadonlyArray<string> =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => join(folder, path))

/** Finds the modules from which a test imports values. A test that imports only types does not test the module. */
const imported = (root: string, file: string): ReadonlyArray<string> =>
  [...readFileSync(join(root, file), "utf8").matchAll(/^import (?!type\b)(?:[^"]*?from )?"(\.[^"]+)"/gm)].map(
    ([, path = ""]) => normalize(join(dirname(file), path))
  )

/**
 * Returns true for branches that are not decisions: branches that refuse a missing record, as all files do, or omit a
 * missing field.
 */
const isPlain = (line: string): boolean =>
  /=== undefined\) return(?: undefined| yield\* .*)?$/.test(line) ||
  /\? (?:\{\}|null|undefined|\[\])(?:\s|$)/.test(line) ||
  /\? yield\* (?:notFound|Effect\.die)\(/.test(line)

const branchesIn = (text: string): number =>
  text
    .replaceAll(/\/\*[\s\S]*?\*\//g, "")
    .replaceAll(/^\s*\/\/.*$/gm, "")
    .split("\n")
    .filter((line) => /\bif \(|\bswitch \(|\s\?\s(?!=)/.test(line) && !isPlain(line)).length

/** Finds the files in `actors/` that no test imports, with the lines on which each file branches. */
export const untestedBranches = (root: string): ReadonlyMap<string, number> => {
  const tested = new Set(filesOf(root, "test").flatMap((file) => imported(root, file)))
  return new Map(
    filesOf(root, "actors")
      .filter((file) => !tested.has(file))
      .map((file) => [file, branchesIn(readFileSync(join(root, file), "utf8"))])
  )
}
