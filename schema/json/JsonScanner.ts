import { isExactNumber } from "./ExactNumbers.ts"
import type { JsonValueLimits } from "./JsonLimits.ts"
import type { JsonRefusalReason } from "./JsonRefusal.ts"

/**
 * The keys of one object. It is not a plain `Set`, because most objects in a large document are small, and a `Set` for each
 * of them would double the cost.
 */
class SeenKeys {
  readonly #few: Array<string> = []
  #many: Set<string> | undefined

  /** Adds a key. Returns `false` if the object already has it. */
  add(key: string): boolean {
    if (this.#many !== undefined) return this.#many.size < this.#many.add(key).size
    if (this.#few.includes(key)) return false
    this.#few.push(key)
    if (this.#few.length > 8) this.#many = new Set(this.#few)
    return true
  }
}

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const colon = 0x3a
const minus = 0x2d
const plus = 0x2b
const dot = 0x2e
const zero = 0x30
const openArray = 0x5b
const closeArray = 0x5d
const openObject = 0x7b
const closeObject = 0x7d
const lowerU = 0x75

const isWhiteSpace = (unit: number) => unit === 0x20 || unit === 0x0a || unit === 0x0d || unit === 0x09
const isDigit = (unit: number) => unit >= 0x30 && unit <= 0x39
const isHighSurrogate = (unit: number) => unit >= 0xd800 && unit <= 0xdbff
const isLowSurrogate = (unit: number) => unit >= 0xdc00 && unit <= 0xdfff

/** Returns the number of UTF-8 bytes of one UTF-16 unit. Each half of a surrogate pair counts as 2. */
const utf8Bytes = (unit: number) => {
  if (unit < 0x80) return 1
  if (unit < 0x800 || (unit >= 0xd800 && unit <= 0xdfff)) return 2
  return 3
}

const hexDigit = (unit: number) => {
  if (isDigit(unit)) return unit - zero
  const lower = unit | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}

const isSimpleEscape = (unit: number) =>
  unit === quote ||
  unit === backslash ||
  unit === 0x2f ||
  unit === 0x62 ||
  unit === 0x66 ||
  unit === 0x6e ||
  unit === 0x72 ||
  unit === 0x74

export interface JsonFault {
  readonly reason: JsonRefusalReason
  readonly offset: number
}

/**
 * Scans a document once, without recursion and without building values, so that even for a hostile document, the cost is
 * linear in the length of the text before the first fault. The grammar is exactly RFC 8259, so `JSON.parse` accepts every
 * document that passes.
 */
export class JsonScanner {
  readonly #text: string
  readonly #limits: JsonValueLimits
  readonly #tolerated: ReadonlySet<JsonRefusalReason>
  #at = 0
  #nodes = 0
  /** One entry per open container: the keys of an object so far, or `undefined` for an array. */
  readonly #open: Array<SeenKeys | undefined> = []
  #fault: JsonFault | undefined

  /** Ignores `tolerated` faults: `duplicate_key` or `lone_surrogate`, which some JSON parsers accept. */
  constructor(text: string, limits: JsonValueLimits, tolerated: ReadonlyArray<JsonRefusalReason> = []) {
    this.#text = text
    this.#limits = limits
    this.#tolerated = new Set(tolerated)
  }

  /** Returns the first fault, or `undefined` if the document is acceptable. */
  scan(): JsonFault | undefined {
    let complete = this.#value()
    while (this.#fault === undefined) {
      if (!complete) {
        complete = this.#value()
      } else if (this.#open.length === 0) {
        return this.#end()
      } else {
        complete = this.#afterValue()
      }
    }
    return this.#fault
  }

  #refuse(reason: JsonRefusalReason, offset = this.#at): false {
    this.#fault ??= { reason, offset }
    return false
  }

  #skipWhiteSpace() {
    while (isWhiteSpace(this.#text.charCodeAt(this.#at))) this.#at++
  }

  #end() {
    this.#skipWhiteSpace()
    if (this.#at !== this.#text.length) this.#refuse("syntax")
    return this.#fault
  }

  /** Scans one value. Returns `true` if it is complete, and `false` after opening a container whose first value comes next. */
  #value(): boolean {
    this.#skipWhiteSpace()
    this.#nodes++
    if (this.#nodes > this.#limits.maxNodes) return this.#refuse("too_many_nodes")
    const unit = this.#text.charCodeAt(this.#at)
    switch (unit) {
      case openObject:
        return this.#openContainer(new SeenKeys(), closeObject)
      case openArray:
        return this.#openContainer(undefined, closeArray)
      case quote:
        return this.#string(this.#limits.maxStringBytes, "string_too_long") !== undefined
      case 0x74:
        return this.#word("true")
      case 0x66:
        return this.#word("false")
      case 0x6e:
        return this.#word("null")
      default:
        return unit === minus || isDigit(unit) ? this.#number() : this.#refuse("syntax")
    }
  }

  #openContainer(keys: SeenKeys | undefined, close: number): boolean {
    if (this.#open.length >= this.#limits.maxDepth) return this.#refuse("too_deep")
    this.#at++
    this.#skipWhiteSpace()
    if (this.#text.charCodeAt(this.#at) === close) {
      this.#at++
      return true
    }
    this.#open.push(keys)
    if (keys !== undefined) this.#key(keys)
    return false
  }

  /**
   * Continues after a complete value. Returns `false` after a comma, because another value follows, and `true` after a closing
   * bracket.
   */
  #afterValue(): boolean {
    this.#skipWhiteSpace()
    const keys = this.#open[this.#open.length - 1]
    const unit = this.#text.charCodeAt(this.#at)
    if (unit === comma) {
      this.#at++
      if (keys !== undefined) {
        this.#skipWhiteSpace()
        this.#key(keys)
      }
      return false
    }
    if (unit !== (keys === undefined ? closeArray : closeObject)) return this.#refuse("syntax")
    this.#at++
    this.#open.pop()
    return true
  }

  #key(seen: SeenKeys) {
    const start = this.#at
    if (this.#text.charCodeAt(start) !== quote) return this.#refuse("syntax")
    const key = this.#string(this.#limits.maxKeyBytes, "key_too_long")
    if (key === undefined) return false
    if (!seen.add(key) && !this.#tolerated.has("duplicate_key")) return this.#refuse("duplicate_key", start)
    this.#skipWhiteSpace()
    if (this.#text.charCodeAt(this.#at) !== colon) return this.#refuse("syntax")
    this.#at++
    return true
  }

  /** Scans a string from its opening quote. Returns the string with its escapes decoded, or `undefined` after a fault. */
  #string(maxBytes: number, tooLong: JsonRefusalReason): string | undefined {
    const text = this.#text
    const opening = this.#at
    let bytes = 0
    let decoded = ""
    let pendingFrom = opening + 1
    let at = pendingFrom
    for (;;) {
      const unit = text.charCodeAt(at)
      if (unit === quote) break
      if (unit === backslash) {
        decoded += text.slice(pendingFrom, at)
        this.#at = at
        const escaped = this.#escape()
        if (escaped === undefined) return undefined
        decoded += escaped
        for (let index = 0; index < escaped.length; index++) bytes += utf8Bytes(escaped.charCodeAt(index))
        at = pendingFrom = this.#at
      } else if (unit >= 0x20) {
        bytes += utf8Bytes(unit)
        at++
      } else {
        // A control character, or NaN at the end of the input.
        this.#refuse("syntax", at)
        return undefined
      }
      if (bytes > maxBytes) {
        this.#refuse(tooLong, opening)
        return undefined
      }
    }
    this.#at = at + 1
    return decoded + text.slice(pendingFrom, at)
  }

  #escape(): string | undefined {
    const start = this.#at
    const unit = this.#text.charCodeAt(start + 1)
    if (unit === lowerU) {
      const first = this.#hexEscape(start)
      if (first === undefined) return undefined
      if (isLowSurrogate(first)) return this.#loneSurrogate(first, start)
      if (!isHighSurrogate(first)) return String.fromCharCode(first)
      const second = this.#text.charCodeAt(this.#at) === backslash && this.#text.charCodeAt(this.#at + 1) === lowerU
      const after = this.#at
      const low = second ? this.#hexEscape(after) : 0
      if (low === undefined) return undefined
      if (!isLowSurrogate(low)) {
        // The caller continues after this position.
        this.#at = after
        return this.#loneSurrogate(first, start)
      }
      return String.fromCharCode(first, low)
    }
    if (!isSimpleEscape(unit)) {
      this.#refuse("syntax", start)
      return undefined
    }
    this.#at = start + 2
    switch (unit) {
      case 0x62:
        return "\b"
      case 0x66:
        return "\f"
      case 0x6e:
        return "\n"
      case 0x72:
        return "\r"
      case 0x74:
        return "\t"
      default:
        return String.fromCharCode(unit)
    }
  }

  #loneSurrogate(unit: number, start: number): string | undefined {
    if (this.#tolerated.has("lone_surrogate")) return String.fromCharCode(unit)
    this.#refuse("lone_surrogate", start)
    return undefined
  }

  #hexEscape(start: number): number | undefined {
    let value = 0
    for (let index = start + 2; index < start + 6; index++) {
      const digit = hexDigit(this.#text.charCodeAt(index))
      if (digit < 0) {
        this.#refuse("syntax", start)
        return undefined
      }
      value = value * 16 + digit
    }
    this.#at = start + 6
    return value
  }

  #word(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return this.#refuse("syntax")
    this.#at += word.length
    return true
  }

  #digits(): boolean {
    const start = this.#at
    while (isDigit(this.#text.charCodeAt(this.#at))) this.#at++
    return this.#at > start || this.#refuse("syntax")
  }

  #number(): boolean {
    const start = this.#at
    let exponentDigits = 0
    if (this.#text.charCodeAt(this.#at) === minus) this.#at++
    if (this.#text.charCodeAt(this.#at) === zero) this.#at++
    else if (!this.#digits()) return false
    if (this.#text.charCodeAt(this.#at) === dot) {
      this.#at++
      if (!this.#digits()) return false
    }
    if ((this.#text.charCodeAt(this.#at) | 0x20) === 0x65) {
      this.#at++
      const sign = this.#text.charCodeAt(this.#at)
      if (sign === plus || sign === minus) this.#at++
      const digits = this.#at
      if (!this.#digits()) return false
      exponentDigits = this.#at - digits
    }
    // Shorter numbers without an exponent are always exact.
    if (this.#limits.exactNumbers === true && (this.#at - start >= 16 || exponentDigits > 0)) {
      if (!isExactNumber(this.#text.slice(start, this.#at))) return this.#refuse("number_rounded", start)
    }
    // A number of this length is below 10^(200 + 99), so it is finite.
    if (this.#at - start <= 200 && exponentDigits <= 2) return true
    // Rejects numbers that `JSON.parse` would return as Infinity, which cannot be written as JSON again.
    const finite = Number.isFinite(Number(this.#text.slice(start, this.#at)))
    return finite || this.#refuse("number_out_of_range", start)
  }
}
