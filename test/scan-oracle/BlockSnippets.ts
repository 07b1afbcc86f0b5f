import * as fc from "fast-check"
import {
  oneOf,
  main,
  argument,
  boolean,
  text,
  type,
  oddType,
  literal,
  name,
  constraint,
  requirement,
  moduleFiles,
  source,
  dataResource,
  resourceBody,
  address
} from "./ArgumentValues.ts"
import type { Files } from "./Snippets.ts"

/** The blocks of the language and their arguments, in HCL syntax. */
export const blockKinds: Readonly<Record<string, fc.Arbitrary<Files>>> = {
  "boolean arguments": main(
    fc.oneof(
      argument('variable "a"', ["sensitive", "nullable", "ephemeral"], boolean),
      argument('output "a"', ["sensitive", "ephemeral"], boolean, "  value = 1\n")
    )
  ),
  descriptions: main(
    fc.oneof(
      argument('variable "a"', ["description"], text),
      argument('output "a"', ["description"], text, "  value = 1\n")
    )
  ),
  "variable types": main(
    argument('variable "a"', ["type"], fc.oneof({ arbitrary: type, weight: 2 }, { arbitrary: oddType, weight: 3 }))
  ),
  "variable defaults": main(
    fc
      .tuple(fc.option(type), literal, fc.nat(5))
      .map(
        ([of, value, form]) =>
          `variable "a" {\n${of === null ? "" : `  type = ${of}\n`}${form === 0 ? "  nullable = false\n" : ""}  default = ${value}\n}`
      )
  ),
  "variable blocks": main(
    oneOf(
      "variable {\n}",
      'variable "a" "b" {\n}',
      "variable a {\n}",
      'variable "a" {\n}\nvariable "a" {\n}',
      'variable "a" {\n  foo = 1\n}',
      'variable "a" {\n  validation {\n    condition     = var.a != ""\n    error_message = "x"\n  }\n}',
      'variable "a" {\n  validation {\n    condition = true\n  }\n}',
      'variable "a" {\n  default = 1\n  default = 2\n}',
      'variable "a" { default = 1, type = number }',
      'variable "a" {}',
      'variable "a" { default = 1 }',
      'variable "a" {\n  deprecated = "x"\n}',
      'variable "a" {\n  const = true\n}',
      'variable "a"\n{\n}',
      'variable "a" {\n  type = string\n  type = number\n}'
    )
  ),
  names: main(
    fc
      .tuple(
        fc.constantFrom(
          'variable "N" {\n}',
          'output "N" {\n  value = 1\n}',
          'resource "terraform_data" "N" {\n}',
          'check "N" {\n}',
          'locals {\n  "N" = 1\n}',
          'provider "N" {\n}'
        ),
        name
      )
      .map(([block, given]) => block.replace("N", () => given))
  ),
  outputs: main(
    oneOf(
      'output "a" {\n}',
      'output "a" {\n  value = 1\n}\noutput "a" {\n  value = 1\n}',
      'output "a" {\n  value = var.x\n}',
      'output "a" {\n  value = foo(1)\n}',
      'output "a" {\n  value = 1\n  foo   = 1\n}',
      'output "a" {\n  value = 1\n  depends_on = []\n}',
      'output "a" {\n  value = 1\n  depends_on = ["x"]\n}',
      'variable "s" {\n  sensitive = true\n}\noutput "a" {\n  value = var.s\n}',
      'variable "s" {\n  ephemeral = true\n}\noutput "a" {\n  value = var.s\n}',
      'output "a" {\n  value = 1\n  precondition {\n    condition     = path.module != ""\n    error_message = "x"\n  }\n}',
      'output "a" {\n  value = [1][5]\n}'
    )
  ),
  locals: main(
    oneOf(
      "locals {\n  a = 1\n  b = local.a\n}",
      "locals {\n  a = local.b\n  b = local.a\n}",
      "locals {\n  a = 1\n}\nlocals {\n  a = 2\n}",
      "locals {\n  a {\n  }\n}",
      'locals "a" {\n}',
      "locals {\n}",
      "locals { a = 1 }",
      "locals { a = 1, b = 2 }",
      "locals {\n  a = 1e400\n}",
      "locals\n{\n}",
      "locals = {}",
      "locals {\n  a = [1][*]\n}",
      "locals {\n  a = {\n    b = 1\n    c = 2, d = 3\n  }\n}",
      "locals {\n  a = [\n    1,\n    2,\n  ]\n}",
      'locals {\n  a = templatefile("x", {})\n}',
      "locals {\n  a = 1 +\n}",
      "locals {\n  a = timestamp()\n}",
      "locals {\n  a = (\n    1\n    + 2\n  )\n}",
      'locals {\n  a = "${"${"x"}"}"\n}',
      "locals {\n  a = <<E\n${<<F\nx\nF\n}\nE\n}",
      "locals {\n  a = <<E\nx\n}"
    )
  ),
  templates: main(
    fc
      .array(
        oneOf(
          "a",
          "${1}",
          "$${x}",
          "%%{x}",
          "%{ if true }b%{ endif }",
          "%{ for x in [1] }${x}%{ endfor }",
          "${~ 1 ~}",
          "\\n",
          '\\"',
          "$",
          "%",
          "{",
          "}",
          "${",
          "%{",
          "\\x",
          "é",
          "${var.x}"
        ),
        { minLength: 1, maxLength: 4 }
      )
      .map((parts) => `locals {\n  a = "${parts.join("")}"\n}`)
  ),
  heredocs: main(
    fc
      .tuple(
        oneOf("<<E", "<<-E", "<< E", '<<"E"', "<<E # c"),
        fc.array(oneOf("x", " x", "${1}", "E x", " E", "#", '"', "$${y}", "%{ if true }", "%{ endif }", ""), {
          maxLength: 3
        }),
        oneOf("E", "  E", "E\n", "E ", "\tE", "F")
      )
      .map(([open, lines, close]) => `locals {\n  a = ${[open, ...lines, close].join("\n")}\n}`)
  ),
  required_version: main(
    fc.oneof(
      { arbitrary: constraint.map((value) => `terraform {\n  required_version = "${value}"\n}`), weight: 4 },
      {
        arbitrary: oneOf(
          "1.0",
          "null",
          "true",
          '["1"]',
          "var.a",
          '">= ${1}"',
          '">= 1.0"\n  required_version = ">= 1.0"'
        ).map((value) => `terraform {\n  required_version = ${value}\n}`),
        weight: 1
      }
    )
  ),
  required_providers: main(
    fc
      .tuple(oneOf("aws", "aws", "aws", "AWS", '"aws"', "a_b", "a-b", "terraform", "é", "1a"), requirement)
      .map(([local, value]) => `terraform {\n  required_providers {\n    ${local} = ${value}\n  }\n}`)
  ),
  "terraform blocks": main(
    oneOf(
      'backend "local" {\n  }',
      'backend "nope" {\n  }',
      "backend {\n  }",
      'backend "local" {\n  }\n  backend "s3" {\n  }',
      "cloud {\n  }",
      'cloud {\n  }\n  backend "local" {\n  }',
      'provider_meta "aws" {\n    x = 1\n  }',
      'provider_meta "aws" {\n  }\n  provider_meta "aws" {\n  }',
      "encryption {\n  }",
      "foo = 1",
      "foo {\n  }",
      "experiments = []",
      "experiments = [x]",
      "language = TF2021",
      'language = "TF2021"',
      "language = TF2020",
      "required_providers {\n  }\n  required_providers {\n  }",
      'required_providers "x" {\n  }',
      "required_providers {\n    aws {\n    }\n  }"
    ).map((body) => `terraform {\n  ${body}\n}`)
  ),
  "top-level blocks": main(
    oneOf(
      "foo = 1",
      "foo {\n}",
      'terraform "x" {\n}',
      "terraform = 1",
      "terraform {\n}\nterraform {\n}",
      "language {\n}",
      'action "a" "b" {\n}',
      'list "a" "b" {\n}',
      "variables {\n}",
      'run "x" {\n}',
      'mock_provider "x" {\n}',
      'component "x" {\n}',
      'policy "x" {\n}',
      "}",
      "{",
      '"variable" "a" {\n}',
      'variable "a" {',
      "atlas {\n}",
      "",
      "# only a comment"
    )
  ),
  "provider blocks": main(
    oneOf(
      '"terraform" {\n}',
      '"terraform" {\n}\nprovider "terraform" {\n}',
      '"aws" {\n  alias = "a"\n}\nprovider "aws" {\n  alias = "a"\n}',
      '"aws" {\n  alias = var.x\n}',
      '"aws" {\n  alias = 1\n}',
      '"aws" {\n  alias = "a b"\n}',
      '"aws" {\n  alias = null\n}',
      '"aws" {\n  alias    = "x"\n  for_each = { a = 1 }\n}',
      '"aws" {\n  for_each = {}\n}',
      '"aws" {\n  count = 1\n}',
      '"aws" {\n  depends_on = []\n}',
      '"aws" {\n  source = "x"\n}',
      '"aws" {\n  version = "~> 3"\n}',
      '"aws" {\n  version = "x"\n}',
      '"aws" {\n  lifecycle {\n  }\n}',
      '"AWS" {\n}',
      '"a b" {\n}',
      '"a--b" {\n}',
      '"a_b" {\n}',
      '"terraform-provider-x" {\n}',
      '"1a" {\n}',
      '"aws" {\n  _ {\n    alias = "x"\n  }\n}',
      '"aws" "b" {\n}',
      "{\n}",
      '"terraform" {\n  foo = 1\n}'
    ).map((body) => `provider ${body}`)
  ),
  "module sources": moduleFiles(source.map((value) => `source = "${value}"`)),
  "module calls": moduleFiles(
    oneOf(
      "",
      "source = var.x",
      "source = null",
      "source = 1",
      'source = ("./c")',
      'source = true ? "./c" : "./d"',
      "source = <<E\n./c\nE",
      'source = join("", ["./c"])',
      'source = "./c"\n  version = "1.0"',
      'source = "./c"\n  version = null',
      'source = "./c"\n  count = 2',
      'source = "./c"\n  count = 2\n  for_each = {}',
      'source = "./c"\n  depends_on = []',
      'source = "./c"\n  x = 1',
      'source = "./c"\n  foo {\n  }',
      'source = "./c"\n  lifecycle {\n  }',
      'source = "./c"\n  providers {\n  }',
      'source = "./c"\n}\nmodule "m" {\n  source = "./c"',
      'source = "./c"\n}\nmodule "1" {\n  source = "./c"',
      'source = "./c"\n}\nmodule {\n  source = "./c"'
    )
  ),
  "child modules": moduleFiles(
    oneOf('source = "./c"', 'source = "./c"', 'source = "./c"\n  count = 1'),
    oneOf(
      "",
      'variable "x" {\n}',
      'terraform {\n  backend "local" {\n  }\n}',
      'output "a" {\n  value     = 1\n  ephemeral = true\n}',
      'terraform {\n  required_version = "< 1"\n}',
      'terraform {\n  required_version = ">= 1.0.0-rc1"\n}',
      'resource "terraform_data" "a" {\n}\nimport {\n  to = terraform_data.a\n  id = "x"\n}',
      'provider "terraform" {\n}',
      'module "b" {\n  source = "../c"\n}',
      'module "b" {\n  source = "../d"\n}',
      'module "b" {\n  source = "../"\n}',
      "}{",
      'variable "a" {\n  sensitive = "true"\n}'
    )
  ),
  "passed providers": fc
    .tuple(
      oneOf(
        "{ aws = aws }",
        "{ aws = aws.x }",
        '{ "aws" = "aws.x" }',
        "{ aws.y = aws.x }",
        '{ "aws.y" = aws.x }',
        "{ aws = aws, aws = aws }",
        "[]",
        "{}",
        "{ aws = aws[0] }",
        "{ aws = null }",
        "null",
        "{ aws = var.x }",
        "{ aws: aws }",
        '{ aws = aws["a"] }',
        "{ aws = aws.x[each.key] }",
        "merge({}, {})",
        "{ for k in [] : k => k }",
        "{ aws.y = aws.x, aws = aws }",
        "{ other = aws }"
      ),
      fc.boolean()
    )
    .map(([value, expects]) => ({
      "main.tf": `module "m" {\n  source    = "./c"\n  providers = ${value}\n}\nprovider "aws" {\n}\nprovider "aws" {\n  alias = "x"\n}\n`,
      "c/main.tf": `terraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n${expects ? "      configuration_aliases = [aws.y]\n" : ""}    }\n  }\n}\n`
    })),
  resources: main(resourceBody.map(dataResource)),
  "resource blocks": main(
    oneOf(
      'resource "terraform_data" {\n}',
      "resource {\n}",
      'resource "terraform_data" "a" "b" {\n}',
      'resource "terraform_data" "a" {\n}\nresource "terraform_data" "a" {\n}',
      "resource terraform_data a {\n}",
      'resource "aws_x" "a" {\n}',
      'resource "terraform_nope" "a" {\n}',
      'data "terraform_remote_state" "a" {\n  backend = "local"\n}',
      'data "terraform_data" "a" {\n}',
      'data "aws_x" "a" {\n  count = 1\n}',
      'data "x" "a" {\n}\nresource "x" "a" {\n}',
      'ephemeral "aws_x" "a" {\n}',
      'ephemeral "terraform_data" "a" {\n}',
      'ephemeral "aws_x" {\n}',
      'resource "Aws_x" "a" {\n}',
      'resource "1_x" "a" {\n}',
      'resource "_x" "a" {\n}',
      'resource "aws-x_y" "a" {\n}',
      'data "terraform_remote_state" "a" {\n  backend = "local"\n  lifecycle {\n  }\n}'
    )
  ),
  "moved, removed and import blocks": main(
    fc.tuple(oneOf("moved", "removed", "import"), address, address, fc.nat(5)).map(([block, first, second, form]) => {
      const rest = form === 0 ? "  other = 1\n" : ""
      if (block === "moved") return `moved {\n  from = ${first}\n  to   = ${second}\n${rest}}\n${dataResource("")}`
      if (block === "removed")
        return `removed {\n  from = ${first}\n  lifecycle {\n    destroy = ${form % 2 === 0}\n  }\n${rest}}\n`
      return `import {\n  to = ${first}\n  id = "x"\n${rest}}\n${dataResource("")}`
    })
  ),
  checks: main(
    oneOf(
      'check "a" {\n  assert {\n    condition     = terraform_data.a.id != ""\n    error_message = "x"\n  }\n}',
      'check "a" {\n}',
      "check {\n}",
      'check "a" {\n  data "terraform_remote_state" "x" {\n    backend = "local"\n  }\n  assert {\n    condition     = data.terraform_remote_state.x.backend != ""\n    error_message = "x"\n  }\n}',
      'check "a" {\n  assert {\n    condition     = terraform_data.a.id != ""\n    error_message = "x"\n  }\n}\ncheck "a" {\n}',
      'check "a" {\n  resource "x" "y" {\n  }\n}',
      'check "a" {\n  data "x" "y" {\n  }\n  data "x" "z" {\n  }\n}',
      'check "a" {\n  foo = 1\n}'
    ).map((block) => `${block}\nresource "terraform_data" "a" {\n}`)
  )
}
