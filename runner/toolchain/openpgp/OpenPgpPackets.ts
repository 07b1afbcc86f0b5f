import { Result } from "effect"
import { OctetReader } from "./OctetReader.ts"
import { type OpenPgpRefused, refuse } from "./OpenPgpRefused.ts"

export interface Packet {
  readonly tag: number
  readonly body: Uint8Array
}

// A release key with several names and subkeys has a few dozen packets.
const mostPackets = 512

const newLength = (reader: OctetReader): Result.Result<number, OpenPgpRefused> =>
  Result.gen(function* () {
    const first = yield* reader.number(1)
    if (first < 192) return first
    if (first < 224) return (first - 192) * 256 + (yield* reader.number(1)) + 192
    return first === 255 ? yield* reader.number(4) : yield* refuse("A packet comes in parts.")
  })

const oldLength = (reader: OctetReader, kind: number): Result.Result<number, OpenPgpRefused> => {
  switch (kind) {
    case 0:
      return reader.number(1)
    case 1:
      return reader.number(2)
    case 2:
      return reader.number(4)
    default:
      return refuse("A packet does not say how long it is.")
  }
}

/** The packets of a binary OpenPGP message, each with a known length, and nothing between or after them. */
export const readPackets = (octets: Uint8Array): Result.Result<ReadonlyArray<Packet>, OpenPgpRefused> =>
  Result.gen(function* () {
    const reader = new OctetReader(octets)
    const packets: Array<Packet> = []
    while (!reader.isDone) {
      const header = yield* reader.number(1)
      if ((header & 0x80) === 0) return yield* refuse("It is not binary OpenPGP.")
      const isNew = (header & 0x40) !== 0
      const tag = isNew ? header & 0x3f : (header >> 2) & 0x0f
      const length = isNew ? yield* newLength(reader) : yield* oldLength(reader, header & 0x03)
      const body = yield* reader.take(length)
      packets.push({ tag, body })
      if (packets.length > mostPackets) return yield* refuse("It has too many packets.")
    }
    return packets
  })
