import { afterAll, describe, expect, test } from "bun:test"
import { check } from "recheck"
import { hostAuthorityPattern, secretPatterns } from "../../schema/secret-material/SecretPatterns.ts"
import { budget, isJudgedSafe, isRecording, judgementOf, record } from "./JudgedExpressions.ts"
import { type RegexLiteral, regexLiterals } from "./RegexLiterals.ts"

const root = `${import.meta.dirname}/../..`

/**
 * Excludes pages and their scripts, because they run in the user's own browser, where a slow expression cannot block the
 * service.
 */
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

test("the search finds only regular expression literals in source code", () => {
  const code =
    '#!/usr/bin/no\nconst a = /x[/"]y/g // not /this/\nconst b = c / d / e, s = "/no/", t = `/no/${f({ g: `</p>${h(/in/)}` })}</b>`; /* /no/ */ f(/\\/z/iu); return /q/'
  expect(regexLiterals(code)).toEqual([
    { source: 'x[/"]y', flags: "g" },
    { source: "in", flags: "" },
    { source: "\\/z", flags: "iu" },
    { source: "q", flags: "" }
  ])
})

test("every regular expression literal compiles, and the search finds more than 200 of them", () => {
  expect(literals.length).toBeGreaterThan(200)
  for (const { flags, source } of literals) expect(new RegExp(source, flags).source).toBe(source)
})

describe("every regular expression in the service takes at most linear time (J15)", () => {
  const safe: Array<RegexLiteral> = []
  afterAll(() => (isRecording ? record(safe) : undefined))

  test.each([...patterns])("%s", async (_, expression) => {
    if (isJudgedSafe(expression)) return
    const { status } = await check(expression.source, expression.flags, budget)
    expect(status).toBe("safe")
    safe.push(expression)
  })

  test("a recorded verdict applies only to the same expression, flags, analyser and budget", () => {
    const [one, other] = [
      { source: "a+", flags: "" },
      { source: "a+", flags: "g" }
    ]
    expect(judgementOf(one)).not.toBe(judgementOf(other))
    // Uses recorded verdicts. Expressions without a recorded verdict are analysed in every run until `SVC_TEST_RECORD=1`
    // records their verdicts.
    expect([...patterns.values()].filter(isJudgedSafe).length).toBeGreaterThan(isRecording ? -1 : patterns.size / 2)
  })

  test("the analysis detects quadratic and exponential expressions", async () => {
    const superLinear = ["[a-z]+://[^@]+:[^@]+@", "(?:[a-z0-9]+[-_.]?)+@", "x(?=.*y)[a-z]+$"]
    for (const source of superLinear) {
      expect([source, (await check(source, "", budget)).status]).toEqual([source, "vulnerable"])
    }
  })
})
