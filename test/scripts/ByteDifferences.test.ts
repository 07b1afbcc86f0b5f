import { expect, test } from "bun:test"
import { byteDifferences } from "../../scripts/ByteDifferences.ts"

const bytes = (text: string) => new TextEncoder().encode(text)

test("equal files have no different bytes", () => {
  expect(byteDifferences(bytes("a program"), bytes("a program"))).toEqual([])
})

test("a different date is one range with its offset and both texts, even if some digits are equal", () => {
  expect(byteDifferences(bytes("built 2026-11-29\0end"), bytes("built 2025-12-30\0end"))).toEqual([
    { offset: 9, length: 7, texts: ["6-11-29", "5-12-30"] }
  ])
})

test("distant differences are separate ranges", () => {
  const between = "x".repeat(40)
  expect(byteDifferences(bytes(`a${between}b`), bytes(`A${between}B`)).map(({ offset }) => offset)).toEqual([0, 41])
})

test("the additional bytes of a longer file are a range, shown by its first 32 bytes", () => {
  const [range] = byteDifferences(bytes("same"), bytes(`same${"+".repeat(50)}`))
  expect(range).toEqual({ offset: 4, length: 50, texts: ["", "+".repeat(32)] })
})
