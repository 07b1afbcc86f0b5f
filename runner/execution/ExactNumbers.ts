/** A run of digits that may not fit in a double. Few documents contain one; those without are not rewritten. */
const longDigits = /\d{16}/
const numbers = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const wholeNumber = /^-?\d+$/

const isExact = (digits: string): boolean => {
  const value = Number(digits)
  return Number.isSafeInteger(value) || (Number.isFinite(value) && BigInt(value) === BigInt(digits))
}

const exact = (number: string): string => (wholeNumber.test(number) && !isExact(number) ? `"${number}"` : number)
const asText = (number: string): string => `"${number}"`

/** The end of the string that begins at `opening`: the index after its closing quote, or the end of a truncated document. */
const endOfString = (text: string, opening: number): number => {
  for (let at = text.indexOf('"', opening + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let backslashes = 0
    while (text[at - 1 - backslashes] === "\\") backslashes += 1
    if (backslashes % 2 === 0) return at + 1
  }
  return text.length
}

/** A JSON document with each number outside strings rewritten. */
const withNumbers = (document: string, rewrite: (number: string) => string): string => {
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

/**
 * A JSON document from the tool in which every whole number that does not fit in a double is written as a string of its digits.
 * The tool counts in hundreds of bits: parsed directly, such a number would be reviewed, passed to another Capsule, or redacted
 * as a different one. The tool accepts the string wherever a number is expected.
 */
export const withExactNumbers = (document: string): string =>
  longDigits.test(document) ? withNumbers(document, exact) : document

/** Like the above, with every number as the string of its digits, for a search that must not lose any of them. */
export const withNumbersAsText = (document: string): string => withNumbers(document, asText)
