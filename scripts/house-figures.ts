// Prints figures about the size and structure of the code: `node scripts/bun.mjs scripts/house-figures.ts [folder]`. Pass the
// folder of another checkout to compare two commits.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, resolve } from "node:path"

const root = resolve(process.argv[2] ?? join(import.meta.dirname, ".."))
const rooms = ["schema", "runner", "actors", "src"]

const files = rooms.flatMap((room) =>
  readdirSync(join(root, room), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith(".d.ts"))
    .map((name) => {
      const path = join(room, name)
      const text = readFileSync(join(root, path), "utf8")
      // The imports at the head of a file: everything up to the last `from "..."` or `import "..."` before the first declaration.
      const head =
        /^(?:\s*(?:\/\/[^\n]*\n|\/\*[\s\S]*?\*\/))*\s*(?:import[\s\S]*?["'][^"'\n]+["'][^\n]*\n\s*)*/.exec(text)?.[0] ??
        ""
      const targets = [...text.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'\n]+)["']/g)].map(([, to = ""]) =>
        normalize(join(dirname(path), to))
      )
      const statements = head.match(/import[\s\S]*?["'][^"'\n]+["'][^\n]*\n/g) ?? []
      return {
        path,
        lines: text.split("\n").length - 1,
        importLines: statements.reduce((sum, statement) => sum + statement.trim().split("\n").length, 0),
        targets
      }
    })
)

const sum = (numbers: ReadonlyArray<number>) => numbers.reduce((total, number) => total + number, 0)
const lengths = files.map(({ lines }) => lines).toSorted((left, right) => left - right)
const lines = sum(lengths)
const importers = Map.groupBy(
  files.flatMap(({ path, targets }) => targets.map((to) => ({ from: path, to }))),
  ({ to }) => to
)
const single = files.filter(({ path }) => {
  const from = new Set((importers.get(path) ?? []).map(({ from }) => from))
  const [only] = from
  return from.size === 1 && only !== undefined && dirname(only) === dirname(path)
})
const arrows = new Set(
  files.flatMap(({ path, targets }) =>
    targets.flatMap((to) => (dirname(to) === dirname(path) ? [] : [`${dirname(path)} -> ${dirname(to)}`]))
  )
)
const ofRun = files.filter(({ path }) => /\/Runs?(?:[A-Z]|\.)/.test(path))
const folders = (of: typeof files) => new Set(of.map(({ path }) => dirname(path))).size
const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
const row = (name: string, value: number | string) => process.stdout.write(`${name.padEnd(48)}${value}\n`)

row("files", files.length)
for (const room of rooms) row(`  ${room}`, files.filter(({ path }) => path.startsWith(`${room}/`)).length)
row("lines", lines)
row("lines a file, mean / median", `${Math.round(lines / files.length)} / ${lengths[Math.floor(lengths.length / 2)]}`)
row("share of lines that are imports", share(sum(files.map(({ importLines }) => importLines)), lines))
row("folders", folders(files))
row(
  "folders directly in actors/",
  new Set(files.flatMap(({ path }) => /^actors\/([^/]+)\//.exec(path)?.[1] ?? [])).size
)
row("arrows between folders", arrows.size)
row("files named after Run / their folders", `${ofRun.length} / ${folders(ofRun)}`)
row("files that only a neighbour imports", single.length)
row("imports of actors/Runtime.ts", files.find(({ path }) => path === "actors/Runtime.ts")?.targets.length ?? 0)
