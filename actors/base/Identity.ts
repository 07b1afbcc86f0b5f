import { createHash } from "node:crypto"
import { Clock, Context, DateTime, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Timestamp } from "../../schema/records/Primitives.ts"

/** Length of an id in bytes: 120 bits, written as 24 base32 characters. */
export const idBytes = 15

/**
 * Number of random bytes in the difference between an id and the previous one. The specification requires at least 80 random bits
 * (ruling 1).
 */
const stepBytes = 11

/** Maximum time between two ids, in milliseconds, for the second id to be derived from the first. */
const continuesFor = 100

/**
 * Generates ids. Lists are sorted by creation time in milliseconds and then by id, so ids created in quick succession must
 * ascend: each is the previous id plus an unpredictable random number. After a pause, the next id is entirely random, so ids
 * do not reveal how many ids exist.
 */
interface IdOrderShape {
  /** Returns the bytes of the next id. `random` contains `idBytes` random bytes; `at` is the current time in milliseconds. */
  readonly next: (random: Uint8Array, at: number) => Uint8Array
}

export const makeIdOrder = (): IdOrderShape => {
  let previous = new Uint8Array(idBytes)
  let previousAt = Number.NEGATIVE_INFINITY
  return {
    next: (random, at) => {
      const id = Uint8Array.from(random)
      if (Math.abs(at - previousAt) <= continuesFor) {
        // Adds at least one, so that ids ascend. About once in billions of ids, the sum wraps around, and two records
        // created in the same millisecond are listed in reverse.
        let carry = 1
        for (let index = idBytes - 1; index >= 0; index--) {
          const step = index >= idBytes - stepBytes ? (random[index] ?? 0) : 0
          const sum = (previous[index] ?? 0) + step + carry
          id[index] = sum & 0xff
          carry = sum >> 8
        }
      }
      previous = id
      previousAt = at
      return id
    }
  }
}

/** The id generator of this process, which all services share so that ids ascend. */
export const IdOrder = Context.Reference<IdOrderShape>("svc/actors/base/IdOrder", { defaultValue: makeIdOrder })

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** The alphabet in ascending order, so that encoded values sort like their bytes. */
export const sortedAlphabet = "234567abcdefghijklmnopqrstuvwxyz"

/** Encodes five bits per character without padding. Drops trailing bits that do not fill a character. */
export const base32 = (bytes: Uint8Array, characters = alphabet): string => {
  let text = ""
  let bits = 0
  let value = 0
  for (const byte of bytes) {
    value = ((value << 8) | byte) & 0xfff
    bits += 8
    while (bits >= 5) {
      bits -= 5
      text += characters[(value >> bits) & 31]
    }
  }
  return text
}

/** The parts of a branded schema that are needed to convert a string to an id. */
export interface IdKind<A> {
  readonly make: (text: string) => A
}

/**
 * Creates a new id of the given kind, e.g. `newId(RunId, "run")`. The new id sorts after all ids that were created shortly
 * before it.
 */
export const newId = Effect.fnUntraced(function* <A>(kind: IdKind<A>, prefix: string) {
  const { randomBytes } = yield* SecureRandom.SecureRandom
  const order = yield* IdOrder
  const id = order.next(yield* randomBytes(idBytes), yield* Clock.currentTimeMillis)
  return kind.make(`${prefix}_${base32(id, sortedAlphabet)}`)
})

/**
 * Derives the id of a record that a coordinator's step creates. The id is always the same, so a repeated step finds the existing
 * record instead of creating another.
 */
export const derivedId = <A>(kind: IdKind<A>, prefix: string, coordinatorId: string, step: string): A =>
  kind.make(
    `${prefix}_${base32(createHash("sha256").update(`${coordinatorId}\u0000${step}`).digest().subarray(0, idBytes))}`
  )

/** Converts a string to an id, or returns `null` if the string cannot be an id, so that a lookup finds nothing. */
export const idOrNull = <A>(kind: Schema.Codec<A, string>, text: string): A | null =>
  Option.getOrNull(Schema.decodeOption(kind)(text))

/** The current time in the format used by records. */
export const now: Effect.Effect<Timestamp> = Effect.map(DateTime.now, DateTime.formatIso)

/**
 * Returns the current time, or a slightly later one if it is not after `previous`. Use it for records that must keep their
 * creation order although their ids have no order and the clock may be set back.
 */
export const nowAfter = (previous: Timestamp | null | undefined): Effect.Effect<Timestamp> =>
  Effect.map(now, (at) =>
    previous == null || previous < at
      ? at
      : Timestamp.make(DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(previous), { milliseconds: 1 })))
  )
