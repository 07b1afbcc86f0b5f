import { describe, expect, test } from "bun:test"
import { isSeries, rowsOf } from "../../src/dashboard/screens/run/ChangeSeries.ts"
import { change } from "../browser/support/records/PlanChanges.ts"

const web = (index: number, more: { readonly after?: string } = {}) =>
  change(
    `module.network.aws_instance.web[${index}]`,
    ["update"],
    [{ name: "size", before: "a", after: more.after ?? "b" }]
  )

const shown = (changes: Parameters<typeof rowsOf>[0]) =>
  rowsOf(changes).map((row) => (isSeries(row) ? [row.address, row.changes.length] : row.address))

describe("Indexed changes", () => {
  test("changes that differ in one index become one row with a range, even if their values differ", () => {
    const all = Array.from({ length: 400 }, (_, index) => web(index, { after: `size ${index}` }))
    expect(shown([change("aws_s3_bucket.a", ["update"], []), ...all])).toEqual([
      "aws_s3_bucket.a",
      ["module.network.aws_instance.web[0...399]", 400]
    ])
  })

  test("a row of indexed changes lists as many ranges as fit in the row", () => {
    expect(shown([0, 1, 2, 4, 9].map((index) => web(index)))).toEqual([
      ["module.network.aws_instance.web[0...2, 4, 9]", 5]
    ])
    expect(shown([0, 2, 4, 6, 8, 10].map((index) => web(index)))).toEqual([
      ["module.network.aws_instance.web[0, 2, 4, 6, ...]", 6]
    ])
  })

  test("indexed changes are grouped even if the index is in the module's address", () => {
    const all = Array.from({ length: 5 }, (_, index) =>
      change(`module.shard[${index}].aws_s3_bucket.data`, ["create"], [])
    )
    expect(shown(all)).toEqual([["module.shard[0...4].aws_s3_bucket.data", 5]])
  })

  test("indexed changes are not grouped if there are few of them, if they differ elsewhere, or if they need special attention", () => {
    const four = [0, 1, 2, 3].map((index) => web(index))
    expect(shown(four)).toHaveLength(4)
    const other = change("module.network.aws_instance.web[4]", ["update"], [{ name: "image", before: "a", after: "b" }])
    expect(shown([...four, other])).toHaveLength(5)
    const deposed = { ...web(4), deposed: "1a2b3c4d" }
    expect(shown([...four, deposed])).toHaveLength(5)
    const keyed = Array.from({ length: 6 }, (_, index) => change(`aws_instance.web["${index}"]`, ["update"], []))
    expect(shown(keyed)).toHaveLength(6)
  })
})
