import { afterAll, describe, expect } from "bun:test"
import { Effect, Schema } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { ScannedModule, TreeScan } from "../../../runner/scan/ScannedModule.ts"
import { toolProblems } from "../../../runner/scan/ToolFit.ts"
import { suite } from "../../support/Effect.ts"
import { memoryTree } from "./MemoryTree.ts"
import { errorCodes, fixtureTree, placedCodes, scanFiles, scanFixture } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

describe("scanModule", () => {
  scanner.live("a module report covers local modules, aliases and inherited providers", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("landing")
      expect(scan.status).toBe("supported")
      expect(scan.findings).toEqual([])
      expect(scan.requiredVersion).toEqual([">= 1.5"])
      expect(scan.providerPackages).toEqual([
        { source: "cloudflare/cloudflare", versionConstraints: [">= 4"] },
        { source: "hashicorp/aws", versionConstraints: ["!= 5.3.0", ">= 5.1", "~> 5.0"] },
        { source: "hashicorp/random", versionConstraints: [] },
        { source: "registry.example.org/acme/dns", versionConstraints: [] }
      ])
      expect(scan.rootProviderRequirements).toEqual([
        { provider: "cloudflare/cloudflare", moduleLocalName: "cloudflare" },
        { provider: "hashicorp/aws", moduleLocalName: "aws" },
        { provider: "hashicorp/aws", moduleLocalName: "aws", childAlias: "edge" },
        { provider: "hashicorp/aws", moduleLocalName: "aws", childAlias: "replica" },
        { provider: "hashicorp/random", moduleLocalName: "random" },
        { provider: "registry.example.org/acme/dns", moduleLocalName: "dns" }
      ])
      expect(scan.moduleCalls).toEqual([
        {
          name: "bucket",
          source: "./modules/bucket",
          path: "landing/modules/bucket",
          location: { path: "landing/main.tf", line: 10 }
        },
        {
          name: "dns",
          source: "./modules/dns",
          path: "landing/modules/dns",
          location: { path: "landing/main.tf", line: 19 }
        }
      ])
      expect(scan.localModules).toEqual([
        { key: "bucket", source: "./modules/bucket", dir: "modules/bucket", path: "landing/modules/bucket" },
        { key: "bucket.tags", source: "../dns", dir: "modules/dns", path: "landing/modules/dns" },
        { key: "dns", source: "./modules/dns", dir: "modules/dns", path: "landing/modules/dns" }
      ])
      expect(scan.outputs).toEqual([
        { name: "password", sensitive: true, ephemeral: false, location: { path: "landing/outputs.tf", line: 6 } },
        {
          name: "url",
          sensitive: false,
          ephemeral: false,
          description: "Where it runs",
          location: { path: "landing/outputs.tf", line: 1 }
        }
      ])
      expect(scan.variables.map(({ name, required }) => [name, required])).toEqual([
        ["name", true],
        ["password", false],
        ["region", false]
      ])
    })
  )

  scanner.live("a module report hides the default of a sensitive variable", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("landing")
      expect(scan.variables.find(({ name }) => name === "password")).toEqual({
        name: "password",
        type: "string",
        typeExpression: "string",
        required: false,
        hasDefault: true,
        sensitive: true,
        ephemeral: false,
        nullable: true,
        location: { path: "landing/variables.tf", line: 11 }
      })
      expect(JSON.stringify(scan)).not.toContain("fixture-default")
    })
  )

  scanner.live("the scan accepts every construct of the language", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("constructs")
      expect(scan.findings).toEqual([])
      expect(scan.providerPackages.map(({ source }) => source)).toEqual([
        "hashicorp/azurerm",
        "hashicorp/http",
        "hashicorp/null"
      ])
      const variables = scan.variables.map(
        ({ name, type, required, hasDefault, default: value, ephemeral, nullable }) => ({
          name,
          type,
          required,
          hasDefault,
          value,
          ephemeral,
          nullable
        })
      )
      expect(variables).toEqual([
        {
          name: "anything",
          type: "json",
          required: true,
          hasDefault: false,
          value: undefined,
          ephemeral: false,
          nullable: true
        },
        {
          name: "computed",
          type: "json",
          required: false,
          hasDefault: true,
          value: undefined,
          ephemeral: false,
          nullable: true
        },
        {
          name: "flag",
          type: "boolean",
          required: false,
          hasDefault: true,
          value: true,
          ephemeral: false,
          nullable: false
        },
        {
          name: "settings",
          type: "json",
          required: true,
          hasDefault: false,
          value: undefined,
          ephemeral: false,
          nullable: true
        },
        {
          name: "token",
          type: "string",
          required: true,
          hasDefault: false,
          value: undefined,
          ephemeral: true,
          nullable: true
        }
      ])
      expect(scan.variables[0]?.typeExpression).toBe("any")
      expect(scan.variables[3]?.typeExpression).toStartWith("object({\n    name = string # with a comment")
    })
  )

  scanner.live("the scan reads JSON syntax like native syntax, with exact numbers", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("json-syntax")
      expect(scan.findings).toEqual([])
      expect(scan.providerPackages).toEqual([
        { source: "hashicorp/aws", versionConstraints: ["~> 5.0"] },
        { source: "hashicorp/null", versionConstraints: [] },
        { source: "hashicorp/random", versionConstraints: [] }
      ])
      expect(scan.rootProviderRequirements).toEqual([
        { provider: "hashicorp/aws", moduleLocalName: "aws" },
        { provider: "hashicorp/null", moduleLocalName: "null" },
        { provider: "hashicorp/null", moduleLocalName: "null", childAlias: "other" },
        { provider: "hashicorp/random", moduleLocalName: "random" }
      ])
      const [countOf, names] = scan.variables
      expect(countOf).toMatchObject({
        name: "count_of",
        type: "number",
        hasDefault: true,
        defaultJson: "12345678901234567890"
      })
      expect(countOf).not.toHaveProperty("default")
      expect(names).toMatchObject({
        type: "json",
        typeExpression: "list(string)",
        default: ["a", "b"],
        location: { line: 10 }
      })
      expect(scan.outputs).toEqual([
        { name: "names", sensitive: true, ephemeral: false, location: { path: "json-syntax/main.tf.json", line: 24 } }
      ])
    })
  )

  scanner.live("the scan merges override files argument by argument", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("overrides")
      expect(scan.findings).toEqual([])
      expect(scan.requiredVersion).toEqual([">= 1.2"])
      expect(scan.providerPackages).toEqual([
        { source: "acme/demo", versionConstraints: ["2.0.0"] },
        { source: "acme/other", versionConstraints: [] }
      ])
      expect(scan.variables).toMatchObject([
        {
          name: "size",
          type: "number",
          default: 3,
          description: "After",
          location: { path: "overrides/main.tf", line: 15 }
        }
      ])
      expect(scan.localModules).toEqual([{ key: "child", source: "./child", dir: "child", path: "overrides/child" }])
    })
  )

  scanner.live("OpenTofu's files replace the common files, and the scan reports the replacement", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("opentofu")
      expect(scan.status).toBe("supported")
      expect(scan.providerPackages.map(({ source }) => source)).toEqual(["hashicorp/random"])
      expect(placedCodes(scan)).toEqual([
        "hidden_by_opentofu_file opentofu/main.tf:",
        "hidden_by_opentofu_file opentofu/versions.tf.json:",
        "opentofu_file opentofu/main.tofu:",
        "opentofu_file opentofu/versions.tofu.json:"
      ])
    })
  )

  scanner.live("the scan reads the common files for Terraform, and reports files that only OpenTofu reads", () =>
    Effect.gen(function* () {
      const files = {
        "main.tf": 'output "a" {\n  value = 1\n}\n',
        "main.tofu": 'output "b" {\n  value = 1\n}\n',
        "x.tofu": "}{"
      }
      const scan = yield* Effect.flatMap(ModuleScanner, ({ scanModule }) =>
        scanModule(memoryTree(files), ".", "terraform")
      )
      expect([scan.status, scan.readAs, scan.outputs.map(({ name }) => name)]).toEqual([
        "supported",
        "terraform",
        ["a"]
      ])
      expect(placedCodes(scan)).toEqual(["opentofu_file_unread main.tofu:", "opentofu_file_unread x.tofu:"])
      expect(toolProblems(scan, { name: "terraform", version: "1.11.4" })).toEqual([])
      expect(toolProblems(scan, { name: "opentofu", version: "1.11.0" }).map(({ code }) => code)).toEqual([
        "tool_cannot_read"
      ])
    })
  )

  scanner.live("the scan rejects a module with OpenTofu-only files for Terraform, and reports one of the files", () =>
    Effect.gen(function* () {
      const tree = memoryTree({ "main.tofu": "", "a/main.tf": 'module "m" {\n  source = "../b"\n}\n', "b/x.tofu": "" })
      const { modules } = yield* Effect.flatMap(ModuleScanner, ({ scanTree }) => scanTree(tree, "terraform"))
      expect(modules.map(({ path, status }) => `${path} ${status}`)).toEqual([
        ". unsupported",
        "a supported",
        "b unsupported"
      ])
      expect(modules.map(errorCodes)).toEqual([["tool_cannot_read"], [], ["tool_cannot_read"]])
      expect(modules[0]?.findings[0]?.path).toBe("main.tofu")
    })
  )

  scanner.live("the scan reports no providers for an unsupported module", () =>
    Effect.gen(function* () {
      const scan = yield* scanFixture("remote-source")
      expect(scan.status).toBe("unsupported")
      expect(placedCodes(scan)).toEqual(["module_source_registry remote-source/main.tf:5"])
      expect([scan.providerPackages, scan.rootProviderRequirements, scan.localModules]).toEqual([[], [], []])
    })
  )

  scanner.live("a module report round-trips through JSON", () =>
    Effect.gen(function* () {
      for (const path of ["landing", "json-syntax", "remote-source"]) {
        const scan = yield* scanFixture(path)
        const codec = Schema.fromJsonString(Schema.toCodecJson(ScannedModule))
        expect(yield* Schema.decodeEffect(codec)(yield* Schema.encodeEffect(codec)(scan))).toEqual(scan)
      }
    })
  )

  scanner.live("the scan fails for a path that is not a module", () =>
    Effect.gen(function* () {
      const { scanModule } = yield* ModuleScanner
      const tree = memoryTree({ "main.tf": "", "docs/readme.md": "", ".terraform/modules/x/main.tf": "" })
      for (const path of ["docs", "missing", "./", "", "/", "..", "main.tf", ".terraform/modules/x"]) {
        const failure = yield* Effect.flip(scanModule(tree, path))
        expect(failure._tag).toBe("ModuleNotInTree")
      }
    })
  )
})

describe("scanTree", () => {
  scanner.live("the verdict on a module depends only on the module's own graph", () =>
    Effect.gen(function* () {
      const { scanTree } = yield* ModuleScanner
      const tree = yield* fixtureTree
      const scan = yield* scanTree(tree)
      expect(scan.modules.map(({ path, status }) => [path, status])).toEqual([
        ["constructs", "supported"],
        ["json-syntax", "supported"],
        ["json-syntax/child", "supported"],
        ["landing", "supported"],
        ["landing/modules/bucket", "supported"],
        ["landing/modules/dns", "supported"],
        ["opentofu", "supported"],
        ["overrides", "supported"],
        ["overrides/child", "supported"],
        ["remote-source", "unsupported"]
      ])
      for (const module of scan.modules) expect(module).toEqual(yield* scanFixture(module.path))
      expect(yield* Schema.encodeEffect(Schema.toCodecJson(TreeScan))(scan)).toBeDefined()
    })
  )

  scanner.live("the scan reads every file once, even if many modules need it", () =>
    Effect.gen(function* () {
      const { scanTree } = yield* ModuleScanner
      const tree = memoryTree({
        "main.tf": 'module "a" {\n  source = "./m"\n}\nmodule "b" {\n  source = "./m"\n}\n',
        "m/main.tf": 'output "o" {\n}\n',
        "n/main.tf": 'output "o" {\n}\n'
      })
      yield* scanTree(tree)
      expect([...tree.reads.values()]).toEqual([1, 1, 1])
    })
  )

  scanner.live("the scan reports no modules in a tree without configuration", () =>
    Effect.gen(function* () {
      const { scanTree } = yield* ModuleScanner
      expect(yield* scanTree(memoryTree({ "readme.md": "", "x.tf.bak": "", ".hidden.tf": "" }))).toEqual({
        modules: []
      })
    })
  )

  scanner.live("an unsupported module does not affect modules that do not reach it", () =>
    Effect.gen(function* () {
      const { scanTree } = yield* ModuleScanner
      const scan = yield* scanTree(
        memoryTree({
          "broken/main.tf": "variable {",
          "caller/main.tf": 'module "x" {\n  source = "../broken"\n}\n',
          "fine/main.tf": ""
        })
      )
      expect(scan.modules.map(({ path, status }) => [path, status])).toEqual([
        ["broken", "unsupported"],
        ["caller", "unsupported"],
        ["fine", "supported"]
      ])
      expect(scan.modules[1]?.findings[0]).toMatchObject({ code: "hcl_syntax", path: "broken/main.tf" })
    })
  )
})

describe("Many files", () => {
  scanner.live("a hundred files in the same folder form one module", () =>
    Effect.gen(function* () {
      const files = Array.from({ length: 100 }, (_, index) => [
        `f${index}.tf`,
        `variable "v${index}" {\n  type = string\n}\nresource "aws_x" "r${index}" {\n  a = var.v${index}\n}\n`
      ])
      const scan = yield* scanFiles(Object.fromEntries(files))
      expect(errorCodes(scan)).toEqual([])
      expect(scan.variables.length).toBe(100)
    })
  )
})
