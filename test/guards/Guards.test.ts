import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { guards } from "./Guards.ts"

const root = new URL("../..", import.meta.url).pathname

for (const { broken, file, name, test: proof, text } of guards) {
  test(`the guard "${name}" is where the list says, and a test is named for it`, () => {
    expect(readFileSync(`${root}${file}`, "utf8").split(text).length - 1).toBe(1)
    expect(broken).not.toBe(text)
    expect(existsSync(`${root}${proof}`)).toBe(true)
  })
}

test("each guard has a name of its own", () => {
  expect(new Set(guards.map(({ name }) => name)).size).toBe(guards.length)
})
