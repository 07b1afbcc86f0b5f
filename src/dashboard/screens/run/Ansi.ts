// Converts Select Graphic Rendition codes in a tool's log to pieces with class names. All other escape sequences (cursor moves,
// titles, hyperlinks) are removed, so a log line cannot move, hide or link anything. A log never produces HTML or a style
// attribute, which the page's policy would refuse. For this reason, no library that generates HTML is used.

export interface Piece {
  readonly text: string
  readonly className: string
}

interface Look {
  readonly bold: boolean
  readonly faint: boolean
  readonly italic: boolean
  readonly underline: boolean
  readonly fore: string
  readonly back: string
}

const plain: Look = { bold: false, faint: false, italic: false, underline: false, fore: "", back: "" }

const colours = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const

const className = (look: Look): string =>
  [
    look.bold ? "ansi-bold" : "",
    look.faint ? "ansi-faint" : "",
    look.italic ? "ansi-italic" : "",
    look.underline ? "ansi-underline" : "",
    look.fore === "" ? "" : `ansi-${look.fore}`,
    look.back === "" ? "" : `ansi-on-${look.back}`
  ]
    .filter((name) => name !== "")
    .join(" ")

/** Returns the nearest of the theme's sixteen colours, so that log colours are readable in both themes. */
const nearest = (red: number, green: number, blue: number): string => {
  const high = Math.max(red, green, blue)
  if (high < 64) return "black"
  const bit = (value: number) => (value * 2 > high ? 1 : 0)
  return colours[bit(red) + bit(green) * 2 + bit(blue) * 4] ?? "white"
}

const indexed = (index: number): string => {
  if (index < 16) return colours[index % 8] ?? ""
  if (index >= 232) return index < 242 ? "black" : "white"
  const cube = index - 16
  return nearest(Math.floor(cube / 36) * 51, (Math.floor(cube / 6) % 6) * 51, (cube % 6) * 51)
}

const extended = (codes: ReadonlyArray<number>, at: number): readonly [string, number] => {
  if (codes[at + 1] === 5) return [indexed(codes[at + 2] ?? 0), at + 2]
  if (codes[at + 1] === 2) return [nearest(codes[at + 2] ?? 0, codes[at + 3] ?? 0, codes[at + 4] ?? 0), at + 4]
  return ["", at]
}

const flags: Readonly<Record<number, Partial<Look>>> = {
  1: { bold: true },
  2: { faint: true },
  3: { italic: true },
  4: { underline: true },
  22: { bold: false, faint: false },
  23: { italic: false },
  24: { underline: false },
  39: { fore: "" },
  49: { back: "" }
}

const colourOf = (code: number, base: number): string | undefined =>
  code >= base && code < base + 8
    ? colours[code - base]
    : code >= base + 60 && code < base + 68
      ? colours[code - base - 60]
      : undefined

const rendition = (from: Look, parameters: string): Look => {
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map(Number)
  let look = from
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? 0
    if (code === 0) look = plain
    else if (code === 38 || code === 48) {
      const [colour, last] = extended(codes, at)
      look = { ...look, ...(code === 38 ? { fore: colour } : { back: colour }) }
      at = last
    } else {
      const fore = colourOf(code, 30)
      const back = colourOf(code, 40)
      look = {
        ...look,
        ...flags[code],
        ...(fore === undefined ? {} : { fore }),
        ...(back === undefined ? {} : { back })
      }
    }
  }
  return look
}

const escape = "\u001b"
// Matches CSI sequences, OSC and other string sequences up to their terminator (or the end of the text), and two-character
// escapes.
const sequence = new RegExp(
  `${escape}(?:\\[([0-9;:]*)m|\\[[0-?]*[ -/]*[@-~]|[\\]PX^_][^\u0007${escape}]*(?:\u0007|${escape}\\\\|$)|[ -/]*[0-~])`,
  "g"
)
// C0 without tab and line feed, DEL, and C1.
// oxlint-disable-next-line eslint/no-control-regex -- these characters are meant
const control = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]", "g")

// Like `control`, but without the `g` flag, so that `test` keeps no state. Most lines contain no such characters, so a
// single test suffices.
// oxlint-disable-next-line eslint/no-control-regex -- these characters are meant
const anyControl = new RegExp("[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f]")

/** Removes all escape sequences and control characters from a line, for search and download. */
export const stripAnsi = (line: string): string =>
  anyControl.test(line) ? line.replaceAll(sequence, "").replaceAll(control, "") : line

/** Splits a line into coloured pieces. Colours do not continue on the next line, because lines are rendered individually. */
export const ansiPieces = (line: string): ReadonlyArray<Piece> => {
  const pieces: Array<Piece> = []
  let look = plain
  let last = 0
  const push = (text: string) => {
    const clean = text.replaceAll(control, "")
    if (clean !== "") pieces.push({ text: clean, className: className(look) })
  }
  for (const match of line.matchAll(sequence)) {
    push(line.slice(last, match.index))
    if (match[0].endsWith("m") && match[1] !== undefined) look = rendition(look, match[1])
    last = match.index + match[0].length
  }
  push(line.slice(last))
  return pieces
}
