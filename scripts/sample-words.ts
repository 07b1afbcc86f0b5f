// Prints a random sample of comments and test titles for a review of their wording: `node scripts/bun.mjs scripts/sample-words.ts
// --seed 7 --count 100`. `--under actors/ledger/run` limits the sample to a folder and may be repeated. `--all` prints every
// passage, and `--json` prints JSON.
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"

const { values } = parseArgs({
  args: process.argv.slice(2),
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "100" },
    under: { type: "string", multiple: true },
    all: { type: "boolean", default: false },
    json: { type: "boolean", default: false }
  }
})

interface Passage {
  readonly file: string
  readonly line: number
  readonly kind: "comment" | "title"
  readonly text: string
}

const root = join(import.meta.dirname, "..")
const folders = values.under ?? ["schema", "runner", "actors", "src", "test", "scripts"]
const isSource = (path: string) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts")

const sources = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter(isSource)
    .map((name) => join(folder, name))
    .toSorted()
)

const lineOf = (text: string, at: number) => text.slice(0, at).split("\n").length
const plain = (text: string) =>
  text
    .replaceAll(/^\s*(?:\/\*\*?|\*\/|\*|\/\/)\s?/gm, "")
    .replaceAll(/\s*\*\/$/gm, "")
    .replaceAll(/\s+/g, " ")
    .trim()

// Matches a comment. Consecutive line comments form one passage.
const comment = /^[ \t]*\/\*\*?[\s\S]*?\*\/|^(?:[ \t]*\/\/.*(?:\n|$))+|(?<=[;,{)\]\w] )\/\/ .*$/gm
const title =
  /^\s*(?:await )?(?:\w+\.)?(?:test|it|tests|describe|live|effect|suite)(?:\.\w+)*(?:\([^"'`\n]*\))?\(\s*(["'`])((?:(?!\1)[^\\\n]|\\.)+)\1/gm

const passagesOf = (file: string): ReadonlyArray<Passage> => {
  const text = readFileSync(join(root, file), "utf8")
  const comments = [...text.matchAll(comment)].map(
    (found): Passage => ({
      file,
      line: lineOf(text, found.index + (/\S/.exec(found[0])?.index ?? 0)),
      kind: "comment",
      text: plain(found[0])
    })
  )
  const titles = /\.test\.tsx?$/.test(file)
    ? [...text.matchAll(title)].map(
        (found): Passage => ({
          file,
          line: lineOf(text, found.index + (/\S/.exec(found[0])?.index ?? 0)),
          kind: "title",
          text: found[2] ?? ""
        })
      )
    : []
  return [...comments, ...titles].filter((passage) => passage.text.split(" ").length > 2)
}

/** Creates a random generator (mulberry32), so that the same seed selects the same passages from the same tree. */
const randomFrom = (seed: number) => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

const passages = sources.flatMap(passagesOf)
const random = randomFrom(Number(values.seed))
const drawn = values.all
  ? passages
  : passages
      .map((passage) => [random(), passage] as const)
      .toSorted(([a], [b]) => a - b)
      .slice(0, Number(values.count))
      .map(([, passage]) => passage)

for (const passage of drawn) {
  process.stdout.write(
    `${values.json ? JSON.stringify(passage) : `${passage.file}:${passage.line}: ${passage.text}`}\n`
  )
}
