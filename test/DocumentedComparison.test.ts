import { describe, expect, test } from "bun:test"
import { readFileSync } from "node:fs"

const page = readFileSync(new URL("../docs/compared-with.md", import.meta.url), "utf8")
const [comparison = "", sources = ""] = page.split("\n## Sources\n")

/** The cells of a table's rows that say something about a product, without the row's own name. */
const cells = (text: string) =>
  new Map(
    [...text.matchAll(/^\| ([^|*]+) \|((?: [^|]+ \|){6})$/gm)].map(([, name = "", rest = ""]) => [
      name,
      rest
        .split("|")
        .slice(0, -1)
        .map((cell) => cell.trim())
    ])
  )

describe("Documented comparison", () => {
  test("every cell of the comparison has a source, and every column has the date at which it was read", () => {
    const claims = cells(comparison)
    const dates = claims.get("read at")
    claims.delete("read at")
    expect(dates?.filter((date) => !/^2\d{3}-\d\d-\d\d/.test(date))).toEqual([])
    expect(claims.size).toBeGreaterThan(20)
    expect([...cells(sources).keys()]).toEqual([...claims.keys()])
  })

  test("a source that is code or a search has its address in the repository of its column", () => {
    const repositories = [...comparison.matchAll(/\]\(https:\/\/github\.com\/([\w-]+\/[\w-]+)\)/g)].map(
      ([, name = ""]) => name
    )
    expect(repositories.length).toBe(5)
    const all = [...cells(sources)].flatMap(([row, from]) =>
      from.slice(1).map((source, at) => ({ row, source, repository: repositories[at] ?? "" }))
    )
    expect(all.filter(({ source }) => /^(?:code|search)\b/.test(source))).toEqual([])
    const linked = all.filter(({ source }) => /^\[(?:code|search)\]/.test(source))
    expect(linked.length).toBeGreaterThan(50)
    const wrong = linked.filter(
      ({ repository, source }) =>
        !source.startsWith(`[code](https://github.com/${repository}/blob/`) &&
        !source.startsWith(`[search](https://github.com/search?q=repo%3A${repository.replace("/", "%2F")}+`)
    )
    expect(wrong).toEqual([])
  })

  test("no cell of the comparison says that a search found nothing and that the product has it", () => {
    const wrong = [...cells(sources)].flatMap(([name, from]) =>
      from.flatMap((source, at) => {
        const claim = cells(comparison).get(name)?.[at] ?? ""
        return source.startsWith("[search]") && /^Y\b/.test(claim) ? [`${name}: ${claim}`] : []
      })
    )
    expect(wrong).toEqual([])
  })
})
