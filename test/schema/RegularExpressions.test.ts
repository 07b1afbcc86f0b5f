import { describe, expect, test } from "bun:test"
import { check } from "recheck"
import { hostAuthorityPattern, secretPatterns } from "../../schema/secret-material/SecretPatterns.ts"
import { type RegexLiteral, regexLiterals } from "./RegexLiterals.ts"

const root = `${import.meta.dirname}/../..`

/** Pages and their scripts run in the reader's own browser. */
const isServed = (file: string) => !file.startsWith("src/dashboard/")

const files = (await Array.fromAsync(new Bun.Glob("{schema,runner,actors,src}/**/*.ts").scan({ cwd: root }))).filter(
  isServed
)
const literals = (
  await Promise.all(files.map(async (file) => regexLiterals(await Bun.file(`${root}/${file}`).text())))
).flat()
const patterns = new Map<string, RegexLiteral>(
  [...literals, ...secretPatterns, hostAuthorityPattern].map(({ flags, source }) => [
    `/${source}/${flags}`,
    { source, flags }
  ])
)

/**
 * Judged by analysis and by counted steps alone, from a fixed seed: no limit is a time, so a busy machine is slower and never
 * of another opinion. A text as long as the longest document is refused when it costs more than 5,000 steps a character.
 */
const budget = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  seedingTimeout: null,
  randomSeed: 0,
  maxAttackStringSize: 131_072,
  attackLimit: 131_072 * 5000,
  maxRepeatCount: 40
}

test("the literals of source code are found, and nothing else", () => {
  const code =
    '#!/usr/bin/no\nconst a = /x[/"]y/g // not /this/\nconst b = c / d / e, s = "/no/", t = `/no/${f({ g: `</p>${h(/in/)}` })}</b>`; /* /no/ */ f(/\\/z/iu); return /q/'
  expect(regexLiterals(code)).toEqual([
    { source: 'x[/"]y', flags: "g" },
    { source: "in", flags: "" },
    { source: "\\/z", flags: "iu" },
    { source: "q", flags: "" }
  ])
})

test("every literal compiles, and there are some in each room", () => {
  expect(literals.length).toBeGreaterThan(200)
  for (const { flags, source } of literals) expect(new RegExp(source, flags).source).toBe(source)
})

describe("no regular expression of the service takes more than linear time (J15)", () => {
  test.each([...patterns])("%s", async (_, { flags, source }) => {
    const { status } = await check(source, flags, budget)
    expect(status).toBe("safe")
  })

  test("the gate sees the quadratic and exponential ones", async () => {
    const superLinear = ["[a-z]+://[^@]+:[^@]+@", "(?:[a-z0-9]+[-_.]?)+@", "x(?=.*y)[a-z]+$"]
    for (const source of superLinear) {
      expect([source, (await check(source, "", budget)).status]).toEqual([source, "vulnerable"])
    }
  })
})
