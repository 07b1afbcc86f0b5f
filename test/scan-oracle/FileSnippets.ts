import * as fc from "fast-check"
import { oneOf } from "./ArgumentValues.ts"
import type { Files } from "./Snippets.ts"

/** Encodes each character as one byte. */
const bytes = (text: string) => new Uint8Array(Buffer.from(text, "latin1"))

const output = 'output "a" {\n  value = 1\n}\n'

const json = (text: fc.Arbitrary<string>): fc.Arbitrary<Files> => text.map((content) => ({ "main.tf.json": content }))

const odd = oneOf(
  "\xe9",
  "\xff",
  "\xc3",
  "\xc3\xa9",
  "\xed\xa0\x80",
  "\xc0\x80",
  "\xf5\x80\x80\x80",
  "\xf0\x9f\x98\x80",
  "\x92",
  "\0",
  "\x0c",
  "\xef\xbb\xbf",
  "\xc2\xa0",
  "\xe2\x80\xa8"
)
const place = fc.constantFrom<(byte: string) => string>(
  (byte) => `# ${byte}\n${output}`,
  (byte) => `// ${byte}\n${output}`,
  (byte) => `/* ${byte} */ ${output}`,
  (byte) => `${output}# ${byte}`,
  (byte) => `locals {\n  a = [1, # ${byte}\n    2]\n}\n`,
  (byte) => `locals {\n  a = "${byte}"\n}\n`,
  (byte) => `locals {\n  a = <<E\n${byte}\nE\n}\n`,
  (byte) => `locals {\n  a = "\${1 /* ${byte} */}"\n}\n`,
  (byte) => `locals {\n  a${byte} = 1\n}\n`,
  (byte) => `locals {\n  a = 1 ${byte}\n}\n`,
  (byte) => `output "${byte}" {\n  value = 1\n}\n`,
  (byte) => `${byte}${output}`
)

const jsonString = oneOf(
  '"a"',
  '"caf\xe9"',
  '"\\ud800"',
  '"\\ud83d\\ude00"',
  '"a\tb"',
  '"${x}"',
  '"$${x}"',
  '"%{x"',
  '"\\u0000"',
  '"\\x"',
  "'a'",
  '"a',
  '"\xff\xfe"'
)

const override = oneOf(
  "override.tf",
  "a_override.tf",
  "override.tf.json",
  "x_override.tf.json",
  "override.tofu",
  "override_a.tf",
  "_override.tf",
  "Override.tf"
)

/** Encodings, the JSON syntax, names of files and overrides. */
export const fileKinds: Readonly<Record<string, fc.Arbitrary<Files>>> = {
  encodings: fc.tuple(odd, place).map(([byte, at]) => ({ "main.tf": bytes(at(byte)) })),
  "whole files": fc.constantFrom<Files>(
    { "main.tf": `\ufeff${output}` },
    { "main.tf": `\ufeff\ufeff${output}` },
    { "main.tf": new Uint8Array(Buffer.from(`\ufeff${output}`, "utf16le")) },
    { "main.tf": output.replaceAll("\n", "\r\n") },
    { "main.tf": output.replaceAll("\n", "\r") },
    { "main.tf": output.trimEnd() },
    { "main.tf": "" },
    { "main.tf.json": "" },
    { "main.tf.json": '\ufeff{ "locals": { "a": 1 } }' },
    { "main.tf.json": '{ "locals": { "a": 1 } } {}' },
    { "main.tf": '{ "locals": { "a": 1 } }' },
    { "main.tf": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n" }
  ),
  "JSON texts": fc
    .tuple(
      jsonString,
      oneOf(
        '{"locals":{"a":S}}',
        '{"variable":{"a":{"default":S}}}',
        '{"variable":{"a":{"description":S}}}',
        '{"//":S}',
        '{"output":{"a":{"value":S}}}',
        '{"output":{S:{"value":1}}}'
      )
    )
    .map(([text, around]) => ({ "main.tf.json": bytes(around.replace("S", () => text)) })),
  "JSON roots": json(
    oneOf(
      "[]",
      "{}",
      "null",
      '"a"',
      "1",
      "[[]]",
      '["a"]',
      "[null]",
      "[{}]",
      '[{"output":{"a":{"value":1}}},{"output":{"b":{"value":1}}}]',
      '[{"output":{"a":{"value":1}}},{"output":{"a":{"value":1}}}]',
      '[{"foo":1}]',
      '{"foo":{}}',
      '{"foo":null}',
      '{"//":{}}',
      '{"locals":{"a":1,}}',
      "{} x",
      "{}{}",
      '{"locals":{"a":01}}',
      '{"locals":{"a":1e400}}',
      '{"locals":{"a":NaN}}',
      '{"locals":{"a":.5}}'
    )
  ),
  "JSON keys": json(
    oneOf(
      '{"output":{"a":{"value":1}},"output":{"b":{"value":2}}}',
      '{"variable":{"a":{"default":1},"a":{"default":2}}}',
      '{"variable":{"a":{"default":1,"default":2}}}',
      '{"variable":{"a":{"default":{"x":1,"x":2}}}}',
      '{"locals":{"a":1,"a":2}}',
      '{"//":"a","//":"b"}',
      '{"terraform":{"required_version":">= 1"},"terraform":{"required_version":">= 1.0"}}',
      '{"terraform":{"required_version":">= 1","required_version":">= 1.0"}}',
      '{"locals":{"//":1,"//":2,"a":1}}',
      '{"resource":{"terraform_data":{"a":{}},"terraform_data":{"b":{}}}}',
      '{"resource":{"terraform_data":{"a":{"lifecycle":{},"lifecycle":{}}}}}',
      '{"resource":{"terraform_data":{"a":{"input":{"x":1,"x":2}}}}}',
      '{"terraform":{"backend":{"local":{}},"backend":{"local":{}}}}',
      '{"terraform":{"required_providers":{"aws":"1"},"required_providers":{"b":"1"}}}',
      '{"variable":{"a":{"//":1,"//":2}}}'
    )
  ),
  "JSON shapes": json(
    fc
      .tuple(
        oneOf("variable", "output", "locals", "terraform", "provider", "resource", "check", "moved", "import"),
        oneOf(
          "{}",
          "[]",
          "null",
          '"a"',
          "1",
          '{"a":{}}',
          '{"a":null}',
          '{"a":[]}',
          '{"a":[{}]}',
          '{"a":[{},{}]}',
          '{"a":"x"}',
          '[{"a":{}},{"b":{}}]',
          '[{"a":{}},{"a":{}}]',
          '{"1a":{}}',
          '{"//":"c","a":{}}',
          "[null]",
          '{"a":{"b":{}}}',
          "[[]]"
        )
      )
      .map(([block, value]) => `{"${block}":${value}}`)
  ),
  "JSON arguments": json(
    fc
      .tuple(
        oneOf("type", "default", "sensitive", "nullable", "description", "foo"),
        oneOf(
          '"string"',
          '"list(string)"',
          '"${string}"',
          '"\\"string\\""',
          '"object({})"',
          "1",
          "true",
          "null",
          '"true"',
          '"1"',
          '"${true}"',
          "[true]",
          "{}",
          '"a ${x}"',
          '"$${x}"',
          "[]",
          '"x"'
        )
      )
      .map(([argument, value]) => `{"variable":{"a":{"${argument}":${value}}}}`)
  ),
  "JSON blocks": json(
    fc.constantFrom(
      ...[
        {
          resource: { terraform_data: { a: { input: "${1}", count: 2, lifecycle: { create_before_destroy: true } } } }
        },
        { resource: { terraform_data: { a: [{}, {}] } } },
        { resource: { terraform_data: { b: {} } }, moved: { from: "terraform_data.a", to: "terraform_data.b" } },
        { moved: [{ from: "terraform_data.a", to: "terraform_data.b" }] },
        { removed: { from: "terraform_data.a", lifecycle: { destroy: false } } },
        { resource: { terraform_data: { a: {} } }, import: { to: "terraform_data.a", id: "x" } },
        {
          resource: { terraform_data: { a: {} } },
          check: { a: { assert: { condition: '${terraform_data.a.id != ""}', error_message: "x" } } }
        },
        { terraform: { backend: { local: {} } } },
        { terraform: { backend: { local: {}, s3: {} } } },
        { terraform: { cloud: {} } },
        { terraform: [{ required_version: ">= 1" }, { required_version: ">= 1.0" }] },
        { terraform: { required_version: ">= 1.11.4-rc1" } },
        { terraform: { foo: 1 } },
        { terraform: { required_providers: { aws: { source: "hashicorp/aws", configuration_aliases: ["aws.a"] } } } },
        { terraform: { required_providers: { aws: { configuration_aliases: "aws.a" } } } },
        { terraform: { required_providers: [{ aws: "1" }] } },
        { provider: { terraform: [{}, { alias: "x" }] } },
        { provider: { aws: { alias: "a", for_each: {} } } },
        { module: { a: { source: "${'./x'}" } } },
        { module: { a: { source: "./x/${1}" } } },
        { output: { a: { value: "${" } } },
        { output: { a: { value: 1, depends_on: ["terraform_data.a"] } }, resource: { terraform_data: { a: {} } } },
        { output: { a: { value: 1, sensitive: "true" } } },
        { data: { terraform_remote_state: { a: { backend: "local" } } } },
        { ephemeral: { aws_x: { a: {} } } }
      ].map((document) => JSON.stringify(document))
    )
  ),
  "file names": fc
    .uniqueArray(
      oneOf(
        "main.tf",
        "main.tofu",
        "main.tf.json",
        "main.tofu.json",
        "other.tf",
        "other.tofu",
        ".hidden.tf",
        "backup.tf~",
        "#x.tf#",
        "x.tf.swp",
        "X.TF",
        "x.tfvars",
        "terraform.tfvars",
        "a.auto.tfvars",
        "x.tftest.hcl",
        "x.tfquery.hcl",
        "readme.md",
        "c/main.tofu"
      ),
      { minLength: 1, maxLength: 4 }
    )
    .map((names) => Object.fromEntries([...names, "root.tf"].map((name) => [name, contentFor(name)]))),
  overrides: fc
    .tuple(
      override,
      oneOf(
        'output "a" {\n  value = 2\n}',
        'output "b" {\n  value = 2\n}',
        "locals {\n  a = 2\n}",
        "locals {\n  b = 2\n}",
        'resource "terraform_data" "a" {\n}',
        'resource "terraform_data" "b" {\n}',
        'variable "a" {\n  default = 1\n}',
        'variable "a" {\n  default = []\n}',
        'variable "a" {\n  type = list(string)\n}',
        'variable "b" {\n}',
        'provider "terraform" {\n}',
        'provider "terraform" {\n  alias = "a"\n}',
        'provider "terraform" {\n  alias = "b"\n}',
        'data "a" "b" {\n}',
        'ephemeral "a" "b" {\n}',
        "moved {\n  from = terraform_data.x\n  to   = terraform_data.a\n}",
        "removed {\n  from = terraform_data.x\n}",
        'import {\n  to = terraform_data.a\n  id = "x"\n}',
        'check "a" {\n}',
        'check "b" {\n}',
        'terraform {\n  backend "local" {\n  }\n}',
        "terraform {\n  cloud {\n  }\n}",
        'terraform {\n  required_version = "< 1"\n}',
        'terraform {\n  required_providers {\n    aws = "1"\n  }\n}',
        'output "a" {\n  value = 2\n}\noutput "a" {\n  value = 3\n}',
        'terraform {\n  provider_meta "aws" {\n  }\n}',
        'variable "a" {\n  sensitive = "true"\n}'
      )
    )
    .map(([name, content]) => ({
      "main.tf": `output "a" {\n  value = 1\n}\nlocals {\n  a = 1\n}\nresource "terraform_data" "a" {\n}\nvariable "a" {\n  type    = string\n  default = "x"\n}\nprovider "terraform" {\n  alias = "a"\n}\ncheck "a" {\n  assert {\n    condition     = terraform_data.a.id != ""\n    error_message = "x"\n  }\n}\n`,
      [name]: name.endsWith(".json") ? '{"output":{"a":{"value":2}}}' : `${content}\n`
    }))
}

/** Returns valid content for some file names, and invalid content for names that a tool must not read. */
const contentFor = (name: string): string => {
  if (name === "root.tf") return ""
  if (name === "main.tf.json") return '{"output":{"json":{"value":1}}}'
  if (name.endsWith(".tf"))
    return name.startsWith(".") ? "}{" : `output "${name.replace(".tf", "")}" {\n  value = 1\n}\n`
  return name.endsWith(".tfvars") ? "" : "}{"
}
