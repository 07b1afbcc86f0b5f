import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import { type OutlineBody, readOutline } from "../../../runner/scan/HclOutline.ts"

const outline = (text: string): OutlineBody => Result.getOrThrow(readOutline(text, 200))
const faultOf = (text: string, nesting = 200) => {
  const read = readOutline(text, nesting)
  return Result.isFailure(read) ? `${read.failure.code} ${read.failure.line}` : "none"
}
const headers = (body: OutlineBody) => body.blocks.map(({ type, labels, line }) => [type, ...labels, line].join(" "))

describe("readOutline", () => {
  test("an outline lists blocks with labels and lines, and arguments with lines", () => {
    const read = outline('a = 1\n\nvariable "x" {\n  type = string\n  nested foo {\n  }\n}\nresource "t" n { b = 2 }\n')
    expect([...read.attributes]).toEqual([["a", 1]])
    expect(headers(read)).toEqual(["variable x 3", "resource t n 8"])
    expect([...(read.blocks[0]?.attributes ?? [])]).toEqual([["type", 4]])
    expect(headers(read.blocks[0] ?? read)).toEqual(["nested foo 5"])
    expect([...(read.blocks[1]?.attributes ?? [])]).toEqual([["b", 8]])
  })

  const valuesToStepOver: ReadonlyArray<readonly [string, string]> = [
    ["braces in a string", '"} { \\" }"'],
    ["a template with a string in it", '"a ${f("}", { x = "${y}" })} b"'],
    ["an escaped template", '"$${ %%{ $$${"'],
    ["a directive", '"%{ if x ~}y%{ endif }"'],
    ["a bracket over lines", "[\n  1, # }\n  { a = 2 }, /* } \n } */\n  (3\n)]"],
    ["a heredoc", '<<EOT\n}\n  EOT2\n${"}"} EOT\n$${ }\n  EOT'],
    ["an indented heredoc in a list", "[<<-E\n }\n E\n, 1]"],
    ["a comment over a line end", '"x" /*\n*/'],
    ["a division and a comparison", "a / b < c"],
    ["a shift that is not a heredoc", "a << b"]
  ]
  for (const [name, value] of valuesToStepOver) {
    test(`skips ${name}`, () => {
      const read = outline(`v = ${value}\nb "next" {\n}\n`)
      expect([...read.attributes.keys()]).toEqual(["v"])
      expect(read.blocks.map(({ labels }) => labels)).toEqual([["next"]])
      expect(read.blocks[0]?.line).toBe(value.split("\n").length + 1)
    })
  }

  test("an outline keeps Unicode names and Windows line endings", () => {
    expect(headers(outline('größe-1 "ß" {\r\n}\r\nb {}\r\n'))).toEqual(["größe-1 ß 1", "b 3"])
  })

  test("an outline reports the line of the error in a broken file", () => {
    expect(faultOf("a = 1\n}\n")).toBe("hcl_syntax 2")
    expect(faultOf("b {\n")).toBe("hcl_syntax 2")
    expect(faultOf("\nb\n{}")).toBe("hcl_syntax 2")
    expect(faultOf('a = "x\n"')).toBe("hcl_syntax 1")
    expect(faultOf("a = (\n]")).toBe("hcl_syntax 2")
    expect(faultOf("a = <<E\nfoo")).toBe("hcl_syntax 2")
    expect(faultOf("/* never closed")).toBe("hcl_syntax 1")
    expect(faultOf("= 1")).toBe("hcl_syntax 1")
  })

  test("an outline limits the combined nesting of brackets, templates and blocks", () => {
    expect(faultOf(`b {\n a = ${"[".repeat(9)}1${"]".repeat(9)}\n}`, 10)).toBe("none")
    expect(faultOf(`b {\n a = ${"[".repeat(11)}1${"]".repeat(11)}\n}`, 10)).toBe("nesting_too_deep 2")
    expect(faultOf(`a = ${'"${'.repeat(6)}1${'}"'.repeat(6)}`, 10)).toBe("nesting_too_deep 1")
    expect(faultOf("b {\n".repeat(11), 10)).toBe("nesting_too_deep 11")
    expect(faultOf(`a = ${"[ # ]\n".repeat(300)}`)).toStartWith("nesting_too_deep")
  })
})
