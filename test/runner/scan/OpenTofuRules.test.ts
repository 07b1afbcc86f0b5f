import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { toolProblems } from "../../../runner/scan/ToolFit.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const output = (name: string) => `output "${name}" {\n  value = 1\n}\n`
const json = (name: string) => JSON.stringify({ output: { [name]: { value: 1 } } })

interface Rule {
  readonly rule: string
  readonly files: Readonly<Record<string, string>>
  /**
   * The Outputs that the module has according to OpenTofu. If `version` rejects the module, `refusals` lists the reasons.
   */
  readonly outputs?: ReadonlyArray<string>
  readonly version?: string
  readonly refusals?: ReadonlyArray<string>
}

/** Cases from OpenTofu's documentation: Files and Directories, Override Files, What's new in 1.9, 1.11 and 1.12. */
const rules: ReadonlyArray<Rule> = [
  {
    rule: "all four extensions are read",
    files: { "a.tf": output("a"), "b.tofu": output("b"), "c.tf.json": json("c"), "d.tofu.json": json("d") },
    outputs: ["a", "b", "c", "d"]
  },
  {
    rule: "a .tofu file replaces the .tf file of the same name",
    files: { "foo.tf": "}{", "foo.tofu": output("b") },
    outputs: ["b"]
  },
  {
    rule: "a .tofu.json file replaces the .tf.json file of the same name",
    files: { "foo.tf.json": "}{", "foo.tofu.json": json("b") },
    outputs: ["b"]
  },
  {
    rule: "a .tofu file does not replace a .tf.json file",
    files: { "foo.tf.json": json("a"), "foo.tofu": output("b") },
    outputs: ["a", "b"]
  },
  { rule: "a folder may have .tofu files only", files: { "main.tofu": output("a") }, outputs: ["a"] },
  {
    rule: "an override.tofu file replaces override.tf",
    files: { "a.tf": output("a"), "override.tf": "}{", "override.tofu": output("a") },
    outputs: ["a"]
  },
  {
    rule: "an _override.tofu file replaces the _override.tf file",
    files: { "a.tf": output("a"), "x_override.tf": "}{", "x_override.tofu": output("a") },
    outputs: ["a"]
  },
  {
    rule: "for_each of a provider, from 1.9",
    files: { "a.tf": 'provider "aws" {\n  alias    = "by"\n  for_each = toset(["a"])\n}\n' },
    version: "1.9.0"
  },
  {
    rule: "for_each of a provider, before 1.9",
    files: { "a.tf": 'provider "aws" {\n  alias    = "by"\n  for_each = toset(["a"])\n}\n' },
    version: "1.8.9",
    refusals: ["tool_version_unmet"]
  },
  {
    rule: "for_each of a provider needs an alias",
    files: { "a.tf": 'provider "aws" {\n  for_each = toset(["a"])\n}\n' },
    version: "1.9.0",
    refusals: ["invalid_provider"]
  },
  { rule: "ephemeral resources, from 1.11", files: { "a.tf": 'ephemeral "aws_x" "a" {\n}\n' }, version: "1.11.0" },
  {
    rule: "ephemeral resources, before 1.11",
    files: { "a.tf": 'ephemeral "aws_x" "a" {\n}\n' },
    version: "1.10.6",
    refusals: ["tool_version_unmet"]
  },
  {
    rule: "required_version names no prerelease",
    files: { "a.tf": 'terraform {\n  required_version = ">= 1.9.0-rc1"\n}\n' },
    version: "1.9.0",
    refusals: ["prerelease_constraint"]
  },
  {
    rule: "state encryption belongs to the service",
    files: { "a.tf": "terraform {\n  encryption {\n  }\n}\n" },
    refusals: ["state_encryption"]
  },
  {
    rule: "action blocks are Terraform's",
    files: { "a.tf": 'action "x_y" "z" {\n}\n' },
    refusals: ["tool_cannot_read"]
  }
]

describe("OpenTofu rules", () => {
  for (const { files, outputs = [], refusals = [], rule, version = "1.11.0" } of rules)
    scanner.live(rule, () =>
      Effect.gen(function* () {
        const { scanModule } = yield* ModuleScanner
        const scan = yield* scanModule(memoryTree(files), ".", "opentofu")
        const found = [...scan.findings, ...toolProblems(scan, { name: "opentofu", version })]
        expect(found.flatMap(({ code, severity }) => (severity === "error" ? [code] : []))).toEqual([...refusals])
        expect(scan.outputs.map(({ name }) => name)).toEqual([...outputs])
      })
    )
})
