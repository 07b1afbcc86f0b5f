import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"

const styles = new URL("../../src/dashboard/styles/", import.meta.url).pathname
const read = (file: string): string => readFileSync(`${styles}${file}`, "utf8")
const shipped = read("Tokens.css")

const declared = new Map(
  [...shipped.matchAll(/--([a-z0-9-]+):\s*([^;]+);/g)].map(([, name = "", value = ""]) => [name, value.trim()])
)

type Theme = "light" | "dark"

/** Returns a token's colour in a theme as `#rrggbb`. */
const colour = (token: string, theme: Theme): string => {
  const value = declared.get(token)
  if (value === undefined) throw new Error(`Tokens.css has no --${token}.`)
  const alias = /^var\(--([a-z-]+)\)$/.exec(value)?.[1]
  if (alias !== undefined) return colour(alias, theme)
  const pair = /^light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)$/.exec(value)
  return (theme === "light" ? pair?.[1] : pair?.[2]) ?? value
}

const channel = (value: number): number => {
  const part = value / 255
  return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
}

/** Computes the relative luminance of a colour (WCAG 2.2). */
const luminance = (hex: string): number => {
  if (!/^#[0-9a-f]{6}$/.test(hex)) throw new Error(`${hex} is no colour.`)
  const [red, green, blue] = [1, 3, 5].map((at) => channel(Number.parseInt(hex.slice(at, at + 2), 16)))
  return 0.2126 * (red ?? 0) + 0.7152 * (green ?? 0) + 0.0722 * (blue ?? 0)
}

const contrast = (one: string, other: string): number => {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b)
  return (light + 0.05) / (dark + 0.05)
}

const verbs = ["destroy", "replace", "forget", "update", "create", "import", "move"]
const states = ["good", "warn", "bad"]
const grounds = ["ground", "surface", "raised", "sunken", "hover", "log-ground"]
const softs = [...verbs, ...states, "accent"].map((name) => `${name}-soft`)
const cross = (texts: ReadonlyArray<string>, on: ReadonlyArray<string>, least: number) =>
  texts.flatMap((text) => on.map((ground) => ({ text, ground, least })))

/** Text needs a contrast of 4.5 to 1, and other visible elements 3 to 1. */
const pairs = [
  ...cross(["text"], [...grounds, ...softs, "del-word", "add-word"], 4.5),
  ...cross(["text-soft"], [...grounds, ...softs], 4.5),
  ...cross(["text-faint"], grounds, 4.5),
  ...cross([...verbs, ...states, "accent"], grounds, 4.5),
  ...[...verbs, ...states, "accent"].map((text) => ({ text, ground: `${text}-soft`, least: 4.5 })),
  ...cross(["on-fill"], ["accent-fill", "accent-fill-hover", "bad-fill", "bad-fill-hover"], 4.5),
  { text: "on-inverse", ground: "inverse", least: 4.5 },
  ...cross(["line-strong"], ["ground", "surface", "raised", "log-ground"], 3)
]

describe("the colours", () => {
  test.each(["light", "dark"] as const)("the colours have enough contrast in the %s theme", (theme) => {
    const low = pairs
      .map(({ text, ground, least }) => ({
        pair: `${text} on ${ground}`,
        least,
        found: contrast(colour(text, theme), colour(ground, theme))
      }))
      .filter(({ found, least }) => found < least)
    expect(low).toEqual([])
    expect(pairs.length).toBeGreaterThan(74)
  })

  test("the contrast test computes the contrast of colours correctly", () => {
    expect(contrast("#000000", "#ffffff")).toBeCloseTo(21, 5)
    expect(contrast("#767676", "#ffffff")).toBeCloseTo(4.54, 2)
  })

  test("only Tokens.css defines colours, and it defines every colour in use", () => {
    const files = readdirSync(styles).filter((file) => file.endsWith(".css"))
    const raw: Array<string> = []
    const unknown: Array<string> = []
    for (const file of files) {
      const text = read(file)
      if (file !== "Tokens.css")
        raw.push(
          ...[...text.matchAll(/#[0-9a-f]{3,8}\b|\b(?:rgb|hsl|oklch|light-dark)\(/gi)].map(
            ([found]) => `${file}: ${found}`
          )
        )
      const local = new Set([...text.matchAll(/(?:^|[\s{;])--([a-z0-9-]+):/g)].map(([, name = ""]) => name))
      for (const [, name = "", fallback = ""] of text.matchAll(/var\(--([a-z0-9-]+)(,?)/g))
        if (!declared.has(name) && !local.has(name) && fallback === "") unknown.push(`${file}: --${name}`)
    }
    expect(raw).toEqual([])
    // `--verb` and `--verb-soft` are exempt, because Verbs.css defines them on the rows that use them.
    expect(unknown.filter((one) => !/--verb(?:-soft)?$/.test(one))).toEqual([])
  })
})
