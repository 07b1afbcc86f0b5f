import { expect, test } from "bun:test"
import { byteDifferences } from "../../scripts/ByteDifferences.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

test("the comparison finds no differences between equal files", () => {
  expect(byteDifferences(bytes("a program"), bytes("a program"))).toEqual([])
})

test("a changed date is reported as one range with its offset and both texts, even if some digits are equal", () => {
  expect(byteDifferences(bytes("built 2026-11-29\0end"), bytes("built 2025-12-30\0end"))).toEqual([
    { offset: 9, length: 7, texts: ["6-11-29", "5-12-30"] }
  ])
})

test("distant differences are reported as separate ranges", () => {
  const between = "x".repeat(40)
  expect(byteDifferences(bytes(`a${between}b`), bytes(`A${between}B`)).map(({ offset }) => offset)).toEqual([0, 41])
})

test("the additional bytes of a longer file are reported as one range, of which the first 32 bytes are shown", () => {
  const [range] = byteDifferences(bytes("same"), bytes(`same${"+".repeat(50)}`))
  expect(range).toEqual({ offset: 4, length: 50, texts: ["", "+".repeat(32)] })
})
