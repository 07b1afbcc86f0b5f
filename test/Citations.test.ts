import { describe, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize } from "node:path"

const root = dirname(import.meta.dir)
const read = (path: string) => readFileSync(join(root, path), "utf8")

const rooms = ["schema", "runner", "actors", "src", "test", "scripts", "examples", "docs"]
const files = [
  ...readdirSync(root).filter((name) => name.endsWith(".md")),
  ...rooms.flatMap((room) =>
    readdirSync(join(root, room), { recursive: true, encoding: "utf8" }).map((name) => join(room, name))
  )
]

const isCode = (path: string) => /^(?:schema|runner|actors|src|test|scripts|examples)\/.*\.tsx?$/.test(path)
const isPage = (path: string) => /^(?:docs\/.*|README|CONTRIBUTING|CHANGELOG)\.md$/.test(path)
const isCorpus = (path: string) => path === "test/src/http/raw/Corpus.json"
const code = files.filter((path) => isCode(path) && path !== "test/Citations.test.ts")
const pages = files.filter(isPage)

/** Joins the comment lines in the text of a file, so that a citation may span lines. */
const joined = (text: string) => text.replaceAll(/\s*\n\s*(?:\*|\/\/) /g, " ")

const withoutFences = (text: string) => text.replaceAll(/^```[\s\S]*?^```/gm, "")
const withoutCode = (text: string) => withoutFences(text).replaceAll(/`[^`\n]*`/g, "")

interface Heading {
  readonly title: string
  readonly anchor: string
  readonly number: string | undefined
  readonly body: string
}

/**
 * The anchor of a heading, as Git hosts generate it. It consists of letters, digits, `_` and `-`, and a number if the
 * heading is repeated.
 */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(" ", "-")

const headingsOf = (path: string): ReadonlyArray<Heading> => {
  const seen = new Map<string, number>()
  return withoutFences(read(path))
    .split(/^(?=#{1,6} )/m)
    .filter((part) => part.startsWith("#"))
    .map((part) => {
      const [line = "", ...rest] = part.split("\n")
      const text = line.replace(/^#+ /, "")
      const times = seen.get(anchorOf(text)) ?? 0
      seen.set(anchorOf(text), times + 1)
      return {
        title: text
          .replace(/^\d+(?:\.\d+)*\.? /, "")
          .replaceAll("`", "")
          .replace(/ \(.*\)$/, ""),
        anchor: times === 0 ? anchorOf(text) : `${anchorOf(text)}-${times}`,
        number: /^(?:Ruling )?(\d+(?:\.\d+)*)\b/.exec(text)?.[1],
        body: rest.join("\n")
      }
    })
}

const specification = headingsOf("docs/builders/specification.md")
const design = headingsOf("docs/builders/design.md")
const decisions = files.flatMap((path) => /^docs\/builders\/decisions\/(\d{4})-[a-z0-9-]+\.md$/.exec(path)?.[1] ?? [])
const attacks = new Set(
  [...read("docs/builders/attack-walk.md").matchAll(/^\| ([A-Z]{1,2}\d{0,2}) \|/gm)].map(([, id]) => id)
)

/** Returns true if a section contains the rule, in a numbered list or in prose: `(1) ... (2) ...`. */
const hasRule = (body: string, rule: string) =>
  new RegExp(`^${rule}\\. `, "m").test(body) || body.includes(`(${rule}) `)

/** The reason why a citation does not resolve in the specification. */
const specificationProblem = (cited: string): string | undefined => {
  const ruling = /^ruling (\d+)$/.exec(cited)?.[1]
  if (ruling !== undefined) {
    const found = specification.some(({ number, title }) => title.startsWith("Ruling ") && number === ruling)
    return found ? undefined : `no ruling ${ruling}`
  }
  const [, title = "", rule] = /^(.*?)(?:, rule (\d+))?$/.exec(cited) ?? []
  const section = specification.find((one) => one.title === title)
  if (section === undefined) return `no section ${JSON.stringify(title)}`
  return rule === undefined || hasRule(section.body, rule) ? undefined : `no rule ${rule} in ${title}`
}

type Citation = readonly [at: string, problem: string | undefined]

const all = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].map(([, found = ""]) => found)

const citationsIn = (path: string): ReadonlyArray<Citation> => {
  const text = joined(read(path))
  const at = (cited: string, problem: string | undefined): Citation => [`${path}: ${cited}`, problem]
  return [
    ...all(text, /\(specification, ([^()`]+)\)/g).map((cited) => at(cited, specificationProblem(cited))),
    ...all(text, /\bdesign, section (\d+)/g).map((cited) =>
      at(`design ${cited}`, design.some(({ number }) => number === cited) ? undefined : `no section ${cited}`)
    ),
    ...all(text, /\bdecision (\d{4})\b/g).map((cited) =>
      at(`decision ${cited}`, decisions.includes(cited) ? undefined : `no decision ${cited}`)
    )
  ]
}

/** Citations in older forms, and citations of other documents. They do not resolve to a file in the tree. */
const unresolvable =
  /\(spec: (?!Sandbox)[A-Z]|\bgaps(?:\.md)?,? section|(?<!")\b[Dd]esign section \d|\bdesign card\b|\bspec\.md\b/

/** Attacks cited in a title, a comment or a test table: `(R2)`, `(G5, G6)`, `["J1", ...]`, `"H3 two bearers"`. */
const attackIds = (path: string) => {
  const text = read(path)
  const listed = all(text, /\(([A-Z]{1,2}\d{1,2}(?:, [A-Z]{1,2}\d{1,2})*)\)/g).flatMap((ids) => ids.split(", "))
  const named = path === "test/schema/SpecificationRules.ts" ? all(text, /\[\s*"([A-Z]\d{1,2})"/g) : []
  const corpus = isCorpus(path) ? all(text, /"name": "([A-Z]\d{1,2}) /g) : []
  return [...listed, ...named, ...corpus]
}

const unresolved = (citations: ReadonlyArray<Citation>) =>
  citations.flatMap(([at, problem]) => (problem === undefined ? [] : [`${at}: ${problem}`]))

describe("Citations resolve", () => {
  const citations = [...code, ...pages].flatMap(citationsIn)

  test("every citation resolves to a section, rule or ruling of the specification or design, or to a decision", () => {
    expect(citations.length).toBeGreaterThan(40)
    expect(unresolved(citations)).toEqual([])
  })

  test("no citation refers to a missing document", () => {
    expect([...code, ...pages].filter((path) => unresolvable.test(joined(read(path))))).toEqual([])
  })

  test("every attack id refers to a row of the attack walk", () => {
    const ids = files
      .filter((path) => (path.startsWith("test/") && isCode(path)) || isCorpus(path))
      .filter((path) => path !== "test/Citations.test.ts")
      .flatMap((path) => attackIds(path).map((id) => [path, id] as const))
    expect(ids.length).toBeGreaterThan(100)
    expect(ids.filter(([, id]) => !attacks.has(id))).toEqual([])
  })
})

describe("every link on a documentation page resolves", () => {
  const anchors = new Map(pages.map((path) => [path, new Set(headingsOf(path).map(({ anchor }) => anchor))]))

  const problem = (path: string, target: string): string | undefined => {
    const [file = "", anchor] = target.split("#")
    const to = file === "" ? path : normalize(join(dirname(path), file))
    if (!existsSync(join(root, to))) return `no file ${to}`
    const known = anchors.get(to)
    return anchor === undefined || known === undefined || known.has(anchor)
      ? undefined
      : `no heading #${anchor} in ${to}`
  }

  test.each(pages.map((path) => [path] as const))("%s", (path) => {
    const targets = all(withoutCode(read(path)), /\]\(([^)\s]+)\)/g).filter((target) => !/^[a-z]+:/.test(target))
    expect(targets.flatMap((target) => problem(path, target) ?? [])).toEqual([])
  })
})

/**
 * Pages for builders refer to files in the tree, so moving a file breaks the page. Other pages in `docs/` refer to files on the
 * user's machine.
 */
const builderPages = pages.filter((path) => path.startsWith("docs/builders/") || path === "CONTRIBUTING.md")

describe("every file mentioned on a page for builders exists", () => {
  test.each(builderPages.map((path) => [path] as const))("%s", (path) => {
    const named = all(
      read(path),
      /`((?:schema|runner|actors|src|test|scripts|examples|docs)\/[\w./-]*)(?:[:#]\d+(?:-\d+)?)?`/g
    )
    expect(named.filter((file) => !existsSync(join(root, file)))).toEqual([])
  })
})
