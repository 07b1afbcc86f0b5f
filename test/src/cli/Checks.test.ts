import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { checks } from "../../../src/cli/doctor/Checks.ts"

const page = readFileSync(new URL("../../../docs/operations/recovery.md", import.meta.url), "utf8")

const moments = {
  before: "before anything is opened",
  opening: "when the data folder is opened",
  ready: "once the server is ready",
  never: "not checked"
} as const

test("the operations page lists every check of svc doctor, and the effect of each check at startup", () => {
  const rows = checks.map(
    ({ atStart, less, looksAt, name, onError }) =>
      `| \`${name}\` | ${looksAt} | ${moments[atStart]} | ${atStart === "never" ? "" : onError} | ${less ?? ""} |`
  )
  const listed = page.split("\n").filter((line) => /^\| `[a-z]+` \| .* \| (before|when|once|not) .* \|$/.test(line))
  expect(listed).toEqual(rows)
})

test("each check that startup skips or shortens has a reason", () => {
  expect(checks.filter(({ atStart, less }) => atStart === "never" && less === undefined)).toEqual([])
  expect(new Set(checks.map(({ name }) => name)).size).toBe(checks.length)
})
