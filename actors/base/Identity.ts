import { createHash } from "node:crypto"
import { Clock, Context, DateTime, Effect, Option, Schema } from "effect"
import { SecureRandom } from "effect/crypto"
import { Timestamp } from "../../schema/records/Primitives.ts"

/** Length of an id, in bytes: 120 bits, written as 24 base32 characters. */
export const idBytes = 15

/** Number of random bytes that an id adds to the previous id. Ids have at least 80 (specification, ruling 1). */
const stepBytes = 11

/** The time in milliseconds after an id in which the next id continues from it. */
const continuesFor = 100

/**
 * Lists order records by their time in milliseconds, then by id. Ids created shortly after one another therefore ascend, so that
 * records created in the same millisecond keep their order. Each id is the previous id plus a random number, large enough that it
 * cannot be guessed. After a pause the next id is entirely random, so that ids do not reveal the number of other ids.
 */
interface IdOrderShape {
  /** The bytes of the next id, from `idBytes` random ones. `at`: the current time in milliseconds. */
  readonly next: (random: Uint8Array, at: number) => Uint8Array
}

export const makeIdOrder = (): IdOrderShape => {
  let previous = new Uint8Array(idBytes)
  let previousAt = Number.NEGATIVE_INFINITY
  return {
    next: (random, at) => {
      const id = Uint8Array.from(random)
      if (Math.abs(at - previousAt) <= continuesFor) {
        // The step is at least one. Once in billions of ids the sum wraps; two records of that millisecond are then listed in
        // reverse.
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

/** The order of this process's ids: all services of a process share it. */
export const IdOrder = Context.Reference<IdOrderShape>("svc/actors/base/IdOrder", { defaultValue: makeIdOrder })

const alphabet = "abcdefghijklmnopqrstuvwxyz234567"

/** The same characters in alphabetical order, so that encoded values sort like their bytes. */
const sortedAlphabet = "234567abcdefghijklmnopqrstuvwxyz"

/** Five bits per character, without padding; leftover bits that do not fill a character are dropped. */
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

/** The parts of a branded schema that turn a string into an id. */
export interface IdKind<A> {
  readonly make: (text: string) => A
}

/** Mints a new id of the given kind, e.g. `newId(RunId, "run")`. Sorts after the ids minted just before it. */
export const newId = Effect.fnUntraced(function* <A>(kind: IdKind<A>, prefix: string) {
  const { randomBytes } = yield* SecureRandom.SecureRandom
  const order = yield* IdOrder
  const id = order.next(yield* randomBytes(idBytes), yield* Clock.currentTimeMillis)
  return kind.make(`${prefix}_${base32(id, sortedAlphabet)}`)
})

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

/**
 * The current time, but always later than `previous`. For records that keep the order in which they were created although their ids
 * have none, or the clock may be set back between them.
 */
export const nowAfter = (previous: Timestamp | null | undefined): Effect.Effect<Timestamp> =>
  Effect.map(now, (at) =>
    previous == null || previous < at
      ? at
      : Timestamp.make(DateTime.formatIso(DateTime.add(DateTime.makeUnsafe(previous), { milliseconds: 1 })))
  )
