import { describe, expect, test } from "bun:test"
import { check } from "recheck"
import { hostAuthorityPattern, secretPatterns } from "../../schema/secret-material/SecretPatterns.ts"
import { type RegexLiteral, regexLiterals } from "./RegexLiterals.ts"

const files = await Array.fromAsync(
  new Bun.Glob("schema/**/*.ts").scan({ cwd: `${import.meta.dirname}/../..`, absolute: true })
)
const literals = (await Promise.all(files.map(async (file) => regexLiterals(await Bun.file(file).text())))).flat()
const patterns = new Map<string, RegexLiteral>(
  [...literals, ...secretPatterns, hostAuthorityPattern].map(({ flags, source }) => [
    `/${source}/${flags}`,
    { source, flags }
  ])
)

test("the literals of source code are found, and nothing else", () => {
  const code =
    'const a = /x[/"]y/g // not /this/\nconst b = c / d / e, s = "/no/", t = `/no/`; /* /no/ */ f(/\\/z/iu); return /q/'
  expect(regexLiterals(code)).toEqual([
    { source: 'x[/"]y', flags: "g" },
    { source: "\\/z", flags: "iu" },
    { source: "q", flags: "" }
  ])
})

test("every literal of schema/ compiles, and there are some", () => {
  expect(literals.length).toBeGreaterThan(40)
  for (const { flags, source } of literals) expect(new RegExp(source, flags).source).toBe(source)
})

describe("no regular expression of schema/ takes more than linear time (J15)", () => {
  test.each([...patterns])("%s", async (_, { flags, source }) => {
    const { status } = await check(source, flags, { timeout: 30_000 })
    expect(status).toBe("safe")
  })

  test("the gate sees the quadratic and exponential ones", async () => {
    expect((await check("[a-z]+://[^@]+:[^@]+@", "", { timeout: 30_000 })).status).toBe("vulnerable")
    expect((await check("(?:[a-z0-9]+[-_.]?)+@", "", { timeout: 30_000 })).status).toBe("vulnerable")
  })
})
