import { expect, test } from "bun:test"
import { Option, Redacted } from "effect"
import { stateContents } from "../../../runner/execution/StateContents.ts"

const provider = 'provider["registry.opentofu.org/hashicorp/aws"]'
const bytesOf = (document: object) =>
  new TextEncoder().encode(JSON.stringify({ version: 4, serial: 1, lineage: "l", ...document }))

const instances = [
  { index_key: "a", attributes: { id: "vpc-1", tags: { b: 1 }, empty: null } },
  { index_key: "a", deposed: "ab12", attributes: { id: "vpc-0" } },
  { index_key: 1, attributes: { id: "x" }, sensitive_attributes: [[{ type: "get_attr", value: "id" }]] },
  { index_key: 2, attributes: { id: "y" }, sensitive_attributes: [[]] },
  { index_key: 3, attributes: { id: "z" }, sensitive_attributes: [[{ type: "get_attr", value: "tags" }]] },
  { index_key: 4, attributes: null }
]

test("a state is read instance by instance, with the text of each value", () => {
  const contents = Option.getOrThrow(
    stateContents(
      bytesOf({
        outputs: { url: { type: "string", value: "u" }, key: { type: "string", value: "k", sensitive: true } },
        resources: [
          { mode: "managed", module: "module.m", type: "aws_vpc", name: "main", provider, instances },
          { mode: "data", type: "aws_ami", name: "found", provider, instances: [{ attributes: { id: "ami" } }] }
        ]
      })
    )
  )
  expect(
    contents.objects.map(({ address, attributes, deposed, isIdSensitive }) => [
      address,
      deposed,
      isIdSensitive,
      [...Redacted.value(attributes)]
    ])
  ).toEqual([
    [
      'module.m.aws_vpc.main["a"]',
      "",
      false,
      [
        ["id", '"vpc-1"'],
        ["tags", '{"b":1}']
      ]
    ],
    ['module.m.aws_vpc.main["a"]', "ab12", false, [["id", '"vpc-0"']]],
    ["module.m.aws_vpc.main[1]", "", true, [["id", '"x"']]],
    ["module.m.aws_vpc.main[2]", "", true, [["id", '"y"']]],
    ["module.m.aws_vpc.main[3]", "", false, [["id", '"z"']]],
    ["module.m.aws_vpc.main[4]", "", false, []]
  ])
  // An Output that becomes sensitive, or changes its type, is a different one.
  expect(contents.outputs.map(({ name, text }) => [name, Redacted.value(text)])).toEqual([
    ["url", '["string","u",false]'],
    ["key", '["string","k",true]']
  ])
  expect(contents.sensitiveTexts).toContain("k")
})

test("a partial file and an encrypted state have nothing to read", () => {
  for (const bytes of [bytesOf({}).slice(0, 20), bytesOf({ encrypted_data: "x" }), bytesOf({ version: 3 })]) {
    expect(Option.isNone(stateContents(bytes))).toBe(true)
  }
})
