import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import type { Difference, DifferenceLine } from "../../../src/dashboard/value-difference/Difference.ts"
import { valueDifference } from "../../../src/dashboard/value-difference/ValueDifference.ts"

const difference = (before: unknown, after: unknown, name = "value") => valueDifference({ name, before, after })

const opened = (lines: ReadonlyArray<DifferenceLine>): ReadonlyArray<DifferenceLine> =>
  lines.flatMap((line) => (line.kind === "fold" ? opened(line.lines) : [line]))

const side = (lines: ReadonlyArray<DifferenceLine>, of: "removed" | "added"): ReadonlyArray<string> =>
  opened(lines).flatMap((line) =>
    line.kind === "same" ? [line.text] : line.kind === of ? [line.segments.map(({ text }) => text).join("")] : []
  )

/** Renders the unfolded rows as text, in the same layout as on the screen. */
const drawn = ({ lines }: Difference): ReadonlyArray<string> =>
  lines.map((line) => {
    if (line.kind === "same") return `  ${line.text}`
    if (line.kind === "fold") return `… ${line.count} ${line.unit}, ${line.lines.length} lines`
    if (line.kind === "path") return `@ ${line.path.join(" › ")}`
    if (line.kind === "moved") return `> ${line.text} ${line.from} to ${line.to}`
    const sign = line.kind === "removed" ? "-" : "+"
    return `${sign} ${line.segments.map(({ marked, text }) => (marked ? `[${text}]` : text)).join("")}`
  })

const statement = (Sid: string, Effect = "Allow") => ({
  Sid,
  Effect,
  Principal: { AWS: `arn:aws:iam::1:role/${Sid}` },
  Action: ["s3:GetObject", "s3:PutObject"],
  Resource: "arn:aws:s3:::bucket/*"
})
const policyOf = (statements: ReadonlyArray<unknown>) =>
  JSON.stringify({ Version: "2012-10-17", Statement: statements })
const twenty = Array.from({ length: 20 }, (_, index) => statement(`S${index}`))

test("a change after a list has the path of its own level, not the path of the list's last element", () => {
  const value = (port: number, note: string, deep: number) => ({
    first: "same",
    rules: [
      { name: "a", port: 1 },
      { name: "b", port }
    ],
    inner: { note, deep: { deep } }
  })
  const paths = drawn(difference(value(2, "x", 1), value(3, "y", 2))).filter((line) => line.startsWith("@"))
  expect(paths).toEqual(["@ rules[2] › b › port", "@ inner › note", "@ inner › deep › deep"])
})

describe("a policy", () => {
  test("the diff of a policy shows the principal whose effect changes, and collapses the other statements into a count", () => {
    const changed = twenty.with(13, statement("S13", "Deny"))
    const found = difference(policyOf(twenty), policyOf(changed))
    expect(found.extent).toEqual({ unit: "statements", changed: 1, added: 0, removed: 0, total: 20 })
    expect(found.highlights).toEqual([{ name: "Effect", before: "Allow", after: "Deny" }])
    expect(drawn(found)).toEqual([
      "  {",
      '    "Version": "2012-10-17",',
      '    "Statement": [',
      "… 13 statements, 156 lines",
      "@ Statement[14] › S13 › Effect",
      "      {",
      '        "Sid": "S13",',
      '-       "Effect": "[Allow]",',
      '+       "Effect": "[Deny]",',
      '        "Principal": {',
      '          "AWS": "arn:aws:iam::1:role/S13"',
      "        },",
      '        "Action": [',
      '          "s3:GetObject",',
      '          "s3:PutObject"',
      "        ],",
      '        "Resource": "arn:aws:s3:::bucket/*"',
      "      },",
      "… 6 statements, 72 lines",
      "    ]",
      "  }"
    ])
    expect(found.changedLines).toBe(2)
  })

  test("the diff of a policy ignores the order of statements", () => {
    const found = difference(policyOf(twenty), policyOf(twenty.toReversed()))
    expect(found).toMatchObject({ only: "order", changedLines: 0, reordered: 19 })
    const actions = (list: ReadonlyArray<string>) => policyOf([{ Sid: "A", Effect: "Allow", Action: list }])
    expect(difference(actions(["a:b", "c:d"]), actions(["c:d", "a:b"]))).toMatchObject({ only: "order", reordered: 1 })
  })

  test("the diff of a policy that admits everybody or allows everything has a warning in its heading", () => {
    const before = [statement("A")]
    const open = [{ ...statement("A"), Principal: "*", Action: ["s3:GetObject", "s3:*"] }]
    expect(difference(policyOf(before), policyOf(open)).highlights).toEqual([
      { name: "Principal", before: '{"AWS":"arn:aws:iam::1:role/A"}', after: "*" },
      { name: "Action", before: "s3:PutObject", after: "s3:*" }
    ])
    const resource = [{ ...statement("A"), Resource: "arn:aws:s3:::bucket" }]
    expect(difference(policyOf(resource), policyOf(before)).highlights).toEqual([
      { name: "Resource", before: "arn:aws:s3:::bucket", after: "arn:aws:s3:::bucket/*" }
    ])
  })

  test("the diff of a policy shows the permissions that a new statement grants", () => {
    const found = difference(policyOf([statement("A")]), policyOf([statement("A"), statement("B", "Deny")]))
    expect(found.extent).toMatchObject({ unit: "statements", changed: 1, added: 1, total: 2 })
    expect(found.highlights.map(({ after, before, name }) => [name, before, after])).toEqual([
      ["Effect", undefined, "Deny"],
      ["Principal", undefined, '{"AWS":"arn:aws:iam::1:role/B"}'],
      ["Action", undefined, '["s3:GetObject","s3:PutObject"]'],
      ["Resource", undefined, "arn:aws:s3:::bucket/*"]
    ])
  })
})

describe("Value difference: objects and lists", () => {
  test("the value diff pairs objects by key, and list elements by name", () => {
    const found = difference(
      {
        size: 1,
        rules: [
          { name: "a", port: 80 },
          { name: "b", port: 81 }
        ]
      },
      {
        rules: [
          { name: "b", port: 8081 },
          { name: "c", port: 82 }
        ],
        size: 1
      }
    )
    expect(drawn(found)).toEqual([
      "  {",
      '    "rules": [',
      "@ rules[1] › a",
      "-     {",
      '-       "name": "a",',
      '-       "port": 80',
      "-     },",
      "@ rules[1] › b › port",
      "      {",
      '        "name": "b",',
      '-       "port": [81]',
      '+       "port": [8081]',
      "      },",
      "@ rules[2] › c",
      "+     {",
      '+       "name": "c",',
      '+       "port": 82',
      "+     }",
      "    ],",
      '    "size": 1',
      "  }"
    ])
  })

  test("the value diff reports the new position of an element that moves in an ordered list", () => {
    const found = difference({ steps: ["build", "test", "ship"] }, { steps: ["ship", "build", "test"] })
    expect(drawn(found)).toContain('> "ship" 3 to 1')
    expect(found).toMatchObject({ only: undefined, extent: { unit: "items", changed: 1, total: 3 } })
  })

  test("the value diff distinguishes changes of only the type, only white space, and only the order", () => {
    expect(difference({ port: "4" }, { port: 4 }).only).toBe("type")
    expect(difference('{"a":1}', '{ "a": 1 }').only).toBe("whitespace")
    expect(difference("a b\nc", "a  b\nc").only).toBe("whitespace")
    expect(difference({ a: 1 }, { a: 2 }).only).toBeUndefined()
  })

  test("the value diff shows the position of an unknown part, and never confuses that part with text", () => {
    expect(drawn(difference({ id: "a" }, { id: "(known after apply)" }))).toContain('+   "id": (known after apply)')
    expect(drawn(difference('{"id":"a"}', '{"id":"(known after apply)"}'))).toContain(
      '+   "id": "[(known after apply)]"'
    )
  })

  test("the value diff compares objects as text if a number is too long for a double or a key is repeated", () => {
    expect(difference('{"a":12345678901234567890}', '{"a":12345678901234567891}').reading).toBe("words")
    expect(difference('{"a":1,"a":2}', '{"a":1,"a":3}').reading).toBe("words")
  })
})

describe("texts", () => {
  test("the value diff marks the changed words in a line, and collapses unchanged lines", () => {
    const lines = Array.from({ length: 12 }, (_, index) => `line ${index}`)
    const found = difference(lines.join("\n"), lines.with(6, "line six").join("\n"))
    expect(drawn(found)).toEqual([
      "… 5 lines, 5 lines",
      "  line 5",
      "- line [6]",
      "+ line [six]",
      "  line 7",
      "… 4 lines, 4 lines"
    ])
  })

  test("the value diff marks no words in lines that have little in common", () => {
    expect(drawn(difference("x\nabc def", "x\nquite another thing"))).toEqual([
      "  x",
      "- abc def",
      "+ quite another thing"
    ])
  })

  test("the value diff decodes base64 text if the attribute is known to contain base64", () => {
    const encoded = (text: string) => Buffer.from(text).toString("base64")
    expect(difference(encoded("a\nb"), encoded("a\nc"), "user_data").reading).toBe("base64")
    expect(difference(encoded("a\nb"), encoded("a\nc"), "checksum").reading).toBe("words")
    expect(difference("AAEC", "AAED", "user_data").reading).toBe("words")
  })

  test("the value diff makes invisible characters in text visible", () => {
    expect(drawn(difference("admin", "adm\u200bin"))[1]).toContain("U+200B")
  })
})

const json = fc.jsonValue({ maxDepth: 4 }).filter((value) => typeof value === "object" && value !== null)

const sorted = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(sorted).sort().join()}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  return `{${Object.entries(value)
    .map(([key, inner]) => `${JSON.stringify(key)}:${sorted(inner)}`)
    .sort()
    .join()}}`
}

describe("Lossless differences", () => {
  test("both versions of a structure can be reconstructed from the rendered difference", () => {
    const read = (lines: ReadonlyArray<string>): unknown => JSON.parse(lines.join("\n").replace(/,(\n\s*[\]}])/g, "$1"))
    fc.assert(
      fc.property(json, json, (before, after) => {
        fc.pre(Array.isArray(before) === Array.isArray(after))
        const { lines } = difference(before, after)
        expect(sorted(read(side(lines, "added")))).toBe(sorted(after))
        expect(sorted(read(side(lines, "removed")))).toBe(sorted(before))
      }),
      { numRuns: 500 }
    )
  })

  test("both versions of a string can be reconstructed from the rendered difference", () => {
    const text = fc
      .array(fc.constantFrom("a", "b", "c d", "e f g", ""), { minLength: 2 })
      .map((lines) => lines.join("\n"))
    fc.assert(
      fc.property(text, text, (before, after) => {
        const { lines } = difference(before, after)
        expect(side(lines, "removed").join("\n")).toBe(before)
        expect(side(lines, "added").join("\n")).toBe(after)
      }),
      { numRuns: 500 }
    )
  })

  test("line numbers in a value diff increase on each side", () => {
    fc.assert(
      fc.property(json, json, (before, after) => {
        const lines = opened(difference(before, after).lines)
        for (const of of ["before", "after"] as const) {
          const numbers = lines.flatMap((line) => (of in line ? [Reflect.get(line, of)] : []))
          expect(numbers).toEqual(numbers.map((_, index) => index + 1))
        }
      })
    )
  })
})
