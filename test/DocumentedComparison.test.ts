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

  test("no cell of the comparison says that a search found nothing and that the product has it", () => {
    const wrong = [...cells(sources)].flatMap(([name, from]) =>
      from.flatMap((source, at) => {
        const claim = cells(comparison).get(name)?.[at] ?? ""
        return source === "search" && /^Y\b/.test(claim) ? [`${name}: ${claim}`] : []
      })
    )
    expect(wrong).toEqual([])
  })
})
