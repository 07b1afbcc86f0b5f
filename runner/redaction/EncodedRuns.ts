import { type ByteSink, noPosition } from "./FoldedText.ts"

/** A sink that reports the start of the undecided text. */
export interface OpenSink extends ByteSink {
  readonly open: () => number
  /**
   * Start of the trailing part that, if a secret follows, would already reveal too much of it; `pending` bytes of the part have
   * not been fed.
   */
  readonly held: (pending: number) => number
  /** The origin of the secret that may begin at `held`. */
  readonly heldOrigin: (position: number, pending: number) => string | undefined
}

const base64Digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"

const alphabet = (...spellings: ReadonlyArray<string>) => {
  const values = new Int8Array(256).fill(-1)
  for (const digits of spellings) {
    for (const [value, digit] of Array.from(digits).entries()) values[digit.charCodeAt(0)] = value
  }
  return values
}
const sextets = alphabet(base64Digits, base64Digits.replace("+", "-").replace("/", "_"))
const nibbles = alphabet("0123456789abcdef", "0123456789ABCDEF")

const isLineBreak = (value: number) => value === 0x0a || value === 0x0d
const isBlank = (value: number) => value === 0x20 || value === 0x09 || isLineBreak(value)
const zero = 0x30
const isX = (value: number) => value === 0x78 || value === 0x58

/**
 * Extracts runs of characters in an alphabet from text. A run counts once it is `shortest` long; nothing is decoded before that.
 */
export abstract class RunSink implements OpenSink {
  readonly #alphabet: Int8Array
  readonly #shortest: number
  readonly #heldDigits: Uint8Array
  readonly #heldStarts: Float64Array
  readonly #heldEnds: Float64Array
  readonly #layer: () => OpenSink
  readonly #phases: number
  #layers: ReadonlyArray<OpenSink> | undefined
  #length = 0
  protected previous = 0
  protected previousStart = 0

  constructor(values: Int8Array, shortest: number, phases: number, layer: () => OpenSink) {
    this.#alphabet = values
    this.#shortest = shortest
    this.#heldDigits = new Uint8Array(shortest)
    this.#heldStarts = new Float64Array(shortest)
    this.#heldEnds = new Float64Array(shortest)
    this.#layer = layer
    this.#phases = phases
  }

  /** True if a byte does not end a run. */
  protected abstract isIgnored(value: number): boolean
  protected abstract digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void

  byte(value: number, start: number, end: number): void {
    const digit = this.#alphabet[value] ?? -1
    if (digit < 0) {
      if (this.#length > 0 && !this.isIgnored(value)) this.edge()
      return
    }
    if (this.#length >= this.#shortest) return this.#take(digit, start, end)
    this.#heldDigits[this.#length] = digit
    this.#heldStarts[this.#length] = start
    this.#heldEnds[this.#length] = end
    if (++this.#length < this.#shortest) return
    this.#length = 0
    for (let index = 0; index < this.#shortest; index++) {
      this.#take(this.#heldDigits[index] ?? 0, this.#heldStarts[index] ?? 0, this.#heldEnds[index] ?? 0)
    }
  }

  /** True if a byte can be part of a run; most text is outside of runs. */
  wants(value: number): boolean {
    return this.#length > 0 || (this.#alphabet[value] ?? -1) >= 0
  }

  edge(): void {
    if (this.#length >= this.#shortest) for (const layer of this.#layers ?? []) layer.edge()
    this.#length = 0
  }

  open(): number {
    if (this.#length === 0) return noPosition
    if (this.#length < this.#shortest) return this.#heldStarts[0] ?? noPosition
    return (this.#layers ?? []).reduce((position, layer) => Math.min(position, layer.open()), this.previousStart)
  }

  // A run too short to be decoded is too short to reveal too much.
  held(pending: number): number {
    if (this.#length < this.#shortest) return noPosition
    return (this.#layers ?? []).reduce((position, layer) => Math.min(position, layer.held(pending)), noPosition)
  }

  heldOrigin(position: number, pending: number): string | undefined {
    return this.#layers?.find((layer) => layer.held(pending) === position)?.heldOrigin(position, pending)
  }

  #take(digit: number, start: number, end: number): void {
    this.#layers ??= Array.from({ length: this.#phases }, this.#layer)
    this.digit(this.#layers, digit, this.#length, end)
    this.previous = digit
    this.previousStart = start
    this.#length++
  }
}

/** Encoders wrap lines that are longer than this; a shorter line does not continue. */
const shortestWrapped = 20

/** Decodes anything that could be base64, standard or URL-safe, on one line or several, at each of its four alignments. */
export class Base64Runs extends RunSink {
  #broken = false
  #lineLength = 0

  constructor(shortest: number, layer: () => OpenSink) {
    super(sextets, shortest, 4, layer)
  }

  override edge(): void {
    this.#broken = false
    this.#lineLength = 0
    super.edge()
  }

  // An encoder that wraps lines may also indent them.
  protected isIgnored(value: number): boolean {
    if (isLineBreak(value) && this.#lineLength >= shortestWrapped) this.#broken = true
    return this.#broken && isBlank(value)
  }

  protected digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void {
    if (this.#broken) this.#lineLength = 0
    this.#broken = false
    this.#lineLength++
    const pair = (this.previous << 6) | value
    if (index === 0) return
    // Decodes from the second digit on in every alignment, because the text may begin in the middle of a group.
    for (let phase = 0; phase < 4; phase++) {
      const place = (index - phase) & 3
      if (place !== 0) layers[phase]?.byte((pair >> (6 - 2 * place)) & 0xff, this.previousStart, end)
    }
  }
}

/** Decodes anything that could be hexadecimal, including with `:`, `-`, `,`, blanks, line breaks or `0x` between the pairs. */
export class HexRuns extends RunSink {
  #lineLength = 0
  // Position of a zero that may be the first half of `0x`; negative without such a zero.
  #zeroStart = -1
  #zeroEnd = 0

  constructor(shortest: number, layer: () => OpenSink) {
    super(nibbles, shortest, 2, layer)
  }

  override byte(value: number, start: number, end: number): void {
    if (this.#zeroStart >= 0) {
      const held = this.#zeroStart
      this.#zeroStart = -1
      if (isX(value)) return
      super.byte(zero, held, this.#zeroEnd)
    }
    if (value === zero) {
      this.#zeroStart = start
      this.#zeroEnd = end
    } else {
      super.byte(value, start, end)
    }
  }

  override wants(value: number): boolean {
    return this.#zeroStart >= 0 || super.wants(value)
  }

  override edge(): void {
    const held = this.#zeroStart
    this.#zeroStart = -1
    if (held >= 0) super.byte(zero, held, this.#zeroEnd)
    this.#lineLength = 0
    super.edge()
  }

  override open(): number {
    return this.#zeroStart < 0 ? super.open() : Math.min(this.#zeroStart, super.open())
  }

  override held(pending: number): number {
    return super.held(this.#pending(pending))
  }

  override heldOrigin(position: number, pending: number): string | undefined {
    return super.heldOrigin(position, this.#pending(pending))
  }

  #pending(pending: number): number {
    return this.#zeroStart < 0 ? pending : pending + 1
  }

  protected isIgnored(value: number): boolean {
    if (!isLineBreak(value)) return value === 0x3a || value === 0x2d || value === 0x2c || isBlank(value)
    const isWrapped = this.#lineLength >= shortestWrapped
    this.#lineLength = 0
    return isWrapped
  }

  protected digit(layers: ReadonlyArray<OpenSink>, value: number, index: number, end: number): void {
    this.#lineLength++
    if (index > 0) layers[(index - 1) & 1]?.byte((this.previous << 4) | value, this.previousStart, end)
  }
}
