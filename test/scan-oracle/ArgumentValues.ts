import * as fc from "fast-check"
import type { Files } from "./Snippets.ts"

export const oneOf = (...texts: ReadonlyArray<string>) => fc.constantFrom(...texts)

export const main = (text: fc.Arbitrary<string>): fc.Arbitrary<Files> =>
  text.map((content) => ({ "main.tf": `${content}\n` }))

/** Generates a block with one argument, whose value is drawn from a list. */
export const argument = (header: string, names: ReadonlyArray<string>, values: fc.Arbitrary<string>, rest = "") =>
  fc.tuple(fc.constantFrom(...names), values).map(([name, value]) => `${header} {\n  ${name} = ${value}\n${rest}}`)

export const boolean = oneOf(
  "true",
  "false",
  '"true"',
  '"false"',
  '"1"',
  '"0"',
  '"yes"',
  '"TRUE"',
  '""',
  "1",
  "0",
  "null",
  "!true",
  "(true)",
  "( false )",
  '"${true}"',
  "true && false",
  "1 == 1",
  "var.x",
  "local.x",
  "tobool(true)",
  "[true]",
  "{}",
  "<<E\ntrue\nE"
)

export const text = oneOf(
  '"x"',
  '""',
  "1",
  "1.50",
  "true",
  "null",
  '"${"x"}"',
  '"a${1}"',
  '"$${x}"',
  '"%%{x}"',
  '"%{ if true }a%{ endif }"',
  "[]",
  "{}",
  "var.x",
  'join("", ["a"])',
  "<<E\nx\nE",
  "<<-E\n    x\n  E",
  '"\\u00e9\\n"',
  '"\\ud800"',
  '"é"',
  '("x")'
)

const keyword = oneOf("string", "number", "bool", "any")

export const { type } = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 3 },
    keyword,
    fc.tuple(oneOf("list", "set", "map"), tie("type")).map(([kind, element]) => `${kind}(${element})`),
    fc.array(tie("type"), { maxLength: 3 }).map((elements) => `tuple([${elements.join(", ")}])`),
    fc
      .uniqueArray(fc.tuple(oneOf("a", "b", "c-d", "é"), tie("type"), fc.nat(4)), {
        maxLength: 3,
        selector: ([name]) => name
      })
      .map((entries) =>
        entries.map(
          ([name, of, form]) =>
            `${name} = ${form === 0 ? `optional(${of})` : form === 1 ? `optional(${of}, null)` : of}`
        )
      )
      .map((entries) => `object({ ${entries.join(", ")} })`)
  )
}))

export const oddType = oneOf(
  '"string"',
  '"list"',
  "list",
  "map",
  "set",
  "object",
  "tuple",
  "list(list)",
  "list()",
  "list(string, number)",
  "String",
  "(string)",
  "list(string,)",
  "tuple([string,])",
  "object({ a: string })",
  'object({ "a" = string })',
  "object([])",
  "object({ a = string, a = number })",
  "object({ (a) = string })",
  "object({ 1 = string })",
  "optional(string)",
  "null",
  "1",
  "list(optional(string))",
  'list("string")',
  "list[string]",
  "var.x",
  "string # c",
  "list(\n  string\n)",
  "map(\n string)",
  "object({ a = optional() })",
  'object({ a = optional(number, "x") })',
  "object({\n a = string\n b = number\n})",
  '"${string}"'
)

export const literal = oneOf(
  "null",
  '"x"',
  '"1"',
  '"0"',
  '"true"',
  '"TRUE"',
  '" 1"',
  '"1."',
  '".5"',
  '"+1"',
  '"01"',
  '"0x10"',
  '"1e3"',
  '"1_0"',
  '"Inf"',
  "1",
  "1.5",
  "-1",
  "01",
  "1e3",
  "1e400",
  "12345678901234567890",
  "true",
  "false",
  "[]",
  "[1]",
  '["a", 1]',
  "[[]]",
  "[null]",
  "[true, 1]",
  '["1", "1"]',
  "{}",
  "{ a = 1 }",
  '{ a = "x", b = [] }',
  "{ a = null }",
  '{ "a" : 1 }',
  '{ ("a") = 1 }',
  "{ a = 1, a = 2 }",
  "<<E\nx\nE",
  '"${1}"',
  "1 + 1",
  "(1)",
  "!true",
  "true ? 1 : 2",
  "[for x in [1] : x]",
  "var.x",
  'f("")'
)

export const name = oneOf(
  "a",
  "a-b",
  "_a",
  "é",
  "日本",
  "a1",
  "1a",
  "a b",
  "",
  "a.b",
  "a*",
  "${a}",
  "\\u0061",
  "source",
  "version",
  "providers",
  "count",
  "for_each",
  "lifecycle",
  "depends_on",
  "locals",
  "path",
  "self",
  "each",
  "terraform",
  "null",
  "true",
  "-a",
  "a\u0301"
)

export const constraint = oneOf(
  ">= 1.0",
  "> 1",
  "< 2",
  "<= 1.11.4",
  "~> 1.11",
  "~> 1.11.0",
  "~> 1",
  "~> 1.11.4.0",
  "= 1.11.4",
  "1.11.4",
  "1.11",
  "!= 1.11.4",
  "v1.11.4",
  ">= v1",
  ">=1.0,<2.0",
  " >= 1.0 , < 2 ",
  ">= 1.0,",
  ",",
  "",
  " ",
  "=> 1",
  "== 1",
  ">=1.0 <2.0",
  "1.x",
  "*",
  "latest",
  ">= 1.11.4-rc1",
  "~> 1.11.0-beta1, < 2",
  "!= 1.11.4-rc1",
  "< 99.0.0-alpha",
  "1.11.4+meta",
  "1.11.4.0",
  ">= 01.0",
  ">= 99",
  "\\t>= 1"
)

export const requirement = oneOf(
  '"~> 1.0"',
  '""',
  '"x"',
  "{}",
  "1",
  "null",
  "true",
  "[]",
  '{ source = "hashicorp/aws" }',
  '{ source = "aws" }',
  "{ source = null }",
  '{ source = "" }',
  '{ source = "a/b/c/d" }',
  '{ source = "registry.terraform.io/hashicorp/aws" }',
  '{ source = "HashiCorp/AWS" }',
  '{ source = "x--y/z" }',
  '{ source = "x/terraform-provider-y" }',
  '{ source = "x/terraform-y" }',
  '{ source = "a.b:8080/x/y" }',
  '{ source = "localhost/x/y" }',
  '{ source = "terraform.io/builtin/terraform" }',
  '{ source = "x/y/" }',
  '{ source = "-/aws" }',
  '{ source = "例え.jp/x/y" }',
  '{ source = "x/é" }',
  "{ source = var.x }",
  '{ source: "hashicorp/aws" }',
  '{ "source" = "hashicorp/aws" }',
  '{ version = ">= 1.0-beta" }',
  '{ version = "" }',
  "{ version = null }",
  "{ version = 1 }",
  '{ version = "v1" }',
  '{ version = "1.2.3.4" }',
  '{ version = "1.x" }',
  '{ version = ">=1, " }',
  "{ other = 1 }",
  "{ configuration_aliases = [] }",
  "{ configuration_aliases = null }",
  "{ configuration_aliases = [aws.a] }",
  "{ configuration_aliases = [aws.a, aws.a] }",
  "{ configuration_aliases = [b.a] }",
  "{ configuration_aliases = [aws] }",
  '{ configuration_aliases = ["aws.a"] }',
  "{ configuration_aliases = aws.a }",
  "merge({}, {})"
)

export const moduleFiles = (
  call: fc.Arbitrary<string>,
  child: fc.Arbitrary<string> = fc.constant("")
): fc.Arbitrary<Files> =>
  fc.tuple(call, child).map(([body, content]) => ({
    "main.tf": `module "m" {\n  ${body}\n}\n`,
    "c/main.tf": `${content}\n`
  }))

export const source = oneOf(
  "./c",
  "./c/",
  "./c//",
  "./x/../c",
  "./c/.",
  ".//c",
  ".",
  "./",
  "c",
  "./d",
  "",
  "../c",
  "/tmp",
  "./c ",
  " ./c",
  "./c?x=1",
  "./%63",
  "./c/main.tf",
  "./c\\\\",
  ".\\\\c",
  './${"c"}',
  "git::https://example.com/x.git",
  "github.com/x/y",
  "x/y/z",
  "https://example.com/x.zip"
)

export const dataResource = (body: string) =>
  `resource "terraform_data" "a" {\n  ${body}\n}\nresource "terraform_data" "b" {\n}\n`

export const resourceBody = oneOf(
  "",
  "input = 1",
  'input = "${1}"',
  "count = 2",
  'count = "2"',
  "count = -1",
  "count = true",
  "for_each = {}",
  'for_each = toset(["a"])',
  "for_each = [1]",
  "count = 1\n  for_each = {}",
  "depends_on = [terraform_data.b]",
  'depends_on = ["terraform_data.b"]',
  "depends_on = []",
  "depends_on = [terraform_data.missing]",
  "provider = terraform",
  'provider = "terraform"',
  "provider = terraform.x",
  "provider = 1",
  "lifecycle {\n    create_before_destroy = true\n  }",
  'lifecycle {\n    prevent_destroy = "true"\n  }',
  "lifecycle {\n    ignore_changes = all\n  }",
  "lifecycle {\n    ignore_changes = [input]\n  }",
  'lifecycle {\n    ignore_changes = ["input"]\n  }',
  "lifecycle {\n    other = 1\n  }",
  "lifecycle {\n    replace_triggered_by = [terraform_data.b]\n  }",
  'lifecycle {\n    precondition {\n      condition     = terraform_data.b.id != ""\n      error_message = "x"\n    }\n  }',
  "lifecycle {\n  }\n  lifecycle {\n  }",
  'provisioner "local-exec" {\n    command = "true"\n  }',
  'provisioner "local-exec" {\n    when    = destroy\n    command = "true"\n  }',
  'provisioner "nope" {\n  }',
  'connection {\n    host = "x"\n  }',
  'dynamic "x" {\n    for_each = []\n    content {\n    }\n  }',
  "unknown = 1",
  "unknown {\n  }",
  "input = terraform_data.missing.id",
  "input = var.missing",
  "input = foo()",
  'input = file("missing")',
  "input = self.id",
  "input = each.key",
  "_ {\n    input = 1\n  }",
  "input = provider::x::y(1)",
  "input = <<-E\n    ${1}\n  E",
  "input = [for k, v in { a = 1 } : k => v]",
  "input = { for k, v in { a = 1 } : k => v }"
)

export const address = oneOf(
  "terraform_data.a",
  "terraform_data.old",
  'terraform_data.a["x"]',
  "terraform_data.a[0]",
  "module.m",
  "module.m.terraform_data.a",
  "data.terraform_remote_state.x",
  '"terraform_data.old"',
  "var.x",
  "null",
  "terraform_data",
  "terraform_data.a.id",
  "terraform_data[0].a",
  "1"
)
