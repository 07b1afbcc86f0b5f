import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import type { OmittedEntry } from "../../../runner/snapshot/SourceTree.ts"
import { suite } from "../../support/Effect.ts"
import { errorCodes, placedCodes, scanFiles } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

const call = (name: string, source: string, rest = "") =>
  `module "${name}" {\n  source = ${JSON.stringify(source)}\n${rest}}\n`

const refuses = (
  name: string,
  contents: Readonly<Record<string, string>>,
  expected: ReadonlyArray<string>,
  omitted: ReadonlyArray<OmittedEntry> = []
) =>
  scanner.live(name, () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({ "aws.tf": 'resource "aws_x" "y" {\n}\n', ...contents }, { omitted })
      const errors = scan.findings.filter(({ severity }) => severity === "error")
      expect(placedCodes({ findings: errors })).toEqual([...expected])
      expect([scan.providerPackages, scan.rootProviderRequirements, scan.localModules]).toEqual([[], [], []])
    })
  )

describe("Module calls", () => {
  refuses("no source", { "a.tf": 'module "m" {\n}\n' }, ["module_source_missing a.tf:1"])
  refuses("a computed source", { "a.tf": 'module "m" {\n  source = var.x\n}\n' }, ["module_source_not_literal a.tf:2"])
  refuses("a source that is no text", { "a.tf": 'module "m" {\n  source = 1\n}\n' }, [
    "module_source_not_literal a.tf:2"
  ])
  refuses("a registry", { "a.tf": call("m", "acme/vpc/aws", '  version = "1.0"\n') }, ["module_source_registry a.tf:2"])
  refuses("a pinned Git repository", { "a.tf": call("m", "git::https://x.org/y?ref=abc") }, [
    "module_source_git a.tf:2"
  ])
  refuses("an absolute path", { "a.tf": call("m", "/etc") }, ["module_source_absolute a.tf:2"])
  refuses("a path out of the tree", { "a.tf": call("m", "./x/../../y") }, ["module_source_outside_tree a.tf:2"])
  refuses("a backslash", { "a.tf": call("m", "./x\\y") }, ["module_source_invalid a.tf:2"])
  refuses("a folder that is not there", { "a.tf": call("m", "./x") }, ["module_not_found a.tf:2"])
  refuses("a file", { "a.tf": call("m", "./x"), x: "" }, ["module_not_found a.tf:2"])
  refuses("a folder of the tools", { "a.tf": call("m", "./.terraform/x"), ".terraform/x/a.tf": "" }, [
    "module_not_found a.tf:2"
  ])
  refuses("a version on a local module", { "a.tf": call("m", "./x", '  version = "1"\n'), "x/a.tf": "" }, [
    "module_version_with_local_source a.tf:3"
  ])
  refuses("providers that are no map", { "a.tf": call("m", "./x", "  providers = var.p\n"), "x/a.tf": "" }, [
    "module_providers_invalid a.tf:3"
  ])
  refuses(
    "a symbolic link",
    { "a.tf": call("m", "./link/x") },
    ["module_source_symlink a.tf:2"],
    [{ path: "link", kind: "symlink" }]
  )
  refuses(
    "a submodule",
    { "a.tf": call("m", "./sub") },
    ["module_source_submodule a.tf:2"],
    [{ path: "sub", kind: "submodule" }]
  )
  refuses("itself", { "a.tf": call("m", "./") }, ["module_cycle a.tf:2"])
  refuses("a cycle", { "a.tf": call("m", "./x"), "x/a.tf": call("n", "../y"), "y/a.tf": call("o", "../x") }, [
    "module_cycle y/a.tf:2"
  ])
  refuses(
    "a fault far below",
    { "a.tf": call("m", "./x"), "x/a.tf": call("n", "./y"), "x/y/a.tf": "variable {\n}\n" },
    ["wrong_labels x/y/a.tf:1"]
  )

  scanner.live("the scan never repeats credentials in a module source", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({ "a.tf": call("m", "git::https://me:hunter2@example.org/x.git?sshkey=hunter2") })
      expect(errorCodes(scan)).toEqual(["module_source_git"])
      expect(JSON.stringify(scan)).not.toContain("hunter2")
    })
  )
})

describe("reachable modules", () => {
  scanner.live(
    "a reachable module is listed once per path that leads to it, with folders relative to the root module",
    () =>
      Effect.gen(function* () {
        const scan = yield* scanFiles(
          {
            "stacks/app/a.tf": call("one", "../../shared") + call("two", "./own/"),
            "stacks/app/own/a.tf": call("deep", "../../../shared"),
            "shared/a.tf": 'resource "null_resource" "x" {\n}\n'
          },
          { path: "stacks/app" }
        )
        expect(scan.findings).toEqual([])
        expect(scan.localModules).toEqual([
          { key: "one", source: "../../shared", dir: "../../shared", path: "shared" },
          { key: "two", source: "./own/", dir: "own", path: "stacks/app/own" },
          { key: "two.deep", source: "../../../shared", dir: "../../shared", path: "shared" }
        ])
      })
  )

  scanner.live("a reachable module may be a folder without configuration, which the scan reports", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({ "a.tf": call("m", "./docs"), "docs/readme.md": "" })
      expect(scan.status).toBe("supported")
      expect(placedCodes(scan)).toEqual(["module_without_configuration docs:"])
    })
  )

  scanner.live(
    "reachable modules inherit default provider configurations, unless configurations are passed or declared",
    () =>
      Effect.gen(function* () {
        const uses = (provider: string) => `resource "${provider}_x" "y" {\n}\n`
        const scan = yield* scanFiles({
          "a.tf": [
            'terraform {\n  required_providers {\n    edge = { source = "cloudflare/cloudflare" }\n  }\n}\n',
            call("inherits", "./inherits"),
            call("passed", "./passed", "  providers = {\n    aws = edge.other\n    google.b = google\n  }\n"),
            call("configured", "./configured")
          ].join(""),
          "inherits/a.tf": call("below", "../below"),
          "below/a.tf":
            'terraform {\n  required_providers {\n    cloudflare = { source = "cloudflare/cloudflare" }\n  }\n}\n' +
            uses("dns"),
          "passed/a.tf": uses("aws"),
          "configured/a.tf": `provider "azurerm" {\n}\n${uses("azurerm")}`
        })
        expect(scan.rootProviderRequirements).toEqual([
          { provider: "cloudflare/cloudflare", moduleLocalName: "edge" },
          { provider: "hashicorp/dns", moduleLocalName: "dns" },
          { provider: "hashicorp/google", moduleLocalName: "google" }
        ])
        expect(scan.inheritedProviders).toEqual(["hashicorp/dns"])
        expect(scan.providerPackages.map(({ source }) => source)).toEqual([
          "cloudflare/cloudflare",
          "hashicorp/aws",
          "hashicorp/azurerm",
          "hashicorp/dns",
          "hashicorp/google"
        ])
      })
  )
})

describe("Child providers", () => {
  scanner.live(
    "a provider that only child modules use gets a unique local name, even if the name of its type is taken",
    () =>
      Effect.gen(function* () {
        const requires = (source: string) =>
          `terraform {\n  required_providers {\n    mine = { source = "${source}" }\n  }\n}\n`
        const scan = yield* scanFiles({
          "a.tf": `provider "demo" {\n}\n${["a", "b", "c"].map((name) => call(name, `./${name}`)).join("")}`,
          "a/a.tf": requires("example.test/acme/demo"),
          "b/a.tf": requires("acme/demo"),
          "c/a.tf": requires("acme/1demo")
        })
        expect(scan.rootProviderRequirements).toEqual([
          { provider: "acme/1demo", moduleLocalName: "provider-1demo" },
          { provider: "acme/demo", moduleLocalName: "demo-2" },
          { provider: "example.test/acme/demo", moduleLocalName: "demo-3" },
          { provider: "hashicorp/demo", moduleLocalName: "demo" }
        ])
        expect(scan.inheritedProviders).toEqual(["acme/1demo", "acme/demo", "example.test/acme/demo"])
      })
  )
})

describe("Module files", () => {
  scanner.live("the scan ignores a module's hidden files and backups", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf": "",
        ".b.tf": "broken {",
        "c.tf~": "broken {",
        "#d.tf#": "broken {",
        "e.tf.bak": "",
        "x.TF": "broken {"
      })
      expect(scan.findings).toEqual([])
    })
  )

  for (const name of [
    "~capsule_override.tf.json",
    "~capsule_override.tf",
    "~capsule_override.tofu",
    "~capsule_override.tofu.json",
    "~CAPSULE_variables.tf",
    "~z_override.tf",
    "é_override.tf"
  ]) {
    scanner.live(`the scan rejects a module with ${name}, which would interfere with the runner`, () =>
      Effect.gen(function* () {
        const scan = yield* scanFiles({ "a.tf": "", [name]: name.endsWith("json") ? "{}" : "" })
        expect(placedCodes(scan).filter((code) => !code.startsWith("opentofu_file"))).toEqual([
          `reserved_file_name ${name}:`
        ])
      })
    )
  }

  scanner.live("a module may have an override file that sorts before the runner's override file", () =>
    Effect.gen(function* () {
      expect((yield* scanFiles({ "a.tf": "", "override.tf": "", "z_override.tf.json": "{}" })).findings).toEqual([])
    })
  )

  scanner.live("a configuration file that is a link counts as missing, so the module is incomplete", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles(
        { "a.tf": "" },
        {
          omitted: [
            { path: "versions.tf", kind: "symlink" },
            { path: ".x.tf", kind: "symlink" }
          ]
        }
      )
      expect(placedCodes(scan)).toEqual(["config_file_omitted versions.tf:", "entries_omitted .:"])
      expect(scan.status).toBe("unsupported")
    })
  )

  scanner.live(
    "the scan warns about a root module's arguments that the runner removes or replaces, but not about child modules",
    () =>
      Effect.gen(function* () {
        const child = { "m/a.tf": 'terraform {\n  backend "s3" {\n  }\n}\n', "m/terraform.tfvars": "" }
        const scan = yield* scanFiles({
          "a.tf": call("m", "./m") + 'terraform {\n  backend "s3" {\n  }\n  experiments = [x]\n}\n',
          "terraform.tfvars": "",
          "prod.auto.tfvars.json": "{}",
          "named.tfvars": "",
          "terraform.tfstate": "{}",
          ...child
        })
        expect(scan.status).toBe("supported")
        expect(scan.findings.map(({ severity, code, path }) => `${severity} ${code} ${path}`)).toEqual([
          "warning experiments a.tf",
          "warning tfvars_ignored prod.auto.tfvars.json",
          "warning file_ignored terraform.tfstate",
          "warning tfvars_ignored terraform.tfvars",
          "info backend_overridden a.tf"
        ])
        const cloud = yield* scanFiles({ "a.tf": "terraform {\n  cloud {\n  }\n}\n" })
        expect(placedCodes(cloud)).toEqual(["cloud_overridden a.tf:2"])
      })
  )
})
