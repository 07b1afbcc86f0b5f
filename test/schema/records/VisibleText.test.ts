import { describe, expect, test } from "bun:test"
import { isInvisible, visibleText } from "../../../schema/records/VisibleText.ts"

describe("Untrusted text", () => {
  test.each([
    ["\u202eevil\u202c", "U+202EevilU+202C"],
    ["a\u2066b\u2069", "aU+2066bU+2069"],
    ["a\u200eb\u200fc\u061c", "aU+200EbU+200FcU+061C"],
    ["prod\u200b", "prodU+200B"],
    ["\ufeffa\u2060\u00ad", "U+FEFFaU+2060U+00AD"],
    ["a\u2028b\u2029", "aU+2028bU+2029"],
    ["\u3164\u115f\uffa0\u2800", "U+3164U+115FU+FFA0U+2800"],
    ["x\u{e0041}\u{e0100}", "xU+E0041U+E0100"],
    ["a\u200db", "aU+200Db"],
    ["a\ufe0fb", "aU+FE0Fb"]
  ])("the text %j is shown as %j", (text, shown) => {
    expect(visibleText(text)).toBe(shown)
    expect(visibleText(shown)).toBe(shown)
  })

  test.each(["web-1", "日本語、。", "tab\tline\nend", "👩‍🚀", "👨🏽‍🚀", "❤️", "❤️‍🔥", "e\u0301", "שלום", "العربية"])(
    "the text %j is shown unchanged",
    (text) => {
      expect(visibleText(text)).toBe(text)
    }
  )
})

test("text that consists only of spaces, control characters and characters without a visible glyph is invisible", () => {
  const blank = [
    "",
    " ",
    "\u3000",
    "\t\n",
    "\u200b",
    "\u2060 \ufeff",
    "\u202e\u202c",
    "\u3164",
    "\u2800",
    "\u00ad\u034f"
  ]
  expect(blank.filter((text) => !isInvisible(text))).toEqual([])
  expect(["a", "-", "👍", "\u200ba", "名"].filter(isInvisible)).toEqual([])
})
