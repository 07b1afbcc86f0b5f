import { Context } from "effect"

/** Length of an id, in bytes: 120 bits, written as 24 base32 characters. */
export const idBytes = 15

/** How many random bits an id adds to the previous one. Ids have at least 80 (specification, ruling 1). */
const stepBytes = 11

/** How long after an id the next one continues from it, in milliseconds. Records with equal times get their ids well within it. */
const continuesFor = 100

/**
 * Lists order records by their time in milliseconds, then by id. Ids that are minted shortly after one another therefore ascend, so
 * that records created in the same millisecond keep their order. Each is the previous one plus a random number, large enough that it
 * cannot be guessed. After a pause the next id is entirely random, so that ids do not reveal how many others were minted.
 */
export interface IdOrderShape {
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
        // The step is at least one. Once in billions of ids the sum wraps; two records of that millisecond are then listed in reverse.
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
