import type * as Schema from "effect/Schema"

/**
 * Matches text that may contain a number that prints differently as a double. Most documents contain no such number and need
 * not be rewritten.
 */
const unusualNumber = /[\d.]{16}|(?:^|[:,[\s])-?(?:0\.0{6}|[\d.]+[eE])/
const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const wholeNumber = /^-?\d+$/
const oneNumber = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/

/** Maximum number of digits to compare. No double has more significant digits. */
const longestExact = 1000

/** Returns sign, significant digits and exponent. Equal numbers give equal results in any notation. */
const canonical = (text: string): string | undefined => {
  const parts = oneNumber.exec(text)
  if (parts === null || text.length > longestExact) return undefined
  const [, sign, whole = "", fraction = "", exponent = "0"] = parts
  const digits = `${whole}${fraction}`.replace(/^0+/, "")
  let end = digits.length
  while (digits[end - 1] === "0") end--
  const significant = digits.slice(0, end)
  return significant === ""
    ? "0"
    : `${sign}${significant}e${BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length)}`
}

/**
 * Returns true if parsing a JSON number as a double and printing it does not change it. For example, 2^63 is a double but prints
 * as 9223372036854776000.
 */
export const isExactNumber = (text: string): boolean => {
  const value = Number(text)
  if (Number.isSafeInteger(value) && wholeNumber.test(text)) return true
  if (!Number.isFinite(value)) return false
  if (wholeNumber.test(text)) return String(value) === text && BigInt(value) === BigInt(text)
  return canonical(String(value)) === canonical(text)
}

/** Returns true if the number is exact as a double and prints without an exponent, like the tool's output. */
const isPrintedAlike = (text: string): boolean => isExactNumber(text) && !String(Number(text)).includes("e")

/**
 * Returns the index after the closing quote of the string that starts at `opening`, or the end of the document if it is
 * truncated.
 */
const endOfString = (text: string, opening: number): number => {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === "\\") backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

/** Rewrites every number outside strings in a JSON document. */
export const withNumbers = (document: string, rewrite: (number: string) => string): string => {
  const rewritten = (between: string) => between.replace(numbers, rewrite)
  const parts: Array<string> = []
  let from = 0
  while (from < document.length) {
    const opening = document.indexOf('"', from)
    if (opening === -1) break
    const end = endOfString(document, opening)
    parts.push(rewritten(document.slice(from, opening)), document.slice(opening, end))
    from = end
  }
  return parts.join("") + rewritten(document.slice(from))
}

const asText = (number: string): string => `"${number}"`

/**
 * In a JSON document from the tool, takes every number that a double would round or print differently, and replaces it with
 * a string of its digits. The tool calculates with hundreds of bits, so without this step svc would review, pass on or
 * redact a different number.
 */
export const withExactNumbers = (document: string): string =>
  unusualNumber.test(document)
    ? withNumbers(document, (number) => (isPrintedAlike(number) ? number : asText(number)))
    : document

/** Like `withExactNumbers`, but converts every number. Use it for searches that must not miss any number. */
export const withNumbersAsText = (document: string): string => withNumbers(document, asText)

/** Returns true if a JSON document contains a number that a double would round. */
export const containsRoundedNumber = (document: string): boolean =>
  withNumbers(document, (number) => (isExactNumber(number) ? number : asText(number))) !== document

const isList = (value: Schema.Json): value is ReadonlyArray<Schema.Json> => Array.isArray(value)

/** Returns the type of one member. All members of a collection have the same type. */
const memberType = (type: Schema.Json, member: number | string): Schema.Json => {
  if (!isList(type)) return null
  const [kind, parts = null] = type
  if (kind !== "object" && kind !== "tuple") return parts
  const own = parts !== null && typeof parts === "object" ? Object.entries(parts) : []
  return own.find(([name]) => name === String(member))?.[1] ?? null
}

/**
 * Converts a value with exact numbers back to the tool's JSON text. If the tool's type, such as `["list","number"]`,
 * requires a number at some position, a string of digits there becomes a number. If no type is given, every string remains a
 * string.
 */
export const jsonOfType = (value: Schema.Json, type: Schema.Json = null): string => {
  if (typeof value === "string") return type === "number" && oneNumber.test(value) ? value : JSON.stringify(value)
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  if (isList(value)) return `[${value.map((item, index) => jsonOfType(item, memberType(type, index))).join()}]`
  const members = Object.entries(value).map(
    ([name, member]) => `${JSON.stringify(name)}:${jsonOfType(member, memberType(type, name))}`
  )
  return `{${members.join()}}`
}
