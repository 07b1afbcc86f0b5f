import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { mutants } from "./Mutants.ts"

const transpiler = new Bun.Transpiler({ loader: "ts" })
const root = new URL("../..", import.meta.url).pathname

for (const { broken, file, name, test: proof, text } of mutants) {
  test(`the text of the guard "${name}" occurs once in its file, and its test exists`, () => {
    const sound = readFileSync(`${root}${file}`, "utf8")
    expect(sound.split(text).length - 1).toBe(1)
    // An edit that does not compile fails every test, so the failure would prove nothing about the guard's own test.
    expect(() => transpiler.transformSync(sound.replace(text, () => broken))).not.toThrow()
    expect(broken).not.toBe(text)
    expect(existsSync(`${root}${proof}`)).toBe(true)
  })
}

test("each guard has a unique name", () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})
