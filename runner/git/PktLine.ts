import { Result } from "effect"

/** A packet of Git's wire format: bytes, or one of the two markers. */
export type Packet =
  | { readonly _tag: "line"; readonly bytes: Uint8Array }
  | { readonly _tag: "flush" }
  | { readonly _tag: "delim" }

const maxPayload = 65_516
const headerSize = 4

export const flushPacket: Uint8Array = Buffer.from("0000")
export const delimPacket: Uint8Array = Buffer.from("0001")

/** Encodes a line of at most 65,516 bytes. Text is UTF-8. */
export const encodePacket = (line: string | Uint8Array): Uint8Array => {
  const payload = typeof line === "string" ? Buffer.from(line) : line
  const header = Buffer.from((payload.length + headerSize).toString(16).padStart(headerSize, "0"))
  return Buffer.concat([header, payload])
}

/** Splits bytes into packets of one sideband channel: 1 for pack data, 2 for progress, 3 for a fatal error. */
export const encodeSideBand = (channel: 1 | 2 | 3, bytes: Uint8Array): ReadonlyArray<Uint8Array> => {
  const room = maxPayload - 1
  const packets: Array<Uint8Array> = []
  for (let at = 0; at < bytes.length; at += room)
    packets.push(encodePacket(Buffer.concat([Buffer.of(channel), bytes.subarray(at, at + room)])))
  return packets
}

/** Parses a complete message. The error contains the position of the invalid byte. */
export const parsePackets = (message: Uint8Array): Result.Result<ReadonlyArray<Packet>, string> => {
  const packets: Array<Packet> = []
  let at = 0
  while (at < message.length) {
    const header = Buffer.from(message.subarray(at, at + headerSize)).toString("latin1")
    if (!/^[0-9a-fA-F]{4}$/.test(header)) return Result.fail(`no packet length at byte ${at}`)
    const length = Number.parseInt(header, 16)
    if (length === 0) packets.push({ _tag: "flush" })
    else if (length === 1) packets.push({ _tag: "delim" })
    else if (length < headerSize || at + length > message.length) return Result.fail(`bad packet length at byte ${at}`)
    else packets.push({ _tag: "line", bytes: message.subarray(at + headerSize, at + length) })
    at += Math.max(length, headerSize)
  }
  return Result.succeed(packets)
}

/** Returns the text of a line without its line feed, or `undefined` for a marker. */
export const packetText = (packet: Packet | undefined): string | undefined =>
  packet?._tag === "line" ? Buffer.from(packet.bytes).toString("utf8").replace(/\n$/, "") : undefined
