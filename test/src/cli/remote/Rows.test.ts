import { describe, expect, test } from "bun:test"
import * as fc from "fast-check"
import { displayWidth, rowsText } from "../../../../src/cli/remote/Rows.ts"

const id = "run_aaaaaaaaaaaaaaaaaaaaaaaa"
const head = ["id", "status", "capsule", "commit"]
const rows = [
  [id, "waiting_approval", "a-network-with-a-very-long-name/production", "a71d259d"],
  [id, "succeeded", "東京のネットワーク/本番環境", "a71d259d"]
]

describe("a table", () => {
  test("a table written to a pipe is as wide as its contents", () => {
    const lines = rowsText(head, rows, undefined).split("\n")
    expect(lines[1]).toBe(`${id}  waiting_approval  a-network-with-a-very-long-name/production  a71d259d`)
  })

  test("a table fits the terminal by truncating its widest text, and never truncates ids", () => {
    const lines = rowsText(head, rows, 80).split("\n")
    expect(lines).toEqual([
      "ID                            STATUS            CAPSULE                 COMMIT",
      `${id}  waiting_approval  a-network-with-a-very…  a71d259d`,
      `${id}  succeeded         東京のネットワーク/本…  a71d259d`
    ])
  })

  test("a table counts wide characters as two columns, and combining characters as none", () => {
    expect([
      displayWidth("東京"),
      displayWidth("한국"),
      displayWidth("e\u0301"),
      displayWidth("👩‍👩‍👧"),
      displayWidth("ab")
    ]).toEqual([4, 4, 1, 2, 2])
    expect(Bun.stringWidth("東京のネットワーク")).toBe(displayWidth("東京のネットワーク"))
  })

  test("a table fits any terminal that is wide enough for all of its columns", () => {
    const cell = fc.oneof(fc.string({ maxLength: 60 }), fc.constant(id), fc.string({ unit: "grapheme", maxLength: 30 }))
    fc.assert(
      fc.property(
        fc.array(fc.array(cell, { minLength: 3, maxLength: 3 }), { maxLength: 5 }),
        fc.integer({ min: 30, max: 200 }),
        (rows, width) => {
          const plain = rows.map((row) => row.map((text) => text.replaceAll(/\p{Cc}/gu, " ")))
          for (const line of rowsText(["a", "b", "c"], plain, width).split("\n")) {
            expect(displayWidth(line)).toBeLessThanOrEqual(width)
          }
        }
      )
    )
  })
})
