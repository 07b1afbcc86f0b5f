import { expect, test } from "bun:test"
import * as fc from "fast-check"
import { yamlText } from "../../../src/cli/Yaml.ts"

test("YAML output round-trips through a YAML reader", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), (value) => {
      expect(Bun.YAML.parse(yamlText(value))).toEqual(JSON.parse(JSON.stringify(value)))
    })
  )
})

test("YAML output quotes text that a YAML reader would parse as another type", () => {
  const texts = [
    "yes",
    "off",
    "null",
    "~",
    "1.0",
    "0x1f",
    "2026-11-29",
    "12:30:45",
    "a: b",
    "a #b",
    "- a",
    "",
    " a",
    "a:"
  ]
  for (const text of texts) expect([text, yamlText(text)]).toEqual([text, JSON.stringify(text)])
  expect(yamlText({ run: { id: "run_a", digest: "sha256:0a", actions: ["create"], none: [], note: "a: b" } })).toBe(
    ["run:", "  id: run_a", "  digest: sha256:0a", "  actions:", "  - create", "  none: []", '  note: "a: b"'].join(
      "\n"
    )
  )
})
