/** A part of a value, in document order. A piece without a key is an array element or the entire value. */
export type DocumentPiece =
  | { readonly kind: "whole"; readonly value: unknown }
  | { readonly kind: "open"; readonly isArray: boolean; readonly key?: string }
  | { readonly kind: "items"; readonly items: ReadonlyArray<unknown> }
  | { readonly kind: "members"; readonly members: ReadonlyArray<readonly [string, unknown]> }
  | { readonly kind: "close" }

/**
 * Maximum weight of a piece. The receiver copies a piece of this weight in a few milliseconds. The weight of each value is
 * one, plus one per `charactersOfOne` characters or bytes.
 */
const heaviestPiece = 10_000
const charactersOfOne = 64

/** Returns the weight of a value. If the weight exceeds `most`, stops early and returns some number above `most`. */
const weightOf = (root: unknown, most: number): number => {
  const open: Array<unknown> = [root]
  let weight = 0
  while (open.length > 0 && weight <= most) {
    const value = open.pop()
    weight += 1
    if (typeof value === "string") weight += value.length / charactersOfOne
    else if (ArrayBuffer.isView(value)) weight += value.byteLength / charactersOfOne
    else if (Array.isArray(value)) {
      if (value.length > most) return most + 1
      for (const item of value) open.push(item)
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) {
        weight += key.length / charactersOfOne
        open.push(member)
      }
    }
  }
  return weight
}

const isContainer = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !ArrayBuffer.isView(value)

function* piecesWithin(container: object): Generator<DocumentPiece> {
  const isArray = Array.isArray(container)
  let items: Array<unknown> = []
  let members: Array<readonly [string, unknown]> = []
  let weight = 0
  const gathered = (): DocumentPiece => {
    const piece: DocumentPiece = isArray ? { kind: "items", items } : { kind: "members", members }
    items = []
    members = []
    weight = 0
    return piece
  }
  for (const [key, value] of isArray ? container.entries() : Object.entries(container)) {
    const own = weightOf(value, heaviestPiece)
    const isSplit = own > heaviestPiece && isContainer(value)
    if (weight > 0 && (isSplit || weight + own > heaviestPiece)) yield gathered()
    if (isSplit) {
      yield { kind: "open", isArray: Array.isArray(value), ...(isArray ? {} : { key: String(key) }) }
      yield* piecesWithin(value)
      yield { kind: "close" }
      continue
    }
    weight += own
    if (isArray) items.push(value)
    else members.push([String(key), value])
  }
  if (weight > 0) yield gathered()
}

/** Splits a JSON value into pieces that are quick to copy to another thread. */
export function* piecesOf(value: unknown): Generator<DocumentPiece> {
  if (!isContainer(value) || weightOf(value, heaviestPiece) <= heaviestPiece) return yield { kind: "whole", value }
  yield { kind: "open", isArray: Array.isArray(value) }
  yield* piecesWithin(value)
  yield { kind: "close" }
}

const membersOf = (piece: DocumentPiece): ReadonlyArray<unknown> => {
  switch (piece.kind) {
    case "whole":
      return [piece.value]
    case "items":
      return piece.items
    case "members":
      return piece.members.map(([, member]) => member)
    default:
      return []
  }
}

/**
 * Returns the memory of long byte arrays in a piece, which is moved to the other thread instead of copied. This is safe because
 * no other value contains these arrays.
 */
export const movedWith = (piece: DocumentPiece): ReadonlyArray<ArrayBuffer> =>
  membersOf(piece).flatMap((value) =>
    value instanceof Uint8Array &&
    value.buffer instanceof ArrayBuffer &&
    value.byteLength === value.buffer.byteLength &&
    value.byteLength > 0
      ? [value.buffer]
      : []
  )

type Container = Array<unknown> | Record<string, unknown>

/** Defines a member as an own property, even under names such as `__proto__`. */
export const defineMember = (target: Record<string, unknown>, key: string, value: unknown): void => {
  Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true })
}

/** Assembles a value from its pieces, which must arrive in order. */
export class DocumentAssembly {
  value: unknown
  readonly #open: Array<Container> = []

  add(piece: DocumentPiece): void {
    const around = this.#open.at(-1)
    switch (piece.kind) {
      case "whole":
        this.value = piece.value
        return
      case "close":
        this.#open.pop()
        return
      case "open": {
        const opened: Container = piece.isArray ? [] : {}
        if (around === undefined) this.value = opened
        else if (Array.isArray(around)) around.push(opened)
        else defineMember(around, piece.key ?? "", opened)
        this.#open.push(opened)
        return
      }
      case "items":
        if (Array.isArray(around)) for (const item of piece.items) around.push(item)
        return
      case "members":
        if (around !== undefined && !Array.isArray(around)) {
          for (const [key, member] of piece.members) defineMember(around, key, member)
        }
    }
  }
}
