import { afterAll, expect, test } from "bun:test"
import { Effect } from "effect"
import * as fc from "fast-check"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const fragments = [
  'variable "a" {\n',
  'module "m" {\n',
  'source = "./m"\n',
  'source = "acme/vpc/aws"\n',
  'resource "aws_x" "y" {\n',
  "terraform {\n",
  "required_providers {\n",
  'x = { source = "a/b" }\n',
  'provider "p" {\n',
  "alias = a\n",
  "}\n",
  "}",
  "{",
  "\n",
  '"',
  "${",
  "%{",
  "$${",
  "<<E\n",
  "E\n",
  "[",
  "]",
  "(",
  ")",
  "/*",
  "*/",
  "#",
  "//",
  "=",
  "a = 1\n",
  "type = string\n",
  "default = null\n",
  "\\",
  "\u0000",
  "\ufeff",
  "é",
  "😀"
]

const hclText = fc.array(fc.constantFrom(...fragments), { maxLength: 25 }).map((parts) => parts.join(""))

const jsonText = fc
  .record(
    {
      variable: fc.dictionary(
        fc.constantFrom("a", "__proto__", "b c"),
        fc.json({ maxDepth: 2 }).map((text) => JSON.parse(text))
      ),
      module: fc.dictionary(
        fc.constantFrom("m", "n"),
        fc.record({ source: fc.constantFrom("./m", "../x", 1, null, "a/b/c") })
      ),
      terraform: fc.jsonValue({ maxDepth: 3 }),
      resource: fc.jsonValue({ maxDepth: 4 }),
      widget: fc.jsonValue({ maxDepth: 1 })
    },
    { requiredKeys: [] }
  )
  .map((value) => JSON.stringify(value))

const anyFile = fc.oneof(
  hclText.map((text) => ["a.tf", text] as const),
  jsonText.map((text) => ["b.tf.json", text] as const),
  hclText.map((text) => ["m/c_override.tf", text] as const),
  jsonText.map((text) => ["m/d.tofu.json", text] as const),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => ["e.tf", bytes] as const)
)

const anyTree = fc.array(anyFile, { minLength: 1, maxLength: 4 }).map((files) => Object.fromEntries(files))

const runs = 200

const expectVerdicts = (files: Readonly<Record<string, string | Uint8Array>>) =>
  Effect.gen(function* () {
    const { scanTree } = yield* ModuleScanner
    const { modules } = yield* scanTree(memoryTree(files))
    for (const module of modules) {
      const hasError = module.findings.some(({ severity }) => severity === "error")
      expect(module.status).toBe(hasError ? "unsupported" : "supported")
      if (hasError)
        expect([module.providerPackages, module.rootProviderRequirements, module.localModules]).toEqual([[], [], []])
    }
  })

test("any tree gets a verdict, and the scan never reports providers of an unsupported module", () =>
  fc.assert(
    fc.asyncProperty(anyTree, (files) => scanner.runPromise(expectVerdicts(files))),
    { numRuns: runs }
  ))

const literal = fc.jsonValue({ maxDepth: 3 }).filter((value) => !/[$%]\{/.test(JSON.stringify(value)))

const expectSameDefault = (value: unknown) =>
  Effect.gen(function* () {
    const { scanModule } = yield* ModuleScanner
    // JSON is also valid as an HCL expression.
    const text = JSON.stringify(value)
    const tree = memoryTree({
      "hcl/a.tf": `variable "x" {\n  default = ${text}\n}\n`,
      "json/a.tf.json": `{ "variable": { "x": { "default": ${text} } } }`
    })
    for (const path of ["hcl", "json"]) {
      const { findings, variables } = yield* scanModule(tree, path)
      expect(findings).toEqual([])
      expect(JSON.parse(JSON.stringify(variables[0]?.default))).toEqual(JSON.parse(text))
    }
  })

test("a literal default is read the same way in both syntaxes", () =>
  fc.assert(
    fc.asyncProperty(literal, (value) => scanner.runPromise(expectSameDefault(value))),
    { numRuns: runs }
  ))
