import { afterAll, describe, expect } from "bun:test"
import { Effect } from "effect"
import { ModuleScanner } from "../../../runner/scan/ModuleScanner.ts"
import { suite } from "../../support/Effect.ts"
import { errorCodes, placedCodes, scanFiles } from "./ScanFixtures.ts"

const scanner = suite(ModuleScanner.layer)
afterAll(scanner.dispose)

type Files = Readonly<Record<string, string | Uint8Array>>

const refuses = (name: string, files: Files, expected: ReadonlyArray<string>) =>
  scanner.live(name, () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles(files)
      expect(placedCodes(scan)).toEqual([...expected])
      expect(scan.status).toBe("unsupported")
      expect([scan.providerPackages, scan.rootProviderRequirements, scan.localModules]).toEqual([[], [], []])
    })
  )

const hcl = (name: string, text: string, ...expected: ReadonlyArray<string>) =>
  refuses(name, { "a.tf": text }, expected)
const json = (name: string, text: string, ...expected: ReadonlyArray<string>) =>
  refuses(name, { "a.tf.json": text }, expected)

/** Encodes text as Latin-1, so that é becomes the byte `\xe9`. */
const latin1 = (text: string) => new Uint8Array(Buffer.from(text, "latin1"))

describe("text", () => {
  const latin1Places = {
    "a string": 'output "a" {\n  value = "caf\xe9"\n}\n',
    "a heredoc": 'output "a" {\n  value = <<E\ncaf\xe9\nE\n}\n',
    "a name": 'output "a" {\n  value = caf\xe9\n}\n',
    "an encoded lone surrogate": 'output "a" {\n  value = "\xed\xa0\x80"\n}\n'
  }
  for (const [name, text] of Object.entries(latin1Places)) {
    refuses(`bytes that are not UTF-8: ${name}`, { "a.tf": latin1(text) }, ["invalid_utf8 a.tf:2"])
  }

  scanner.live("the scan accepts bytes that are not UTF-8 in comments and in JSON strings, as the tools do", () =>
    Effect.gen(function* () {
      const comments = [
        "# caf\xe9",
        "// don\x92t",
        "/* \xff\n\xc3 */",
        "locals {} # \xed\xa0\x80",
        "locals {\n  a = [1, # \xe9\n  2]\n}"
      ]
      for (const comment of comments) {
        const scan = yield* scanFiles({ "a.tf": latin1(`${comment}\nvariable "a" {\n  default = "x"\n}\n`) })
        expect([comment, scan.findings, scan.variables[0]?.default]).toEqual([comment, [], "x"])
      }
      const json = yield* scanFiles({
        "a.tf.json": latin1('{ "variable": { "a": { "default": "caf\xc3\xa9 \xe9\xc3" } } }')
      })
      expect([json.findings, json.variables[0]?.default]).toEqual([[], "café \ufffd\ufffd"])
    })
  )

  refuses("a byte order mark in JSON syntax", { "a.tf.json": "\ufeff{}" }, ["byte_order_mark a.tf.json:1"])
  hcl("an escaped lone surrogate", 'locals {\n  a = "\\ud800"\n}\n', "hcl_syntax a.tf:2")
  hcl("a Git LFS pointer", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n", "lfs_pointer a.tf:1")

  scanner.live("the scan accepts a byte order mark and Windows line endings", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf": '\ufeffvariable "a" {\r\n  default = "x"\r\n}\r\n',
        "b.tf.json": '{ "locals": { "a": 1 } }'
      })
      expect(scan.findings).toEqual([])
      expect(scan.variables[0]?.default).toBe("x")
    })
  )
})

describe("HCL syntax", () => {
  hcl("a broken file, with the line", 'variable "a" {\n  default =\n}\n', "hcl_syntax a.tf:2")
  hcl("a top-level argument", "foo = 3\n", "stray_argument a.tf:1")
  hcl(
    "a top-level argument that hides a block",
    'resource "evil_x" "y" {\n}\nresource = 1\n',
    "argument_hides_block a.tf:1",
    "stray_argument a.tf:3"
  )
  hcl(
    "an argument that hides a block inside of another",
    'terraform {\n  required_providers {\n    evil = { source = "acme/evil" }\n  }\n  required_providers = {}\n}\n',
    "argument_hides_block a.tf:2"
  )
  hcl("a missing label", "variable {\n}\n", "wrong_labels a.tf:1")
  hcl("one label too many", 'provider "a" "b" {\n}\n', "wrong_labels a.tf:1")
  hcl("one label too few", 'resource "a_b" {\n}\n', "wrong_labels a.tf:1")
  hcl("a label that is no name", 'variable "a b" {\n}\n', "invalid_name a.tf:1")
  hcl("an escaped label", 'variable "\\u0041" {\n}\n', "invalid_name a.tf:1")
  hcl("an unknown block", 'widget "a" {\n}\n', "unknown_block a.tf:1")
  hcl("an unknown block in terraform", 'terraform {\n  state_store "x" {\n  }\n}\n', "unknown_block a.tf:2")
  hcl("state encryption of the module's own", "terraform {\n  encryption {\n  }\n}\n", "state_encryption a.tf:2")
  hcl("a number out of range", "locals {\n  a = 1e1000000000\n}\n", "hcl_syntax a.tf:1")
})

describe("duplicates", () => {
  hcl("in one file", 'variable "a" {\n}\n\nvariable "a" {\n}\n', "duplicate_block a.tf:4")
  refuses("across files", { "a.tf": 'output "a" {\n}\n', "b.tf.json": '{ "output": { "a": {} } }' }, [
    "duplicate_block b.tf.json:1"
  ])
  hcl(
    "of modules",
    'module "a" {\n  source = "./"\n}\nmodule "a" {\n  source = "./"\n}\n',
    "module_cycle a.tf:2",
    "duplicate_block a.tf:4"
  )
  hcl("of resources", 'resource "a_b" "c" {\n}\nresource "a_b" "c" {\n}\n', "duplicate_block a.tf:3")
  hcl("of default providers", 'provider "a" {\n}\nprovider "a" {\n}\n', "duplicate_block a.tf:3")
  hcl(
    "of provider aliases",
    'provider "a" {\n  alias = "x"\n}\nprovider "a" {\n  alias = "x"\n}\n',
    "duplicate_block a.tf:4"
  )
  hcl("of local values", "locals {\n  a = 1\n}\nlocals {\n  a = 2\n}\n", "duplicate_block a.tf:5")
  hcl(
    "of required_providers",
    "terraform {\n  required_providers {\n  }\n}\nterraform {\n  required_providers {\n  }\n}\n",
    "duplicate_block a.tf:6"
  )
  refuses("of arguments in an override file's place", { "a.tf": "", "x_override.tf": 'variable "new" {\n}\n' }, [
    "override_without_base x_override.tf:1"
  ])

  scanner.live("a data source and a resource may share a name, as may providers with different aliases", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf":
          'data "a_b" "c" {\n}\nresource "a_b" "c" {\n}\nprovider "a" {\n}\nprovider "a" {\n  alias = "x"\n}\nterraform {\n}\nterraform {\n}\n'
      })
      expect(errorCodes(scan)).toEqual([])
    })
  )
})

describe("Variables and outputs in strict configurations", () => {
  hcl("a type in quotes", 'variable "a" {\n  type = "string"\n}\n', "quoted_type a.tf:2")
  hcl("an unknown type", 'variable "a" {\n  type = strng\n}\n', "invalid_type a.tf:2")
  hcl("a type that is a value", 'variable "a" {\n  type = 1\n}\n', "invalid_type a.tf:2")
  hcl("computed sensitivity", 'variable "a" {\n  sensitive = var.b\n}\n', "not_literal_boolean a.tf:2")
  hcl("sensitivity in other quoted words", 'variable "a" {\n  sensitive = "yes"\n}\n', "not_literal_boolean a.tf:2")

  scanner.live("the scan reads quoted booleans as the tools do", () =>
    Effect.gen(function* () {
      for (const [written, value] of [
        ['"true"', true],
        ['"1"', true],
        ['"false"', false],
        ['"0"', false],
        ["( true )", true]
      ] as const) {
        const scan = yield* scanFiles({
          "a.tf": `variable "a" {\n  sensitive = ${written}\n  nullable = ${written}\n  default = "secret"\n}\noutput "o" {\n  value     = 1\n  sensitive = ${written}\n}\n`
        })
        const [variable] = scan.variables
        expect([written, scan.findings, variable?.sensitive, variable?.nullable, scan.outputs[0]?.sensitive]).toEqual([
          written,
          [],
          value,
          value,
          value
        ])
        expect([written, variable?.default]).toEqual([written, value ? undefined : "secret"])
      }
    })
  )

  hcl(
    "an ephemeral output of the installed module",
    'output "a" {\n  ephemeral = true\n}\n',
    "ephemeral_root_output a.tf:1"
  )
  hcl("a description that is null", 'output "a" {\n  description = null\n}\n', "not_literal_text a.tf:2")
  hcl("no sensitivity at all", 'output "a" {\n  sensitive = null\n}\n', "not_literal_boolean a.tf:2")
  hcl(
    "computed ephemerality",
    'output "a" {\n  ephemeral = 1 == 1\n}\n',
    "ephemeral_root_output a.tf:1",
    "not_literal_boolean a.tf:2"
  )
  hcl("computed nullability", 'variable "a" {\n  nullable = f()\n}\n', "not_literal_boolean a.tf:2")
  hcl("a computed description", 'variable "a" {\n  description = "${var.x}"\n}\n', "not_literal_text a.tf:2")
  hcl("a name with a meaning of its own", 'variable "source" {\n}\n', "reserved_name a.tf:1")
  hcl(
    "a default of another type",
    'variable "a" {\n  type = number\n  default = "x"\n}\n',
    "default_type_mismatch a.tf:3"
  )
  hcl(
    "a default of null where null is not allowed",
    'variable "a" {\n  default = null\n  nullable = false\n}\n',
    "default_type_mismatch a.tf:2"
  )

  scanner.live("a variable counts as sensitive if its `sensitive` argument cannot be read", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({ "a.tf": 'variable "a" {\n  sensitive = var.b\n  default = "hunter2"\n}\n' })
      expect(scan.variables).toMatchObject([{ sensitive: true, hasDefault: true }])
      expect(JSON.stringify(scan)).not.toContain("hunter2")
    })
  )

  scanner.live("names of JavaScript built-ins can be used like any other name", () =>
    Effect.gen(function* () {
      const names = ["__proto__", "constructor", "hasOwnProperty", "toString"]
      const text = names.map((name) => `variable "${name}" {\n  default = { ${name} = 1 }\n}\n`).join("")
      const jsonText = JSON.stringify({
        output: Object.fromEntries([...names.slice(1), "x"].map((name) => [name, {}]))
      })
      const scan = yield* scanFiles({ "a.tf": text, "b.tf.json": jsonText.replace('"x"', '"__proto__"') })
      expect(scan.findings).toEqual([])
      expect(scan.variables.map(({ name }) => name)).toEqual([...names].sort())
      expect(scan.variables.map(({ defaultJson }) => defaultJson)).toContain('{"__proto__":1}')
      expect(scan.outputs.map(({ name }) => name)).toEqual([...names].sort())
      expect("polluted" in {}).toBe(false)
    })
  )

  scanner.live("variable defaults are converted to the variable's type without losing digits", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf": [
          'variable "a" {\n  type    = string\n  default = true\n}',
          'variable "b" {\n  type    = number\n  default = "2.50"\n}',
          'variable "c" {\n  type    = bool\n  default = "true"\n}',
          'variable "d" {\n  default = [1, 0.30000000000000000001]\n}',
          'variable "e" {\n  default = "$${kept} %%{kept}"\n}',
          'variable "f" {\n  default = null\n}',
          ""
        ].join("\n")
      })
      expect(scan.findings).toEqual([])
      expect(scan.variables.map((variable) => [variable.default, variable.defaultJson])).toEqual([
        ["true", '"true"'],
        [2.5, "2.50"],
        [true, "true"],
        [undefined, "[1,0.30000000000000000001]"],
        ["${kept} %{kept}", '"${kept} %{kept}"'],
        [null, "null"]
      ])
    })
  )
})

describe("JSON syntax", () => {
  json("broken text, with the line", '{\n  "locals": { "a": }\n}', "json_syntax a.tf.json:2")
  json("a comment", "{ // no\n}", "json_syntax a.tf.json:1")
  json("a list of something else at the top", '[{},\n "a"]', "json_syntax a.tf.json:2")
  json("a repeated argument", '{ "variable": { "a": { "default": 1,\n "default": 2 } } }', "duplicate_key a.tf.json:2")
  json(
    "a repeated key in a value",
    '{ "variable": { "a": { "default": { "x": 1, "x": 2 } } } }',
    "duplicate_key a.tf.json:1"
  )
  json("a name repeated by an escape", '{ "variable": { "a": {}, "\\u0061": {} } }', "duplicate_block a.tf.json:1")
  json("a number out of range", '{ "locals": { "a": 1e400 } }', "number_out_of_range a.tf.json:1")
  json("no name at all", '{ "variable": [] }', "wrong_labels a.tf.json:1")

  scanner.live(
    "the scan reads repeated blocks, top-level lists, half surrogate pairs and null blocks as the tools do",
    () =>
      Effect.gen(function* () {
        const texts = [
          '{ "variable": { "a": {} }, "//": 1, "variable": { "b": {} }, "//": 2 }',
          '[{ "variable": { "a": {} } }, { "variable": { "b": { "description": "\\ud800 ${x}" }, "c": null } }]'
        ]
        for (const text of texts) {
          const scan = yield* scanFiles({ "a.tf.json": text })
          expect([text, scan.findings, scan.variables.map(({ name }) => name)]).toEqual([text, [], ["a", "b"]])
        }
      })
  )
  json("deep nesting", `{ "locals": { "a": ${"[".repeat(250)}${"]".repeat(250)} } }`, "nesting_too_deep a.tf.json:1")
  json("an unknown block", '{ "widget": {} }', "unknown_block a.tf.json:1")
  json("an unknown block in terraform", '{ "terraform": {\n "widget": {} } }', "unknown_block a.tf.json:2")
  json("a block that is no object", '{ "variable": { "a": "x" } }', "wrong_labels a.tf.json:1")
  json(
    "a missing label",
    '{ "resource": { "a_b": [] , "c_d": { "e": 1 } } }',
    "wrong_labels a.tf.json:1",
    "wrong_labels a.tf.json:1"
  )
  json("a repeated block", '{ "variable": { "a": [{}, {}] } }', "duplicate_block a.tf.json:1")
  json(
    "a computed source",
    '{ "module": { "a": { "source": "${path.module}/x" } } }',
    "module_source_not_literal a.tf.json:1"
  )

  scanner.live("the scan accepts comments where the language allows them", () =>
    Effect.gen(function* () {
      const text = '{ "//": "x", "terraform": { "//": "y" }, "variable": { "a": { "//": "z", "type": "string" } } }'
      const scan = yield* scanFiles({ "a.tf.json": text })
      expect(scan.findings).toEqual([])
      expect(scan.variables).toMatchObject([{ name: "a", type: "string" }])
    })
  )
})

describe("providers", () => {
  const required = (body: string) => `terraform {\n  required_providers {\n    ${body}\n  }\n}\n`
  hcl("an address that is none", required('x = { source = "a b" }'), "invalid_provider a.tf:3")
  hcl("a computed address", required("x = { source = var.a }"), "invalid_provider a.tf:3")
  hcl("an unknown property", required('x = { source = "a/b", checksum = 1 }'), "invalid_provider a.tf:3")
  hcl("a name in upper case", required('X = { source = "a/b" }'), "invalid_provider a.tf:3")
  hcl("a constraint that is none", required('x = { version = "latest" }'), "invalid_version_constraint a.tf:3")
  hcl("an alias of another provider", required("x = { configuration_aliases = [y.z] }"), "invalid_provider a.tf:3")
  hcl("an alias that is no name", 'provider "a" {\n  alias = var.x\n}\n', "invalid_provider a.tf:2")
  hcl("a computed provider of a resource", 'resource "a_b" "c" {\n  provider = f(x)\n}\n', "invalid_provider a.tf:2")
  hcl("a resource type without a provider", 'resource "_b" "c" {\n}\n', "invalid_provider a.tf:1")
  hcl(
    "a constraint on the tool that is none",
    'terraform {\n  required_version = "new"\n}\n',
    "invalid_version_constraint a.tf:2"
  )

  scanner.live("the scan collects provider requirements from every block that may contain them", () =>
    Effect.gen(function* () {
      const scan = yield* scanFiles({
        "a.tf": [
          required('req = { source = "acme/req" }\n    old = "~> 1.0"'),
          'provider "conf" {\n  version = ">= 2"\n}\n',
          'resource "res_a" "b" {\n}\n',
          'data "dat_a" "b" {\n}\n',
          'ephemeral "eph_a" "b" {\n}\n',
          'resource "x_a" "b" {\n  provider = ref.alias\n}\n',
          'resource "x_a" "c" {\n  provider = "quoted"\n}\n',
          'resource "x_a" "d" {\n  provider = keyed.by[each.key]\n}\n',
          'resource "x_a" "e" {\n  provider = null\n}\n',
          "import {\n  to       = y_a.b\n  id       = 1\n  provider = imp\n}\n",
          'import {\n  to = z_a.b["k"]\n  id = 1\n}\n',
          'check "c" {\n  data "chk_a" "b" {\n  }\n}\n',
          'data "terraform_remote_state" "s" {\n}\n',
          "removed {\n  from = gone_a.b\n}\n"
        ].join("")
      })
      expect(errorCodes(scan)).toEqual([])
      const names = ["chk", "conf", "dat", "eph", "imp", "keyed", "null", "old", "quoted", "ref", "req", "res", "z"]
      expect(scan.providerPackages.map(({ source }) => source).sort()).toEqual(
        names.map((name) => (name === "req" ? "acme/req" : `hashicorp/${name}`)).sort()
      )
      expect(scan.rootProviderRequirements.map(({ moduleLocalName }) => moduleLocalName).sort()).toEqual(names)
      expect(scan.providerPackages.filter(({ versionConstraints }) => versionConstraints.length > 0)).toEqual([
        { source: "hashicorp/conf", versionConstraints: [">= 2"] },
        { source: "hashicorp/old", versionConstraints: ["~> 1.0"] }
      ])
    })
  )
})
