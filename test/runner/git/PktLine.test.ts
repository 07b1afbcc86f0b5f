import { describe, expect, test } from "bun:test"
import { Result } from "effect"
import {
  delimPacket,
  encodePacket,
  encodeSideBand,
  flushPacket,
  packetText,
  parsePackets
} from "../../../runner/git/PktLine.ts"

describe("packets", () => {
  test("packets round-trip through the encoder and decoder", () => {
    const message = Buffer.concat([
      encodePacket("a\n"),
      delimPacket,
      encodePacket(""),
      encodePacket("\u00e4"),
      flushPacket
    ])
    const packets = Result.getOrThrow(parsePackets(message))
    expect(packets.map((packet) => packet._tag)).toEqual(["line", "delim", "line", "line", "flush"])
    expect(packets.map(packetText)).toEqual(["a", undefined, "", "\u00e4", undefined])
  })

  for (const text of ["00", "zzzz", "0003", "0002", "0006a", "ffff", "-001", "0x10"])
    test(`the packet decoder rejects ${text}`, () =>
      expect(Result.isFailure(parsePackets(Buffer.from(text)))).toBe(true))

  test("side-band data is split into full packets", () => {
    const bytes = Buffer.alloc(140_000, 7)
    const packets = encodeSideBand(1, bytes)
    expect(packets.map((packet) => packet.length)).toEqual([65_520, 65_520, 140_000 - 2 * 65_515 + 5])
    expect(Buffer.concat(packets.map((packet) => packet.subarray(5))).equals(bytes)).toBe(true)
  })
})
