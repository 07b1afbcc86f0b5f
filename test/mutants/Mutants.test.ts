import { expect, test } from "bun:test"
import { existsSync, readFileSync } from "node:fs"
import { mutants } from "./Mutants.ts"

const transpiler = new Bun.Transpiler({ loader: "ts" })
const root = new URL("../..", import.meta.url).pathname

for (const { broken, file, name, test: proof, text } of mutants) {
  test(`the guard "${name}" is where the list says, and a test is named for it`, () => {
    const sound = readFileSync(`${root}${file}`, "utf8")
    expect(sound.split(text).length - 1).toBe(1)
    // What is no program any more fails every test, and shows nothing of this one.
    expect(() => transpiler.transformSync(sound.replace(text, () => broken))).not.toThrow()
    expect(broken).not.toBe(text)
    expect(existsSync(`${root}${proof}`)).toBe(true)
  })
}

test("each guard has a name of its own", () => {
  expect(new Set(mutants.map(({ name }) => name)).size).toBe(mutants.length)
})
