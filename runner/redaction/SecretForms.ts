import { Buffer } from "node:buffer"
import { stripTerminalSequences } from "./AnsiSequences.ts"

/** Shorter values would tear holes into ordinary words, so they are matched as whole tokens only. */
export const shortestForm = 6
const shortestToken = 2
const shortestLine = 12
// A longer form is matched piece by piece: what a stream must hold back stays small, and a cut copy is found as well.
const longestForm = 511
const sliceLength = 256
const commonTokens = new Set(["true", "false", "null", "none", "yes", "no", "on", "off"])

/** The spellings of one secret: `anywhere` in a text, and `tokens` only between characters that are not of a word. */
export interface SecretForms {
  readonly anywhere: ReadonlyArray<string>
  readonly tokens: ReadonlyArray<string>
}

const hexadecimal = (unit: number, width: number) => unit.toString(16).padStart(width, "0")

const unicodeEscape = (text: string, units: RegExp) =>
  text.replace(units, (unit) => `\\u${hexadecimal(unit.charCodeAt(0), 4)}`)

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)
// Go escapes these in JSON so that it can stand inside HTML.
const inGoJson = (text: string) => unicodeEscape(inJson(text), /[<>&\u2028\u2029]/g)
const inAsciiJson = (text: string) => unicodeEscape(inJson(text), /[\u007f-\uffff]/g)
const upperUnicode = (text: string) => text.replace(/\\u[0-9a-f]{4}/g, (unit) => `\\u${unit.slice(2).toUpperCase()}`)
const inTemplate = (text: string) => text.replaceAll("${", "$${").replaceAll("%{", "%%{")
const inHtml = (text: string, quote: string, apostrophe: string) =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', quote)
    .replaceAll("'", apostrophe)
const inShellWord = (text: string) => text.replace(/[^\w@%+=:,./-]/g, "\\$&")

const strictLiterals = /[\w.~-]/
const percentLiterals = [strictLiterals, /[\w.*-]/, /[\w.~!*'()-]/, /[\w.~$&+=:@-]/, /[\w.~!*'();,/?:@&=+$#-]/]

const percent = (bytes: Uint8Array, literal: RegExp) => {
  let encoded = ""
  for (const byte of bytes) {
    const character = String.fromCharCode(byte)
    encoded += byte < 0x80 && literal.test(character) ? character : `%${hexadecimal(byte, 2).toUpperCase()}`
  }
  return encoded
}

const percentForms = (bytes: Uint8Array) =>
  percentLiterals.flatMap((literal) => {
    const encoded = percent(bytes, literal)
    const lower = encoded.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase())
    return [encoded, lower, encoded.replaceAll("%20", "+"), lower.replaceAll("%20", "+")]
  })

const wrapped = (text: string, width: number) => text.match(new RegExp(`.{${shortestLine},${width}}`, "g")) ?? []

/**
 * Base64 of any text that holds the bytes: at each of the three alignments, without the edge characters that also
 * depend on the neighbours.
 */
const base64Forms = (bytes: Uint8Array) =>
  [0, 1, 2].flatMap((alignment) => {
    const encoded = Buffer.concat([Buffer.alloc(alignment), bytes])
      .toString("base64")
      .replace(/={1,2}$/, "")
    const start = alignment === 0 ? 0 : alignment + 1
    const end = (bytes.length + alignment) % 3 === 0 ? encoded.length : encoded.length - 1
    const core = encoded.slice(start, end)
    const lines = alignment === 0 ? [...wrapped(core, 76), ...wrapped(core, 64)] : []
    return [core, ...lines].flatMap((form) => [
      form,
      form.replaceAll("+", "-").replaceAll("/", "_"),
      form.replaceAll("/", "\\/"),
      ...percentForms(Buffer.from(form))
    ])
  })

const byteForms = (bytes: Uint8Array) => {
  const hex = Buffer.from(bytes).toString("hex")
  return [hex, hex.toUpperCase(), ...base64Forms(bytes)]
}

const textForms = (text: string) => {
  const bytes = Buffer.from(text)
  const json = [inJson(text), inGoJson(text), inAsciiJson(text), upperUnicode(inAsciiJson(text))]
  return [
    text,
    ...json,
    ...json.map((form) => form.replaceAll("/", "\\/")),
    ...json.map(inJson),
    inGoJson(inGoJson(text)),
    inTemplate(text),
    ...json.map(inTemplate),
    ...percentForms(bytes),
    percent(Buffer.from(percent(bytes, strictLiterals)), strictLiterals),
    inHtml(text, "&quot;", "&#39;"),
    inHtml(text, "&#34;", "&#39;"),
    inHtml(text, "&quot;", "&#x27;"),
    inHtml(text, '"', "'"),
    text.replaceAll("'", "'\\''"),
    text.replaceAll("'", `'"'"'`),
    inShellWord(text),
    ...byteForms(bytes),
    // What Windows takes as an encoded command, and the tool's own `textencodebase64` makes.
    ...base64Forms(Buffer.from(text, "utf16le"))
  ]
}

const pieces = (text: string) => {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !/^-----(BEGIN|END)/.test(line))
  const normalised = text.replaceAll("\r\n", "\n")
  return new Set([text, text.trim(), normalised, normalised.trim(), ...lines])
}

const slices = (form: string) => {
  if (form.length <= longestForm) return [form]
  const count = Math.floor(form.length / sliceLength)
  return Array.from({ length: count }, (_, index) =>
    form.slice(index * sliceLength, index === count - 1 ? form.length : (index + 1) * sliceLength)
  )
}

const isUsable = (form: string) => form.length >= shortestForm && form.trim() !== ""

/** Every spelling in which a tool, a provider or a shell is known to print the secret. */
export const secretForms = (secret: string | Uint8Array): SecretForms => {
  if (typeof secret !== "string") {
    return {
      anywhere: byteForms(secret)
        .flatMap(slices)
        .filter((form) => form.length >= shortestForm),
      tokens: []
    }
  }
  const forms = new Set([...pieces(secret)].flatMap(textForms).map(stripTerminalSequences))
  const anywhere = [...forms].flatMap(slices).filter(isUsable)
  const short = secret.trim()
  const isToken = short.length >= shortestToken && short.length < shortestForm && !commonTokens.has(short.toLowerCase())
  return { anywhere, tokens: isToken ? [...new Set([short, inJson(short)])] : [] }
}
