import { expect, test } from "bun:test"
import { Effect, Option, Redacted } from "effect"
import { type ObjectContents, stateContents } from "../../../runner/execution/StateContents.ts"

const provider = 'provider["registry.opentofu.org/hashicorp/aws"]'
const bytesOf = (document: object) =>
  new TextEncoder().encode(JSON.stringify({ version: 4, serial: 1, lineage: "l", ...document }))

/** Reads the state both at once and in parts. */
const ways = [{ longestParsed: 1e6 }, { longestParsed: 0 }]

const read = async (bytes: Uint8Array, way: (typeof ways)[number]) => {
  const objects: Array<ObjectContents> = []
  const contents = await Effect.runPromise(stateContents(bytes, (object) => void objects.push(object), way))
  return Option.map(contents, (rest) => ({ objects, ...rest }))
}

const instances = [
  { index_key: "a", attributes: { id: "vpc-1", tags: { b: 1 }, empty: null } },
  { index_key: "a", deposed: "ab12", attributes: { id: "vpc-0" } },
  { index_key: 1, attributes: { id: "x" }, sensitive_attributes: [[{ type: "get_attr", value: "id" }]] },
  { index_key: 2, attributes: { id: "y" }, sensitive_attributes: [[]] },
  { index_key: 3, attributes: { id: "z" }, sensitive_attributes: [[{ type: "get_attr", value: "tags" }]] },
  { index_key: 4, attributes: null }
]

test.each(ways)("a state is read one instance at a time, keeping the text of each value: %o", async (way) => {
  const contents = Option.getOrThrow(
    await read(
      bytesOf({
        outputs: { url: { type: "string", value: "u" }, key: { type: "string", value: "k", sensitive: true } },
        resources: [
          { mode: "managed", module: "module.m", type: "aws_vpc", name: "main", provider, instances },
          { mode: "data", type: "aws_ami", name: "found", provider, instances: [{ attributes: { id: "ami" } }] }
        ]
      }),
      way
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
  // An Output counts as different if it becomes sensitive or changes its type.
  expect(contents.outputs.map(({ name, text }) => [name, Redacted.value(text)])).toEqual([
    ["url", '["string","u",false]'],
    ["key", '["string","k",true]']
  ])
  expect(contents.sensitiveTexts).toContain("k")
})

test.each(ways)("reading a partial or encrypted state yields nothing: %o", async (way) => {
  for (const bytes of [bytesOf({}).slice(0, 20), bytesOf({ encrypted_data: "x" }), bytesOf({ version: 3 })]) {
    expect(Option.isNone(await read(bytes, way))).toBe(true)
  }
})

const spelled = (document: string) => new TextEncoder().encode(`{"version":4,"serial":1,"lineage":"l",${document}}`)

test.each([
  '"resources":[]',
  '"resources":null,"outputs":null',
  '"outputs":{},"resources":[{"mode":"managed","type":"t","name":"n"}]',
  '"resources":[{"instances":null,"mode":"managed","type":"t","name":"n"},{"instances":[],"mode":"data"}]',
  // The resource's description follows its instances, and the numbers have more digits than a double holds.
  `"resources":[{"instances":[{"attributes":{"id":"ü","n":12345678901234567890},"index_key":12345678901234567890},{}],
    "name":"n","type":"t","mode":"managed","more":[{"instances":[{"attributes":{}}]}]},
    {"mode":"managed","type":"u","name":"m","instances":[{"attributes":{"a":{"instances":[1]}}}]}],
    "outputs":{"o":{"value":12345678901234567890,"type":"number"}}`,
  // Values that a data source marks as sensitive are also secrets of the state.
  `"resources":[{"mode":"data","type":"t","name":"n","instances":[{"attributes":{"p":"secret"},
    "sensitive_attributes":[[{"type":"get_attr","value":"p"}]]}]}]`
])("a state read part by part equals the whole: %s", async (document) => {
  const [whole, parts] = await Promise.all(ways.map((way) => read(spelled(document), way)))
  expect(Option.isSome(whole ?? Option.none())).toBe(true)
  const shown = (found: typeof whole) =>
    Option.map(found ?? Option.none(), ({ objects, outputs, sensitiveTexts }) => ({
      objects: objects.map(({ attributes, ...rest }) => ({ ...rest, attributes: [...Redacted.value(attributes)] })),
      outputs: outputs.map(({ name, text }) => [name, Redacted.value(text)]),
      sensitiveTexts
    }))
  expect(shown(parts)).toEqual(shown(whole))
})

test("reading a state in parts keeps only one object in memory at a time", async () => {
  const count = 50
  const instance = (at: number) => ({ index_key: at, attributes: { id: `id-${at}` } })
  const bytes = bytesOf({
    resources: [
      {
        mode: "managed",
        type: "t",
        name: "n",
        provider,
        instances: Array.from({ length: count }, (_, at) => instance(at))
      }
    ]
  })
  // Changes a later instance after an earlier instance has been passed on. The change must be visible, because the reader does
  // not read ahead.
  const text = new TextDecoder().decode(bytes)
  const seen: Array<string | undefined> = []
  const contents = await Effect.runPromise(
    stateContents(
      bytes,
      ({ id }) => {
        seen.push(id)
        const next = text.indexOf(`"id-${seen.length}"`)
        if (next !== -1) bytes.set(new TextEncoder().encode("xx"), next + 1)
      },
      { longestParsed: 0 }
    )
  )
  expect(Option.isSome(contents)).toBe(true)
  expect(seen).toEqual(Array.from({ length: count }, (_, at) => (at === 0 ? "id-0" : `xx-${at}`)))
})
