import * as fc from "fast-check"

const firstSurrogate = 0xd800
const surrogates = 0x800

/**
 * Generates every character except lone surrogates. fast-check's "binary" unit generates the same characters, but keeps a
 * list of all 1.1 million in memory.
 */
const character = fc.integer({ min: 0, max: 0x10ffff - surrogates }).map(
  (index) => String.fromCodePoint(index < firstSurrogate ? index : index + surrogates),
  (text) => {
    const [only, ...others] = typeof text === "string" ? text : ""
    const code = only?.codePointAt(0)
    if (code === undefined || others.length > 0) throw new Error("Not a character")
    return code < firstSurrogate ? code : code - surrogates
  }
)

/** Generates strings of at most this many characters. */
export const anyText = (maxLength: number) => fc.string({ unit: character, maxLength })
