import { afterAll, describe, expect, test } from "bun:test"
import { Result } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isTakenAsText, ofJson, typedValue } from "../../../../src/cli/variables/TypedValue.ts"
import { readValue, readVariableFile } from "../../../../src/cli/variables/VariableFile.ts"

const tool = Bun.which("terraform")
const isIncomplete = tool === null && process.env["SVC_TEST_REQUIRE_ALL"] !== "1"

const folder = mkdtempSync(join(tmpdir(), "svc-variable-file-"))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Reads a file with values of declared variables as the tool does; `undefined` if the tool refuses the file. */
const toolReads = (
  types: Readonly<Record<string, string>>,
  values: string,
  asFlags: ReadonlyArray<string> = [],
  shown = (name: string) => `${name} = var.${name}`
) => {
  const names = Object.keys(types)
  writeFileSync(
    join(folder, "main.tf"),
    names.map((name) => `variable "${name}" {\n${types[name] === "" ? "" : `type = ${types[name]}\n`}}\n`).join("")
  )
  writeFileSync(join(folder, "values.tfvars"), values)
  const file = values === "" ? [] : ["-var-file=values.tfvars"]
  const ended = Bun.spawnSync([tool ?? "", "console", ...file, ...asFlags.flatMap((flag) => ["-var", flag])], {
    cwd: folder,
    stdin: Buffer.from(`jsonencode({${names.map(shown).join(", ")}})\n`),
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, CHECKPOINT_DISABLE: "1", TF_CLI_CONFIG_FILE: "/dev/null" }
  })
  return ended.exitCode === 0 ? JSON.parse(JSON.parse(ended.stdout.toString())) : undefined
}

const jsonOf = (text: string) =>
  Object.fromEntries(
    [...Result.getOrThrow(readVariableFile(text))].map(([name, value]) => [
      name,
      Result.getOrThrow(typedValue(value, "json"))
    ])
  )

const accepted = `\ufeff# a comment
plain = "text" // another
escaped = "tab\\t quote\\" slash\\\\ line\\n \\u00e9 \\U0001F600"
doubled = "$\${not} %%{a} $ % $$ %% {}"
composed = "e\u0301"
whole = 5
negative = - 5
zeros = 007
fraction = 1.50
power = 1e3
small = 25e-2
yes = true
no = false
nothing = null
grouped = ((5))
/* over
   several lines */ list = [1, "two", [true,],
  null # here
  , {}]
object = { a = 1, "b c" : 2
  d = { e = [] } # f
  ("x") = 3
  (true) = 4
}
heredoc = <<EOT
  first $\${x} \\n "quoted"
 EOTS
second
EOT
indented = <<-END
    one
      two

    three
    END
empty = <<E
E
kebab-name = "k"
_under = "u"
`

describe.skipIf(isIncomplete)("Variable files", () => {
  test("svc reads a variable file as the tool does", () => {
    const ours = jsonOf(accepted)
    const types = Object.fromEntries(Object.keys(ours).map((name) => [name, "any"]))
    expect(Object.keys(ours).length).toBeGreaterThan(20)
    expect(ours).toEqual(toolReads(types, accepted))
  })

  test("svc refuses a variable file that the tool refuses, or that contains an expression instead of a literal value", () => {
    const refusedByTool = [
      'a = "open',
      'a = "bad \\x escape"',
      'a = "half a pair \\ud83d"',
      "a = 1 b = 2",
      "a = 1\na = 2",
      "a =\n1",
      "a",
      "a == 1",
      "a = [1 2]",
      "a = { b = 1 c = 2 }",
      "a = { b }",
      "a = other",
      'a = lower("A")',
      "a {\n}",
      "a = <<EOT\nnever ends\n",
      "a = 5.",
      'a = "${b}"',
      "/* open",
      "a = 1;",
      "a = $"
    ]
    const computed = [
      "a = 1 + 2",
      'a = "x${1}"',
      "a = true ? 1 : 2",
      "a = [for x in [1] : x]",
      "a = [1][0]",
      "a = !true"
    ]
    for (const text of refusedByTool) {
      expect([text, Result.isFailure(readVariableFile(text))]).toEqual([text, true])
      expect([text, toolReads({ a: "any" }, text)]).toEqual([text, undefined])
    }
    for (const text of computed) {
      const read = readVariableFile(text)
      expect([text, Result.isFailure(read) ? read.failure.why : ""]).toEqual([
        text,
        expect.stringContaining("a: its value is computed")
      ])
    }
  })

  test("svc converts the values of a variable file to the declared types as the tool does", () => {
    const texts = ["5", '"5"', "1.50", "1e3", "0.10", "true", '"true"', '"1"', '"0"', "false", "null", '"-0.5"', '"x"']
    const conversions = { string: "tostring", number: "tonumber", boolean: "tobool" } as const
    const cases = (["string", "number", "boolean"] as const).flatMap((type) => texts.map((text) => ({ type, text })))
    const values = texts.map((text, at) => `v${at} = ${text}`).join("\n")
    const theirs = toolReads(Object.fromEntries(texts.map((_, at) => [`v${at}`, "any"])), values, [], (name) =>
      Object.entries(conversions)
        .map(([type, call]) => `${type}_${name} = try(${call}(var.${name}), "(refused)")`)
        .join(", ")
    )
    for (const { text, type } of cases) {
      const ours = Result.getOrThrow(typedValue(Result.getOrThrow(readValue(text)), type))
      const expected = theirs[`${type}_v${texts.indexOf(text)}`]
      // If the tool refuses a value, svc must convert that value to another type, so that the server refuses it as well.
      if (expected === "(refused)") expect([type, text, typeof ours]).not.toEqual([type, text, type])
      else expect([type, text, ours]).toEqual([type, text, expected])
    }
  })

  test("svc parses the values of variable arguments as the tool does", () => {
    const given = { s: "string", n: "number", b: "bool", l: "list(string)", x: "any", u: "" }
    const texts = { s: "5", n: "5", b: "true", l: '["a", "b"]', x: "{ a = 5 }", u: "[5]" }
    const declared = { s: "string", n: "number", b: "boolean", l: "json", x: "json", u: "json" } as const
    const flags = Object.entries(texts).map(([name, text]) => `${name}=${text}`)
    const ours = (["s", "n", "b", "l", "x", "u"] as const).map((name) => {
      const type = { type: declared[name], ...(given[name] === "" ? {} : { typeExpression: given[name] }) }
      const value = isTakenAsText(type) ? texts[name] : Result.getOrThrow(readValue(texts[name]))
      return [name, Result.getOrThrow(typedValue(value, type.type))]
    })
    expect(Object.fromEntries(ours)).toEqual(toolReads(given, "", flags))
  })
})

describe("Variable values", () => {
  test("numbers with more digits than JSON can represent become strings for number inputs, and are rejected inside structures", () => {
    const [number, list] = [readValue("123456789012345678901"), readValue("[123456789012345678901]")]
    expect(typedValue(Result.getOrThrow(number), "number")).toEqual(Result.succeed("123456789012345678901"))
    expect(Result.isFailure(typedValue(Result.getOrThrow(list), "json"))).toBe(true)
    expect(typedValue(Result.getOrThrow(readValue("1e500")), "number")).toEqual(Result.fail("a number is too large"))
  })

  test("svc converts a variable's JSON value to the declared type, and keeps structures unchanged", () => {
    expect(typedValue(ofJson(5), "string")).toEqual(Result.succeed("5"))
    expect(typedValue(ofJson({ a: [1.5, null, "x"] }), "json")).toEqual(Result.succeed({ a: [1.5, null, "x"] }))
  })

  test("if svc refuses a variable value, the error never contains that value", () => {
    for (const text of ['a = "canary', 'a = canary("x")', 'a = "${canary}"', "a = [canary canary]"]) {
      const read = readVariableFile(text)
      expect(Result.isFailure(read) && !JSON.stringify(read.failure).includes("canary")).toBe(true)
    }
  })
})
