import * as Redacted from "effect/Redacted"
import { hiddenKey, replacedAddress } from "./InstanceKeys.ts"
import { type Pattern, PatternAutomaton, type PatternKind } from "./PatternAutomaton.ts"
import { RedactionLines } from "./RedactionLines.ts"
import { RedactionStream } from "./RedactionStream.ts"
import { leafTexts, scopeOf, type Secret, shortestAnywhere, shortestToken } from "./SecretRule.ts"
import { TextScanner } from "./TextScanner.ts"
import { Buffer } from "node:buffer"
import { stripTerminalSequences } from "./AnsiSequences.ts"
import { EscapeDecoder } from "./EscapeDecoder.ts"
import { blankClass, folded, quoteClass } from "./FoldedText.ts"
import * as Option from "effect/Option"
import { withNumbersAsText } from "../../schema/json/ExactNumbers.ts"

const deepestEncoding = 4
const shortestTokenPart = 16

/** Matches names whose assigned value is a secret, even in text that is not JSON. */
const secretNames = /key|token|secret|passw|pwd|signature|^sig$|credential|auth/i

const decodeJson = Option.liftThrowable((text: string): unknown => [
  JSON.parse(text),
  JSON.parse(withNumbersAsText(text))
])
const utf8 = new TextDecoder("utf-8", { fatal: true })
const decodeUtf8 = Option.liftThrowable((bytes: Uint8Array) => utf8.decode(bytes))
const decodePercent = Option.liftThrowable(decodeURIComponent)

const userInfo = (text: string) =>
  [...text.matchAll(/[a-z][a-z0-9+.-]{0,30}:\/\/([^\s/?#@]*)@/gi)].flatMap(([, info = ""]) => {
    const separator = info.indexOf(":")
    const secret = separator < 0 ? info : info.slice(separator + 1)
    return [secret, ...Option.toArray(decodePercent(secret))]
  })

const assignments = (text: string) =>
  [...text.matchAll(/(?<![\w.-])([\w.-]+)["']?[ \t]*[=:][ \t]*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"';&,]+))/g)].flatMap(
    ([, name = "", double, single, bare]) => (secretNames.test(name) ? [double ?? single ?? bare ?? ""] : [])
  )

const netrcPasswords = (text: string) =>
  [...text.matchAll(/\bpassword[ \t]+(\S+)/g)].map(([, password = ""]) => password)

const authorization = (text: string) => {
  const [, scheme = "", credentials = ""] = /^(bearer|basic|token)[ \t]+(\S+)$/i.exec(text.trim()) ?? []
  if (scheme.toLowerCase() !== "basic") return [credentials]
  const pair = Buffer.from(credentials, "base64").toString("utf8")
  return [credentials, pair, pair.slice(pair.indexOf(":") + 1)]
}

const tokenParts = (text: string) => {
  const parts = text.trim().split(".")
  const isToken = parts.length === 3 && parts.every((part) => /^[\w-]+$/.test(part))
  // Skip the header of a JSON Web Token, which is the same for everyone and therefore not secret.
  return isToken ? parts.slice(1).filter((part) => part.length >= shortestTokenPart) : []
}

const embedded = (text: string) => {
  const compact = text.replace(/\s/g, "")
  if (compact.length < shortestTokenPart || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(compact)) return []
  const decoded = decodeUtf8(Buffer.from(compact, "base64"))
  const isDocument = (inner: string) => inner.trimStart().startsWith("{") || inner.includes("-----BEGIN")
  return Option.toArray(Option.filter(decoded, isDocument))
}

/**
 * Returns the secret, and every part of the secret that must also be hidden: each string and number in JSON text, passwords
 * in URLs and connection strings, `key = value` lines, authorization headers, tokens, and base64-encoded documents.
 */
const secretParts = (secret: string | Uint8Array): ReadonlyArray<string | Uint8Array> => {
  const found = new Set<string>()
  const open: Array<readonly [depth: number, text: string]> = []
  const decoded = typeof secret === "string" ? Option.some(secret) : decodeUtf8(secret)
  for (const text of Option.toArray(decoded)) open.push([0, text])
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [depth, text] = next
    if (text === "" || found.has(text)) continue
    found.add(text)
    if (depth === deepestEncoding) continue
    const document = /^\s*[[{"]/.test(text) ? decodeJson(text) : Option.none()
    const parts = Option.match(document, {
      onSome: leafTexts,
      onNone: () => [...assignments(text), ...netrcPasswords(text), ...authorization(text), ...tokenParts(text)]
    })
    for (const part of [...parts, ...userInfo(text), ...embedded(text)]) open.push([depth + 1, part])
  }
  return typeof secret === "string" || Option.isSome(decoded) ? [...found] : [secret]
}

const shortestLine = 12
// Maximum length of a pattern. A longer secret is matched in pieces, so that a stream holds back little text and truncated
// copies are still found.
const longestPattern = 511
const sliceLength = 256
// Minimum length of a secret after its whitespace has been removed. The secret itself has at least 6 characters.
const shortestUnbroken = 4

const withoutEscapes = (bytes: Iterable<number>): ReadonlyArray<number> => {
  const found: Array<number> = []
  const decoder = new EscapeDecoder({ byte: (value) => found.push(value), skipped: () => {}, edge: () => {} })
  let position = 0
  for (const value of bytes) decoder.byte(value, position, ++position)
  decoder.edge()
  return found
}

const slices = (bytes: ReadonlyArray<number>): ReadonlyArray<ReadonlyArray<number>> => {
  if (bytes.length <= longestPattern) return [bytes]
  const count = Math.floor(bytes.length / sliceLength)
  return Array.from({ length: count }, (_, index) =>
    bytes.slice(index * sliceLength, index === count - 1 ? bytes.length : (index + 1) * sliceLength)
  )
}

/** Returns the full text and each line that is long enough, because programs often print only part of a key file. */
const pieces = (text: string): ReadonlySet<string> => {
  const lines = text
    .split(/\r\n|\n|\r/)
    .map((line) => line.trim())
    .filter((line) => line.length >= shortestLine && !/^-----(BEGIN|END)/.test(line))
  return new Set([text.trim(), ...lines])
}

/**
 * Returns a pattern for text without line breaks and whitespace, or an empty array if that pattern would not differ from the
 * original one.
 */
const withoutBlanks = (bytes: ReadonlyArray<number>): ReadonlyArray<number> =>
  bytes.includes(blankClass) ? folded(bytes.filter((byte) => byte !== blankClass)) : []

const isDigits = (text: string) => /^\d+$/.test(text)

const kindOf = (piece: string, length: number): PatternKind => {
  if (piece.length < shortestAnywhere) return isDigits(piece) ? "number" : "token"
  return length < shortestAnywhere ? "guarded" : "anywhere"
}

/**
 * Returns the length of a text's last character or, if the text ends with a run that is compared as one character, the
 * length of the run.
 */
const lastRun = (text: string): number => {
  const run = ["+", "\"$%'\\`"].find((characters) => characters.includes(text.at(-1) ?? " "))
  if (run === undefined) return Array.from(text.slice(-2)).at(-1)?.length ?? 0
  let start = text.length
  while (start > 0 && run.includes(text.charAt(start - 1))) start--
  return text.length - start
}

const pieceSpellings = (piece: string): ReadonlyArray<Iterable<number>> => {
  const shown = stripTerminalSequences(piece)
  const texts = shown === piece ? [piece] : [piece, shown]
  // Skip UTF-16 for ASCII text, because UTF-16 only adds bytes that the comparison ignores.
  const isAscii = Buffer.byteLength(piece) === piece.length
  return texts.flatMap((text) => {
    const bytes = Buffer.from(text)
    const wide = isAscii ? undefined : Buffer.from(text, "utf16le")
    return [bytes, withoutEscapes(bytes), ...(wide === undefined ? [] : [wide, withoutEscapes(wide)])]
  })
}

const textPatterns = (origin: string, text: string): ReadonlyArray<Pattern> => {
  if (scopeOf(text) === "none") return []
  return [...pieces(text)].flatMap((piece) =>
    pieceSpellings(piece).flatMap((bytes) => {
      const whole = folded(bytes)
      const trailing = piece.endsWith("\\") && whole.length > shortestToken
      const shapes = trailing && whole.at(-1) === quoteClass ? [whole, whole.slice(0, -1)] : [whole]
      const shown: ReadonlyArray<Pattern> = shapes.flatMap((shape) =>
        slices(shape)
          .filter((slice) => slice.length >= shortestToken)
          .map((slice) => ({
            bytes: Uint8Array.from(slice),
            kind: kindOf(piece, slice.length),
            origin,
            minSource: piece.length - lastRun(piece) + (shape === whole ? 1 : 0),
            trailing
          }))
      )
      const unbroken: ReadonlyArray<Pattern> = slices(withoutBlanks(whole))
        .filter((slice) => slice.length >= shortestUnbroken && piece.length >= shortestAnywhere)
        .map((slice) => ({
          bytes: Uint8Array.from(slice),
          kind: "unbroken",
          origin,
          // Do not count whitespace around a line break, because such whitespace reveals nothing.
          minSource: Math.min(slice.length, shortestAnywhere),
          trailing
        }))
      return [...shown, ...unbroken]
    })
  )
}

const bytePatterns = (origin: string, bytes: Uint8Array): ReadonlyArray<Pattern> =>
  [folded(bytes), folded(withoutEscapes(bytes))]
    .flatMap(slices)
    .filter((slice) => slice.length >= shortestAnywhere)
    .map((slice) => ({ bytes: Uint8Array.from(slice), kind: "anywhere", origin, minSource: 0, trailing: false }))

/** Returns the patterns to search for: the parts of all secrets in comparable form, without duplicates. */
const secretPatterns = (secrets: Iterable<Secret>): ReadonlyArray<Pattern> => {
  const found = new Map<string, Pattern>()
  for (const { origin, value } of secrets) {
    for (const part of secretParts(Redacted.value(value))) {
      const patterns = typeof part === "string" ? textPatterns(origin, part) : bytePatterns(origin, part)
      for (const pattern of patterns) {
        const key = `${pattern.kind} ${pattern.trailing} ${Buffer.from(pattern.bytes).toString("latin1")}`
        if (!found.has(key)) found.set(key, pattern)
      }
    }
  }
  return [...found.values()]
}

/**
 * Minimum length of a secret that is hidden in names. Names in the module's code, which is not secret, may contain a short secret
 * such as `postgres` by chance.
 */
const shortestInName = 16

/**
 * A text to redact, by kind. In a `name` or `address`, everything except instance keys comes from the module. The parts of one
 * message are read as lines of one text, which may have been cut off.
 */
export interface RedactionItem {
  readonly as: "text" | "name" | "address" | "message" | "part"
  readonly text: string
  /** For a message: address of the resource that the message is about. */
  readonly address?: string | undefined
  /** For a part: all parts in the order in which they are shown, and the index of this part. */
  readonly parts?: ReadonlyArray<string> | undefined
  readonly index?: number | undefined
}

/**
 * Replaces secrets with `[redacted <origin>]`, in every encoding that can be decoded without knowing the secret. Cannot find
 * a secret that a module has reversed, split or encrypted. `SecretRule.ts` defines which texts count as secrets, and where.
 * A redactor may contain several sets of values, such as a credential's values before and after a rotation, and hides all of
 * them.
 */
export class Redactor {
  readonly #secrets: Array<Secret> = []
  readonly #known = new Set<string | Uint8Array>()
  #automaton: PatternAutomaton | undefined
  // Reused for complete strings, because a plan contains many short strings.
  #scanner: TextScanner | undefined

  #addressKey: string | undefined

  constructor(...sets: ReadonlyArray<Iterable<Secret>>) {
    for (const secrets of sets) this.add(secrets)
  }

  /** Adds secrets that become known during a run. Open streams search for them from the next piece on. */
  add(secrets: Iterable<Secret>): void {
    for (const secret of secrets) {
      const value = Redacted.value(secret.value)
      if (this.#known.has(value)) continue
      this.#known.add(value)
      this.#secrets.push(secret)
      this.#automaton = undefined
      this.#scanner = undefined
    }
  }

  /** From now on, replaces secret instance keys in addresses with digests that use this key. */
  keyAddresses(addressKey: string): void {
    this.#addressKey = addressKey
  }

  item({ address, as, index, parts, text }: RedactionItem): string {
    switch (as) {
      case "text":
        return this.text(text)
      case "name":
        return this.name(text)
      case "address":
        return this.address(text)
      case "message":
        return this.message(text, address)
      case "part":
        return this.parts(parts ?? [text])[index ?? 0] ?? ""
    }
  }

  text(text: string): string {
    return this.#whole(text, 0)
  }

  /** Redacts a name from the module's code or a provider. */
  name(name: string): string {
    return this.#whole(name, shortestInName)
  }

  /** Redacts the address of a resource, whose instance keys may come from a secret value. */
  address(address: string): string {
    return replacedAddress(
      address,
      (key) => {
        const shown = this.text(key)
        return shown === key || this.#addressKey === undefined ? shown : hiddenKey(this.#addressKey, key)
      },
      (text) => this.name(text)
    )
  }

  /** Redacts the tool's message about a resource. */
  message(text: string, address: string | undefined): string {
    const index = address === undefined || address === "" ? -1 : text.indexOf(address)
    if (address === undefined || index < 0) return this.text(text)
    return this.text(text.slice(0, index)) + this.address(address) + this.text(text.slice(index + address.length))
  }

  /** Redacts the parts of one message, such as a diagnostic's summary and detail. */
  parts(parts: ReadonlyArray<string>): ReadonlyArray<string> {
    const lines = this.lines()
    return [...lines.push(parts), ...lines.end()].map((line) => line ?? "")
  }

  /** Creates a redactor for text that arrives in pieces. Create one redactor per source. */
  stream(): RedactionStream {
    return new RedactionStream(() => this.#search())
  }

  /** Creates a redactor for text that arrives in lines. */
  lines(): RedactionLines {
    return new RedactionLines(this.stream())
  }

  #whole(text: string, shortest: number): string {
    const automaton = this.#search()
    this.#scanner ??= new TextScanner(automaton, 0)
    this.#scanner.restart()
    return new RedactionStream(() => automaton, shortest, this.#scanner).end(text)
  }

  // Built on first use, for all secrets added so far.
  #search(): PatternAutomaton {
    this.#automaton ??= new PatternAutomaton(secretPatterns(this.#secrets))
    return this.#automaton
  }
}
