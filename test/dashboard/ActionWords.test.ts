import { expect, test } from "bun:test"
import { Glob } from "bun"
import { NoticeKind } from "../../schema/records/NoticeEndpoint.ts"
import { actionWords } from "../../src/dashboard/app/ActionWords.ts"

const root = new URL("../..", import.meta.url).pathname

/** Finds the names that code writes into the operation history, in entries or as arguments to functions that create entries. */
const written = /(?:\baction: |\b(?:audited|note)\([^"`]*|^\s+)"([a-z_]+(?:\.[a-z_]+)+)"/gm
const subjects = new Set(
  Object.keys(actionWords.en)
    .filter((name) => name.includes("."))
    .map((name) => name.split(".")[0])
)

/** Notice kinds look like action names but are not in the history, so exclude them. */
const notices: ReadonlySet<string> = new Set(NoticeKind.literals)

test("every action in the operation history has a message", async () => {
  const found = new Set<string>()
  for (const folder of ["actors", "src/accounts"])
    for await (const file of new Glob(`${folder}/**/*.ts`).scan(root)) {
      const text = await Bun.file(`${root}${file}`).text()
      if (!text.includes("udit")) continue
      for (const [, name = ""] of text.matchAll(written))
        if (subjects.has(name.split(".")[0]) && !notices.has(name)) found.add(name)
    }
  expect(found.size).toBeGreaterThan(40)
  expect([...found].filter((name) => actionWords.en[name] === undefined)).toEqual([])
})
