import { isUtf8 } from "node:buffer"
import { Effect, Option, Schema, SchemaAST } from "effect"
import { Instance, Resource, StateDocument } from "./StateDocument.ts"

/** The expected structure of a JSON value. `undefined` accepts anything. */
interface Shape {
  readonly kinds: ReadonlyArray<JsonKind>
  readonly check?: (value: string | number) => boolean
  /** Known fields of an object. Other fields are allowed. */
  readonly fields?: ReadonlyMap<string, Shape | undefined>
  readonly required?: ReadonlyArray<string>
  /** Shape of every value of an object. */
  readonly values?: Shape | undefined
  /** Shape of every item of an array. */
  readonly items?: Shape | undefined
}

type JsonKind = "string" | "number" | "boolean" | "null" | "object" | "array"

/** Creates the error for a part of the schema that a scan does not support. */
const unknownPart = (ast: SchemaAST.AST) => new Error(`A scan has no shape for a ${ast._tag} of a state.`)

const ofText = (kind: "string" | "number", ast: SchemaAST.AST): Shape => {
  const kinds = [kind]
  return ast.checks === undefined ? { kinds } : { kinds, check: Schema.is(Schema.make<Schema.Schema<unknown>>(ast)) }
}

const ofObject = ({ indexSignatures, propertySignatures }: SchemaAST.Objects): Shape => {
  const [signature] = indexSignatures
  if (signature !== undefined) return { kinds: ["object"], values: shapeOf(signature.type) }
  return {
    kinds: ["object"],
    fields: new Map(propertySignatures.map(({ name, type }) => [String(name), shapeOf(type)])),
    required: propertySignatures.flatMap(({ name, type }) => (SchemaAST.isOptional(type) ? [] : [String(name)]))
  }
}

/** Only unions of `null` with another shape are supported; a state contains no other unions. */
const ofUnion = (ast: SchemaAST.Union): Shape => {
  const shapes = ast.types.map(shapeOf)
  const other = shapes.find((shape) => shape?.kinds.includes("null") === false)
  if (other === undefined || shapes.length !== 2) throw unknownPart(ast)
  return { ...other, kinds: [...other.kinds, "null"] }
}

const derived = (ast: SchemaAST.AST): Shape | undefined => {
  switch (ast._tag) {
    case "String":
      return ofText("string", ast)
    case "Number":
      return ofText("number", ast)
    case "Boolean":
      return { kinds: ["boolean"] }
    case "Null":
      return { kinds: ["null"] }
    case "Arrays": {
      const [items] = ast.rest
      if (items === undefined) throw unknownPart(ast)
      return { kinds: ["array"], items: shapeOf(items) }
    }
    case "Objects":
      return ofObject(ast)
    case "Union":
      return ofUnion(ast)
    case "Unknown":
      return undefined
    default:
      if (ast === Schema.Json.ast) return undefined
      throw unknownPart(ast)
  }
}

const known = new Map<SchemaAST.AST, Shape | undefined>()

/**
 * Returns the shape for a part of the schema. The same part always gives the same object, so that a scan can compare shapes
 * by identity.
 */
const shapeOf = (ast: SchemaAST.AST): Shape | undefined => {
  if (!known.has(ast)) known.set(ast, derived(ast))
  return known.get(ast)
}

const ofStruct = (ast: SchemaAST.Objects): Shape => {
  const shape = shapeOf(ast)
  if (shape === undefined) throw unknownPart(ast)
  return shape
}

const stateShape = ofStruct(StateDocument.ast)

const resourceShape = ofStruct(Resource.ast)

const instanceShape = ofStruct(Instance.ast)

/** The header of a state file. `resourceCount` is undefined if the tool has encrypted the state. */
export interface ScannedState {
  readonly serial: number
  readonly lineage: string
  readonly resourceCount: number | undefined
}

/** Position of a value in a document: the index of its first byte, and the index after its last byte. */
export interface Extent {
  readonly from: number
  readonly to: number
}

/** Positions of the parts of a state, so that svc can read one part at a time. */
export interface StateLayout {
  readonly isEncrypted: boolean
  readonly outputs: Extent | undefined
  readonly resources: ReadonlyArray<{
    readonly whole: Extent
    readonly instances: Extent | undefined
    readonly each: ReadonlyArray<Extent>
  }>
}

/** An object or array that has not been closed yet. */
interface Frame {
  readonly from: number
  readonly isArray: boolean
  readonly shape: Shape | undefined
  /** Fields of the object's shape that have been read so far. */
  readonly seen: Set<string>
  field: string | undefined
  items: number
  isManaged: boolean
  instances: number
}

type Expected = "value" | "value_or_end" | "key" | "key_or_end" | "colon" | "next" | "end"

const code = (character: string) => character.charCodeAt(0)
const quote = code('"')
const backslash = code("\\")
const firstPrintable = 0x20
const hexDigits = 4

const bytesOf = (characters: string) => new Set([...characters].map(code))
const ofNumbers = bytesOf("0123456789+-.eE")
const escaped = bytesOf('"\\/bfnrt')
const hex = bytesOf("0123456789abcdefABCDEF")

/** Compares bytes instead of characters. This is faster, because most bytes of a state are whitespace. */
const isBlank = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09

const wholeNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const literals: ReadonlyArray<readonly [string, JsonKind]> = [
  ["true", "boolean"],
  ["false", "boolean"],
  ["null", "null"]
]

/** Maximum length of a number. Numbers in a state have a few hundred digits at most. */
const longestNumber = 4096
const deepest = 1000
/** Maximum length of a name in a shape, even if every character is escaped. */
const longestName = 256

/** Returns the index after the closing quote, or -1 if the text that begins before `from` is not a string. */
const endOfString = (bytes: Uint8Array, from: number): number => {
  for (let at = from; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0
    if (byte === quote) return at + 1
    if (byte < firstPrintable) return -1
    if (byte !== backslash) continue
    at += 1
    const kind = bytes[at] ?? 0
    if (kind === code("u")) {
      for (let digit = 1; digit <= hexDigits; digit += 1) if (!hex.has(bytes[at + digit] ?? 0)) return -1
      at += hexDigits
    } else if (!escaped.has(kind)) return -1
  }
  return -1
}

const decoder = new TextDecoder()

/** Reads a document once from beginning to end. Stores only the current position in the document. */
class StateScan {
  private readonly bytes: Uint8Array
  private at = 0
  private expected: Expected = "value"
  private isBroken = false
  private readonly open: Array<Frame> = []
  private serial: number | undefined
  private lineage: string | undefined
  private version: number | undefined
  private isEncrypted = false
  private managed = 0
  private outputs: Extent | undefined
  private instances: Extent | undefined
  private each: Array<Extent> = []
  private readonly resources: Array<StateLayout["resources"][number]> = []

  private readonly mostValues: number
  private values = 0

  constructor(bytes: Uint8Array, mostValues: number) {
    this.bytes = bytes
    this.mostValues = mostValues
  }

  /** Reads approximately this many more bytes. Returns `false` at the end of the document. */
  advance(length: number): boolean {
    const until = Math.min(this.bytes.length, this.at + length)
    while (!this.isBroken && this.at < until) this.token()
    return !this.isBroken && this.at < this.bytes.length
  }

  get found(): Option.Option<ScannedState> {
    const { lineage, serial } = this
    const isWhole = !this.isBroken && this.expected === "end" && (this.version === 4 || this.isEncrypted)
    if (!isWhole || serial === undefined || lineage === undefined) return Option.none()
    return Option.some({ serial, lineage, resourceCount: this.isEncrypted ? undefined : this.managed })
  }

  get layout(): StateLayout {
    const { isEncrypted, outputs, resources } = this
    return { isEncrypted, outputs, resources }
  }

  private token(): void {
    const byte = this.bytes[this.at] ?? 0
    if (isBlank(byte)) {
      let end = this.at + 1
      while (isBlank(this.bytes[end] ?? 0)) end += 1
      this.at = end
      return
    }
    switch (this.expected) {
      case "value":
        return this.value(byte)
      case "value_or_end":
        return byte === code("]") ? this.close() : this.value(byte)
      case "key":
        return this.key(byte)
      case "key_or_end":
        return byte === code("}") ? this.close() : this.key(byte)
      case "colon":
        return this.step(byte === code(":"), "value")
      case "next": {
        const isArray = this.open.at(-1)?.isArray === true
        if (byte === code(isArray ? "]" : "}")) return this.close()
        return this.step(byte === code(","), isArray ? "value" : "key")
      }
      case "end":
        this.isBroken = true
    }
  }

  private step(isRight: boolean, expected: Expected): void {
    this.isBroken = !isRight
    this.expected = expected
    this.at += 1
  }

  private key(byte: number): void {
    const end = byte === quote ? endOfString(this.bytes, this.at + 1) : -1
    const frame = this.open.at(-1)
    if (end === -1 || frame === undefined) {
      this.isBroken = true
      return
    }
    frame.field = undefined
    if (frame.shape?.fields !== undefined && end - this.at <= longestName) {
      const name = this.text(end)
      if (frame.shape.fields.has(name)) {
        // Refuse duplicate keys, because parsers disagree about which of the values to use.
        if (frame.seen.has(name)) this.isBroken = true
        frame.seen.add(name)
        frame.field = name
      }
    }
    this.at = end
    this.expected = "colon"
  }

  /** Returns the text from the current position to the end of the string. */
  private text(end: number): string {
    return String(JSON.parse(decoder.decode(this.bytes.subarray(this.at, end))))
  }

  private shapeHere(frame: Frame | undefined): Shape | undefined {
    if (frame === undefined) return stateShape
    if (frame.isArray) return frame.shape?.items
    return frame.field === undefined ? frame.shape?.values : frame.shape?.fields?.get(frame.field)
  }

  private value(byte: number): void {
    const frame = this.open.at(-1)
    const shape = this.shapeHere(frame)
    if (frame !== undefined) frame.items += 1
    this.values += 1
    if (this.values > this.mostValues) {
      this.isBroken = true
      return
    }
    if (this.open.length === 1 && frame?.field === "encrypted_data") this.isEncrypted = true
    if (byte === code("{") || byte === code("[")) {
      const isArray = byte === code("[")
      const kind = isArray ? "array" : "object"
      this.isBroken = shape?.kinds.includes(kind) === false || this.open.length === deepest
      const empty = { seen: new Set<string>(), field: undefined, items: 0, isManaged: false, instances: 0 }
      this.open.push({ from: this.at, isArray, shape, ...empty })
      this.expected = isArray ? "value_or_end" : "key_or_end"
      this.at += 1
      return
    }
    if (byte === quote) {
      const end = endOfString(this.bytes, this.at + 1)
      if (end === -1 || shape?.kinds.includes("string") === false) {
        this.isBroken = true
        return
      }
      if (frame !== undefined && frame.field !== undefined && shape !== undefined) {
        this.took(frame, shape, this.text(end))
      }
      return this.after(end)
    }
    const literal = literals.find(([word]) => this.isHere(word))
    if (literal !== undefined) {
      const [word, kind] = literal
      if (shape?.kinds.includes(kind) === false) this.isBroken = true
      return this.after(this.at + word.length)
    }
    this.number(frame, shape)
  }

  private isHere(word: string): boolean {
    for (let index = 0; index < word.length; index += 1) {
      if (this.bytes[this.at + index] !== word.charCodeAt(index)) return false
    }
    return true
  }

  private number(frame: Frame | undefined, shape: Shape | undefined): void {
    let end = this.at
    while (end - this.at <= longestNumber && ofNumbers.has(this.bytes[end] ?? 0)) end += 1
    const digits = decoder.decode(this.bytes.subarray(this.at, end))
    if (!wholeNumber.test(digits) || shape?.kinds.includes("number") === false) {
      this.isBroken = true
      return
    }
    if (frame !== undefined && shape !== undefined) this.took(frame, shape, Number(digits))
    this.after(end)
  }

  private took(frame: Frame, shape: Shape, value: string | number): void {
    if (shape.check?.(value) === false) this.isBroken = true
    if (frame.shape === resourceShape && frame.field === "mode") frame.isManaged = value === "managed"
    if (this.open.length !== 1) return
    if (frame.field === "serial" && typeof value === "number") this.serial = value
    if (frame.field === "version" && typeof value === "number") this.version = value
    if (frame.field === "lineage" && typeof value === "string") this.lineage = value
  }

  private close(): void {
    const frame = this.open.pop()
    if (frame?.shape?.required?.some((name) => !frame.seen.has(name)) === true) this.isBroken = true
    const around = this.open.at(-1)
    const hasInstances = frame?.isArray === true && around?.shape === resourceShape && around.field === "instances"
    if (hasInstances) around.instances = frame.items
    if (frame?.shape === resourceShape && frame.isManaged) this.managed += frame.instances
    if (frame !== undefined) {
      const extent = { from: frame.from, to: this.at + 1 }
      if (hasInstances) this.instances = extent
      if (this.open.length === 1 && around?.field === "outputs") this.outputs = extent
      this.place(frame, extent)
    }
    this.after(this.at + 1)
  }

  private place({ shape }: Frame, extent: Extent): void {
    if (shape === instanceShape) this.each.push(extent)
    if (shape !== resourceShape) return
    this.resources.push({ whole: extent, instances: this.instances, each: this.each })
    this.instances = undefined
    this.each = []
  }

  private after(end: number): void {
    this.at = end
    this.expected = this.open.length === 0 ? "end" : "next"
  }
}

const bytesAtOnce = 256 * 1024

const anyNumber = Number.POSITIVE_INFINITY

/**
 * Returns true if the bytes are a complete state file. The scan takes time proportional to the document's length, even if it
 * is deeply nested.
 */
export const isWholeState = (bytes: Uint8Array): boolean => {
  if (!isUtf8(bytes)) return false
  const scan = new StateScan(bytes, anyNumber)
  scan.advance(bytes.length)
  return Option.isSome(scan.found)
}

const read = Effect.fnUntraced(function* (bytes: Uint8Array, mostValues = anyNumber) {
  const scan = new StateScan(bytes, mostValues)
  while (scan.advance(bytesAtOnce)) yield* Effect.yieldNow
  return scan
})

/**
 * Returns the identity of a state file of any size. Uses memory only in proportion to the file's deepest nesting. Scans the
 * whole document to ensure that `parseState` would accept it. Returns `none` for anything else, for a document that contains
 * its identity twice, and for a document with more than `mostValues` values.
 */
export const scanState = Effect.fnUntraced(function* (bytes: Uint8Array, mostValues?: number) {
  return isUtf8(bytes) ? (yield* read(bytes, mostValues)).found : Option.none<ScannedState>()
})

/** Returns the positions of the resources and Outputs in a state that `scanState` accepts. */
export const stateLayout = Effect.fnUntraced(function* (bytes: Uint8Array) {
  if (!isUtf8(bytes)) return Option.none<StateLayout>()
  const scan = yield* read(bytes)
  return Option.map(scan.found, () => scan.layout)
})
