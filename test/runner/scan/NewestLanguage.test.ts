import { afterAll, describe, expect, test } from "bun:test"
import { Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { dependsOnTool, toolProblems } from "../../../runner/scan/ToolFit.ts"
import { admitsVersion } from "../../../runner/scan/VersionConstraint.ts"
import type { ToolIdentity } from "../../../schema/records/Run.ts"
import { suite } from "../../support/Effect.ts"
import { errorCodes, placedCodes, scanFiles } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const tofu = (version: string): ToolIdentity => ({ name: "opentofu", version })
const terraform = (version: string): ToolIdentity => ({ name: "terraform", version })

const language = `language {
  edition     = tofu2024
  experiments = [deferred_actions]
  compatible_with {
    opentofu = ">= 1.12, < 2.0"
    acme     = ">= 3"
  }
}
`

describe("Newest blocks", () => {
  scanner.live("the scan accepts OpenTofu's language, in both syntaxes", () =>
    Effect.gen(function* () {
      const hcl = yield* scanFiles({ "a.tf": language })
      const json = yield* scanFiles({
        "a.tf.json": '{ "language": { "edition": "tofu2024", "compatible_with": { "opentofu": ">= 1.12, < 2.0" } } }'
      })
      expect([hcl.status, json.status, placedCodes(hcl)]).toEqual(["supported", "supported", ["experiments a.tf:3"]])
      for (const scan of [hcl, json]) {
        expect(toolProblems(scan, tofu("1.12.3"))).toEqual([])
        expect(toolProblems(scan, tofu("1.11.6")).map(({ code }) => code)).toEqual([
          "tool_version_unmet",
          "tool_version_unmet"
        ])
        expect(toolProblems(scan, tofu("2.0.0")).map(({ code, line }) => [code, line])).toEqual([
          ["tool_version_unmet", scan === hcl ? 5 : 1]
        ])
        expect(toolProblems(scan, terraform("1.16.5"))[0]).toMatchObject({
          code: "tool_cannot_read",
          message: expect.stringContaining("needs OpenTofu >= 1.12, and this service runs Terraform 1.16.5")
        })
      }
    })
  )

  scanner.live("the scan accepts Terraform's action blocks, which require their provider", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf":
          'terraform {\n  required_providers {\n    fns = {\n      source = "acme/fns"\n    }\n  }\n}\naction "fns_invoke" "after" {\n  config {\n    name = "x"\n  }\n}\nresource "terraform_data" "a" {\n  lifecycle {\n    action_trigger {\n      events  = [after_create]\n      actions = [action.fns_invoke.after]\n    }\n  }\n}\n'
      })
      expect(errorCodes(scan)).toEqual([])
      expect(scan.providerPackages.map(({ source }) => source)).toEqual(["acme/fns"])
      expect(toolProblems(scan, terraform("1.14.0"))).toEqual([])
      expect(toolProblems(scan, terraform("1.13.9")).map(({ code }) => code)).toEqual(["tool_version_unmet"])
      expect(toolProblems(scan, tofu("1.12.0")).map(({ code }) => code)).toEqual(["tool_cannot_read"])
    })
  )

  scanner.live("the scan accepts Terraform's language argument and other recent additions", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf.json": '{ "terraform": { "language": "TF2021", "required_version": ">= 1.5" } }',
        "b.tf":
          'provider "aws" {\n  for_each = toset(["a"])\n  alias    = "by_region"\n}\nresource "aws_x" "a" {\n  for_each = toset(["a"])\n  provider = aws.by_region[each.key]\n}\nimport {\n  for_each = { a = 1 }\n  to       = aws_x.a[each.key]\n  identity = { id = each.value }\n}\nremoved {\n  from = aws_x.old\n  lifecycle {\n    destroy = false\n  }\n}\nvariable "origin" {\n  type       = string\n  const      = true\n  deprecated = "Use another"\n  default    = "x"\n}\noutput "o" {\n  type  = string\n  value = provider::aws::arn_parse("x")\n}\nresource "terraform_data" "s" {\n  store {\n    input = "x"\n  }\n}\nephemeral "aws_y" "e" {\n}\n',
        "query.tfquery.hcl": 'list "aws_x" "all" {\n}\n',
        "tests.tftest.hcl": 'run "a" {\n}\n'
      })
      expect(errorCodes(scan)).toEqual([])
      expect(toolProblems(scan, tofu("1.10.0")).map(({ message }) => message)[0]).toContain('"ephemeral"')
      expect(toolProblems(scan, tofu("1.8.0")).map(({ line }) => line)).toEqual([2, 7, 35])
      expect(toolProblems(scan, terraform("1.10.0")).map(({ code, line }) => `${code} ${line}`)).toEqual([
        "tool_cannot_read 2",
        "tool_cannot_read 7"
      ])
    })
  )

  scanner.live("the scan rejects unknown blocks", () =>
    Effect.gen(function* () {
      const refused = [
        ['widget "a" {\n}\n', "unknown_block a.tf:1"],
        ['list "aws_x" "all" {\n}\n', "unknown_block a.tf:1"],
        ["language {\n  other {\n  }\n}\n", "unknown_block a.tf:2"],
        ['language "x" {\n}\n', "wrong_labels a.tf:1"],
        ["language {\n  edition = tofu2031\n}\n", "unknown_language_edition a.tf:2"],
        ['language {\n  compatible_with {\n    opentofu = "new"\n  }\n}\n', "invalid_version_constraint a.tf:3"]
      ] as const
      for (const [text, expected] of refused) {
        const scan = yield* scanFiles({ "a.tf": text })
        expect([scan.status, ...placedCodes(scan)]).toEqual(["unsupported", expected])
      }
      const override = yield* scanFiles({ "a.tf": "", "a_override.tf": "language {\n}\n" })
      expect(errorCodes(override)).toEqual(["block_in_override"])
      const json = yield* scanFiles({ "a.tf.json": '{ "language": { "speed": 1 } }' })
      expect(errorCodes(json)).toEqual(["unknown_block"])
    })
  )
})

describe("Current tool", () => {
  scanner.live(
    "the tool must satisfy the required_version of every reachable module, and a conflict is reported at its location",
    () =>
      Effect.gen(function* () {
        const scan = yield* scanFiles({
          "a.tf": 'module "child" {\n  source = "./child"\n}\n',
          "child/a.tf": 'terraform {\n  required_version = "~> 1.13.0"\n}\n'
        })
        const [problem] = toolProblems(scan, terraform("1.11.4"))
        expect(problem).toEqual({
          severity: "error",
          code: "tool_version_unmet",
          message:
            "required_version needs Terraform ~> 1.13.0, and this service runs Terraform 1.11.4. Run the service with a tool that meets it, or change the module.",
          path: "child/a.tf",
          line: 2
        })
        expect(dependsOnTool(problem === undefined ? [] : [problem])).toBe(true)
        expect(toolProblems(scan, terraform("1.13.5"))).toEqual([])
        expect(dependsOnTool(scan.findings)).toBe(false)
      })
  )

  test.each([
    [">= 1.11", "1.11.4", true],
    [">= 1.12", "1.11.4", false],
    ["1.11.4", "1.11.4", true],
    ["= 1.11", "1.11.0", true],
    ["!= 1.11.4", "1.11.4", false],
    ["> 1.11.4", "1.11.4", false],
    ["< 1.12", "1.11.4", true],
    ["<= 1.11", "1.11.4", false],
    ["~> 1.11", "1.12.0", true],
    ["~> 1.11", "2.0.0", false],
    ["~> 1.11.2", "1.11.9", true],
    ["~> 1.11.2", "1.12.0", false],
    ["~> 1.11.2", "1.11.1", false],
    ["~> 1", "2.3.4", true],
    [">= 1.12", "1.12.0-rc1", true],
    [">= 1.12.0-rc1", "1.12.0", false]
  ])("the version constraint %s admits %s: %p", (constraint, version, admitted) => {
    expect(admitsVersion([constraint], version)).toBe(admitted)
  })
})
