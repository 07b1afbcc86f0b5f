const escape = "\\u001b"
const controlSequenceStart = `(?:${escape}\\[|\\u009b)`
const controlSequence = `${controlSequenceStart}[0-?]{0,64}[ -/]{0,8}[@-~]`
// Start of a string that ends with BEL or ST: OSC, DCS, SOS, PM or APC. The string's length is limited, so that a stream is not
// held back indefinitely.
const commandStart = `(?:${escape}[\\]PX^_]|[\\u0090\\u0098\\u009d\\u009e\\u009f])`
const commandBody = "[^\\u0007\\u001b\\u0080-\\u009f]{0,4096}"
const command = `${commandStart}${commandBody}(?:\\u0007|\\u009c|${escape}\\\\)`
const shortSequence = `${escape}[ -/]{0,8}[0-OQ-WYZ\\\\\`-~]`

const sequence = new RegExp(`${controlSequence}|${command}|${shortSequence}`, "g")
const unfinished = new RegExp(
  `(?:${controlSequenceStart}[0-?]{0,64}[ -/]{0,8}|${commandStart}${commandBody}${escape}?|${escape}[ -/]{0,8})$`
)
const introducer = new RegExp(`${escape}|[\\u0090\\u0098\\u009b\\u009d-\\u009f]`)
const graphicRendition = new RegExp(`^${controlSequenceStart}[0-9;:]{0,64}m$`)
// Maximum distance between two introducers in an unfinished sequence.
const longestUnfinished = 4200

/** Returns true if a text may contain a terminal sequence. If the result is false, the text needs no further check. */
export const hasTerminalSequence = (text: string): boolean => introducer.test(text)

/** Returns the position of the first possible introducer, or -1. */
export const firstIntroducer = (text: string): number => text.search(introducer)

/** Returns the complete terminal sequences in a string, in order. */
export const terminalSequences = (text: string) => text.matchAll(sequence)

export const stripTerminalSequences = (text: string): string =>
  hasTerminalSequence(text) ? text.replace(sequence, "") : text

/** Returns true for a sequence that sets colour or weight (SGR), the only harmless kind. */
export const isGraphicRendition = (found: string): boolean => graphicRendition.test(found)

/** Rewrites the terminal sequences in a text with one function, and the text between the sequences with another. */
export const rewriteTerminalText = (
  text: string,
  between: (plain: string) => string,
  rewrite: (sequence: string) => string
): string => {
  let rewritten = ""
  let from = 0
  if (hasTerminalSequence(text)) {
    for (const found of terminalSequences(text)) {
      rewritten += between(text.slice(from, found.index)) + rewrite(found[0])
      from = found.index + found[0].length
    }
  }
  return rewritten + between(text.slice(from))
}

/**
 * Returns the position of a terminal sequence that is cut off by the end of the text, or the length of the text if there is
 * none.
 */
export const unfinishedSequence = (text: string): number => {
  const from = Math.max(0, text.length - longestUnfinished)
  const tail = text.slice(from)
  if (!hasTerminalSequence(tail)) return text.length
  const found = unfinished.exec(tail)
  return found === null ? text.length : from + found.index
}
