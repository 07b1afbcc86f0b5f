import { describe, expect, test } from "bun:test"
import { specificationRules } from "./SpecificationRules.ts"

const folder = `${import.meta.dirname}/..`

/** Returns true if the code skips or isolates a test, because a rule whose only test is skipped has no test. */
const isSwitchedOff = (code: string) => /\b(?:test|it|describe|tests)(?:\.live)?\.(?:skip|todo|only)\(/.test(code)

for (const [section, rules] of specificationRules) {
  describe(`each rule has a test: ${section}`, () => {
    test.each(rules.map(([rule, file, ...tests]) => [rule, file, tests] as const))("%s", async (_, file, tests) => {
      const code = await Bun.file(`${folder}/${file}`).text()
      expect(tests.length).toBeGreaterThan(0)
      expect(tests.filter((name) => !code.includes(name))).toEqual([])
      expect(isSwitchedOff(code)).toBe(false)
    })
  })
}

test("no rule of the specification is listed twice", () => {
  const told = specificationRules.flatMap(([, rules]) => rules.map(([rule]) => rule))
  expect(new Set(told).size).toBe(told.length)
})
