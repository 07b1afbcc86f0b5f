import { createHash } from "node:crypto"
import { DateTime, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Timestamp } from "../schema/records/Primitives.ts"

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** Five bits per character, without padding; leftover bits that do not fill a character are dropped. */
export const base32 = (bytes: Uint8Array): string => {
  let text = ""
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += alphabet[(value >> bits) & 31]
    }
  }
  return text
}

/** Length of an id, in bytes: 120 bits, written as 24 base32 characters. */
const idBytes = 15

/** What making an id of a string needs from a branded schema. */
export interface IdKind<A> {
  readonly make: (text: string) => A
}

/** Mints a new id of the given kind, e.g. `newId(RunId, "run")`. */
export const newId = <A>(kind: IdKind<A>, prefix: string): Effect.Effect<A, never, SecureRandom.SecureRandom> =>
  Effect.flatMap(SecureRandom.SecureRandom, (random) =>
    Effect.map(random.randomBytes(idBytes), (bytes) => kind.make(`${prefix}_${base32(bytes)}`))
  )

/**
 * The id of a record created by a coordinator's step: always the same, so that a repeated step finds its own result instead of
 * creating another record.
 */
export const derivedId = <A>(kind: IdKind<A>, prefix: string, coordinatorId: string, step: string): A =>
  kind.make(
    `${prefix}_${base32(createHash("sha256").update(`${coordinatorId}\u0000${step}`).digest().subarray(0, idBytes))}`
  )

/** A string as an id of this kind. `null` if it cannot be one: a lookup then finds nothing. */
export const idOrNull = <A>(kind: Schema.Codec<A, string>, text: string): A | null =>
  Option.getOrNull(Schema.decodeOption(kind)(text))

/** The current time in the format of records. */
export const now: Effect.Effect<Timestamp> = Effect.map(DateTime.now, DateTime.formatIso)
