import { Result } from "effect"
import { type JsonFault, JsonScanner } from "../../schema/json/JsonScanner.ts"

/**
 * A JSON value and the number of its first line, counted from 1. Numbers keep their text, because conversion to a double
 * would change some numbers. `repeated` contains further values of repeated keys, and is absent in most objects.
 */
export type LocatedJson = { readonly line: number } & (
  | { readonly kind: "null" }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "number"; readonly text: string }
  | { readonly kind: "string"; readonly value: string }
  | { readonly kind: "array"; readonly items: ReadonlyArray<LocatedJson> }
  | {
      readonly kind: "object"
      readonly entries: ReadonlyMap<string, LocatedJson>
      readonly repeated?: ReadonlyArray<LocatedProperty>
    }
)

export type LocatedProperty = readonly [key: string, value: LocatedJson]

export type LocatedObject = Extract<LocatedJson, { readonly kind: "object" }>

/** Lists all properties of an object, including repeated keys. */
export const propertiesOf = ({ entries, repeated = [] }: LocatedObject): ReadonlyArray<LocatedProperty> => [
  ...entries,
  ...repeated
]

const unbounded = Number.MAX_SAFE_INTEGER
const whiteSpace = /[ \t\r\n]*/y
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y

/** Builds the tree of a document. Checks nothing, because `JsonScanner` has already accepted the document. */
class TreeBuilder {
  readonly #text: string
  #at = 0
  #line = 1

  constructor(text: string) {
    this.#text = text
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at
    const taken = pattern.exec(this.#text)?.[0] ?? ""
    this.#at += taken.length
    return taken
  }

  #space() {
    const taken = this.#take(whiteSpace)
    for (let at = taken.indexOf("\n"); at !== -1; at = taken.indexOf("\n", at + 1)) this.#line++
  }

  #string(): string {
    const start = this.#at++
    while (this.#text[this.#at] !== '"') this.#at += this.#text[this.#at] === "\\" ? 2 : 1
    this.#at++
    const value: string = JSON.parse(this.#text.slice(start, this.#at))
    return value.toWellFormed()
  }

  #separator() {
    this.#space()
    return this.#text[this.#at++]
  }

  #isEmpty(close: string): boolean {
    this.#at++
    this.#space()
    if (this.#text[this.#at] !== close) return false
    this.#at++
    return true
  }

  value(): LocatedJson {
    this.#space()
    const line = this.#line
    switch (this.#text[this.#at]) {
      case "{": {
        const entries = new Map<string, LocatedJson>()
        if (this.#isEmpty("}")) return { kind: "object", entries, line }
        const repeated: Array<LocatedProperty> = []
        do {
          this.#space()
          const key = this.#string()
          this.#separator()
          const value = this.value()
          if (entries.has(key)) repeated.push([key, value])
          else entries.set(key, value)
        } while (this.#separator() === ",")
        return { kind: "object", entries, line, ...(repeated.length === 0 ? {} : { repeated }) }
      }
      case "[": {
        const items: Array<LocatedJson> = []
        if (this.#isEmpty("]")) return { kind: "array", items, line }
        do items.push(this.value())
        while (this.#separator() === ",")
        return { kind: "array", items, line }
      }
      case '"':
        return { kind: "string", value: this.#string(), line }
      case "n":
        this.#at += 4
        return { kind: "null", line }
      case "t":
        this.#at += 4
        return { kind: "boolean", value: true, line }
      case "f":
        this.#at += 5
        return { kind: "boolean", value: false, line }
      default:
        return { kind: "number", text: this.#take(number), line }
    }
  }
}

/**
 * Parses JSON (RFC 8259) as the tools do: keys may repeat, and half of a surrogate pair becomes U+FFFD. `maxDepth` limits
 * the number of open arrays and objects.
 */
export const readLocatedJson = (text: string, maxDepth: number): Result.Result<LocatedJson, JsonFault> => {
  const limits = { maxDepth, maxNodes: unbounded, maxKeyBytes: unbounded, maxStringBytes: unbounded }
  const fault = new JsonScanner(text, limits, ["duplicate_key", "lone_surrogate"]).scan()
  return fault === undefined ? Result.succeed(new TreeBuilder(text).value()) : Result.fail(fault)
}
