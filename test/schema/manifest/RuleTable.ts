import { describe, expect, test } from "bun:test"
import { type JsonObject, verdict } from "./ManifestFixture.ts"

/**
 * A rule, a document that obeys or breaks the rule, and the expected verdict: "valid", or the code and path of every diagnostic.
 */
export type Row = readonly [rule: string, document: JsonObject, expected: string]

export const table = (title: string, rows: ReadonlyArray<Row>) =>
  describe(title, () => {
    test.each(rows.map((row) => [...row]))("%s", (_, document, expected) => {
      expect(verdict(document)).toBe(String(expected))
    })
  })

export const list = (count: number, of: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => of(index))

/** Returns a string with this many characters. */
export const text = (length: number) => "x".repeat(length)

/** Path of the fixture's only module. */
export const at = "/install/modules/."
