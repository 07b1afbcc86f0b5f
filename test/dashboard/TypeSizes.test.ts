import { describe, expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"

const styles = new URL("../../src/dashboard/styles/", import.meta.url).pathname
const read = (file: string): string => readFileSync(`${styles}${file}`, "utf8")

describe("the type", () => {
  const sizes = ["small", "dense", "body", "large", "title"]

  test("the type scale has five sizes: 12, 13, 14, 16 and 24", () => {
    expect(sizes.map((name) => new RegExp(`^\\s*--${name}: (\\d+px);`, "m").exec(read("Tokens.css"))?.[1])).toEqual([
      "12px",
      "13px",
      "14px",
      "16px",
      "24px"
    ])
  })

  test("the dashboard uses no other text size", () => {
    const token = `var\\(--(?:${sizes.join("|")})\\)`
    // Inline code may also have the size of the surrounding text, up to the dense size.
    const allowed = new RegExp(`^(?:inherit|${token}|min\\(1em, var\\(--dense\\)\\)|\\d+ ${token} / .*)$`)
    const others = readdirSync(styles)
      .filter((file) => file.endsWith(".css"))
      .flatMap((file) =>
        [...read(file).matchAll(/(?:^|[\s{;])(?:font-size|font):\s*([^;}]+)/g)]
          .filter(([, value = ""]) => !allowed.test(value.trim()))
          .map(([, value = ""]) => `${file}: ${value.trim()}`)
      )
    expect(others).toEqual([])
  })
})
