import { Result } from "effect"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"

/** Reads octets from the beginning, never past the end. */
export class OctetReader {
  #at = 0
  readonly #octets: Uint8Array

  constructor(octets: Uint8Array) {
    this.#octets = octets
  }

  get isDone(): boolean {
    return this.#at === this.#octets.length
  }

  /** The number of octets read so far. */
  get position(): number {
    return this.#at
  }

  take(count: number): Result.Result<Uint8Array, OpenPgpRefused> {
    const end = this.#at + count
    if (end > this.#octets.length) return refuse("It ends too early.")
    const taken = this.#octets.subarray(this.#at, end)
    this.#at = end
    return Result.succeed(taken)
  }

  /** An unsigned number of up to four octets, big-endian. */
  number(octets: 1 | 2 | 4): Result.Result<number, OpenPgpRefused> {
    return Result.map(this.take(octets), (taken) => taken.reduce((sum, octet) => sum * 256 + octet, 0))
  }

  /** The octets of a multiprecision integer in its shortest form. */
  integer(): Result.Result<Uint8Array, OpenPgpRefused> {
    return Result.flatMap(this.number(2), (bits) =>
      Result.flatMap(this.take(Math.ceil(bits / 8)), (octets) =>
        bits === 0 || 32 - Math.clz32(octets[0] ?? 0) !== ((bits - 1) % 8) + 1
          ? refuse("An integer has leading zeros.")
          : Result.succeed(octets)
      )
    )
  }

  end(): Result.Result<void, OpenPgpRefused> {
    return this.isDone ? Result.succeed(undefined) : refuse("Something follows its end.")
  }
}

export const joined = (...parts: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

/** A four-octet length, big-endian. */
export const fourOctets = (length: number): Uint8Array =>
  Uint8Array.from([length >>> 24, (length >>> 16) & 0xff, (length >>> 8) & 0xff, length & 0xff])
