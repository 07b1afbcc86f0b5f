import { describe, expect, spyOn, test } from "bun:test"
import { createCipheriv } from "node:crypto"
import { Readable } from "node:stream"
import { createZstdCompress } from "node:zlib"
import { Effect, Exit, Stream } from "effect"
import {
  heldContents,
  mostUnpackedFrom,
  packContents,
  unpackedContents,
  unpackedInMemory
} from "../../../runner/agent/BlobContents.ts"
import { zstdBomb } from "../../support/ZstdBomb.ts"

const mebibyte = 1024 * 1024

/** Returns text that hardly compresses. */
const text = (length: number) => {
  const digits = createCipheriv("aes-128-ctr", Buffer.alloc(16), Buffer.alloc(16)).update(Buffer.alloc(length >> 1))
  return new TextEncoder().encode(`${digits.toString("hex")}x`.slice(0, length))
}

const pieceBytes = 64 * 1024

const inPieces = (whole: Uint8Array) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(whole.length / pieceBytes) }, (_, at) =>
      whole.subarray(at * pieceBytes, (at + 1) * pieceBytes)
    )
  )

const most = 64 * mebibyte

describe("packed contents", () => {
  test("packed contents unpack to the original bytes, at any length", async () => {
    for (const length of [0, 1, 70, 1000, 256 * 1024, 256 * 1024 + 1, mebibyte, 5 * mebibyte + 3]) {
      const plain = text(length)
      const packed = await Effect.runPromise(packContents(plain))
      const held = await Effect.runPromise(heldContents(inPieces(packed), most))
      expect(Buffer.compare(held, plain)).toBe(0)
      expect(Buffer.compare(await Effect.runPromise(unpackedInMemory(packed, most)), plain)).toBe(0)
    }
  })

  test("packed contents are passed on in pieces before the rest has been read", async () => {
    const packed = await Effect.runPromise(packContents(text(16 * mebibyte)))
    let read = 0
    let given = 0
    let furthest = 0
    const reading = Stream.tap(inPieces(packed), (piece) => Effect.sync(() => void (read += piece.length)))
    await Effect.runPromise(
      Stream.runForEach(unpackedContents(reading, most), ({ length }) =>
        Effect.sync(() => {
          // Measures how many bytes were read before any were passed on. Packing halves the size of this text.
          furthest = Math.max(furthest, 2 * read - given)
          given += length
        })
      )
    )
    expect(given).toBe(16 * mebibyte)
    expect(furthest).toBeLessThan(3 * mebibyte)
  })

  test("packed contents unpack no faster than they are consumed, even with a high compression ratio", async () => {
    const length = 64 * mebibyte
    const packed = await Effect.runPromise(packContents(new Uint8Array(length)))
    expect(packed.length).toBeLessThan(pieceBytes)
    let made = 0
    let taken = 0
    let mostHeld = 0
    const push = spyOn(Readable.prototype, "push")
    await Effect.runPromise(
      Stream.runForEach(unpackedContents(inPieces(packed), length), ({ length: piece }) =>
        Effect.promise(async () => {
          // Gives the decompressor time to produce as much as it can.
          for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
          made = push.mock.calls.reduce((sum, [chunk]) => sum + (chunk instanceof Uint8Array ? chunk.length : 0), 0)
          mostHeld = Math.max(mostHeld, made - taken)
          taken += piece
        })
      )
    ).finally(() => push.mockRestore())
    expect([made, taken]).toEqual([length, length])
    expect(mostHeld).toBeLessThanOrEqual(2 * mebibyte)
  })

  test("unpacking rejects contents that have been changed or exceed the limit", async () => {
    const plain = text(3 * mebibyte)
    const packed = await Effect.runPromise(packContents(plain))
    const changed = packed.slice()
    changed[0] = (packed[0] ?? 0) ^ 1
    const wrong: ReadonlyArray<readonly [Uint8Array, number]> = [
      [changed, most],
      [packed, plain.length - 1],
      [await Effect.runPromise(packContents(text(1000))), 999]
    ]
    for (const [bytes, maxBytes] of wrong) {
      const exit = await Effect.runPromiseExit(Stream.runDrain(unpackedContents(inPieces(bytes), maxBytes)))
      const atOnce = await Effect.runPromiseExit(unpackedInMemory(bytes, maxBytes))
      expect([Exit.isFailure(exit), Exit.isFailure(atOnce)]).toEqual([true, true])
    }
    await Effect.runPromise(Stream.runDrain(unpackedContents(inPieces(packed), plain.length)))
  })

  test("unpacking rejects contents whose length differs from their declared length", async () => {
    const plain = text(3 * mebibyte)
    const packed = await Effect.runPromise(packContents(plain))
    const says = (length: number) => {
      const other = packed.slice()
      new DataView(other.buffer).setUint32(6, length, true)
      return other
    }
    expect(new DataView(packed.buffer, packed.byteOffset).getUint32(6, true)).toBe(plain.length)
    const wrong: Array<Uint8Array> = [
      says(plain.length - 1),
      says(plain.length + 1),
      says(most + 1),
      // The last three bytes only mark the end, so the test also cuts a fourth byte, which is content.
      packed.subarray(0, packed.length - 4),
      packed.subarray(0, packed.length >> 1),
      Buffer.concat([packed, await Effect.runPromise(packContents(text(70)))])
    ]
    for (const length of [0, 5, 200, 1000, 70_000]) {
      const short = await Effect.runPromise(packContents(text(length)))
      for (const cut of [0, 5, short.length - 4]) wrong.push(short.subarray(0, cut))
      if (length > 0) wrong.push(Buffer.concat([short, short]))
    }
    for (const bytes of wrong) {
      const held = await Effect.runPromiseExit(heldContents(inPieces(bytes), most))
      // Verifying the contents without storing them gives the same result.
      const checked = await Effect.runPromiseExit(Stream.runDrain(unpackedContents(inPieces(bytes), most)))
      const atOnce = await Effect.runPromiseExit(unpackedInMemory(bytes, most))
      const failed = [Exit.isFailure(held), Exit.isFailure(checked), Exit.isFailure(atOnce)]
      expect([bytes.length, ...failed]).toEqual([bytes.length, true, true, true])
    }
  })

  test("unpacking 32 KB of packed contents never yields more than 64 MiB, and stops within 1 MiB of the limit", async () => {
    expect(mostUnpackedFrom(32_000, 512 * mebibyte)).toBe(64 * mebibyte)
    expect(mostUnpackedFrom(mebibyte, 512 * mebibyte)).toBe(512 * mebibyte)
    for (const stated of [undefined, 1000 * mebibyte, mebibyte]) {
      const bomb = zstdBomb(1000, stated === undefined ? {} : { stated })
      expect(bomb.length).toBeLessThan(33_000)
      let unpacked = 0
      const bound = 4 * mebibyte
      const counted = Stream.tap(unpackedContents(inPieces(bomb), bound), ({ length }) =>
        Effect.sync(() => void (unpacked += length))
      )
      expect(Exit.isFailure(await Effect.runPromiseExit(Stream.runDrain(counted)))).toBe(true)
      expect(unpacked).toBeLessThanOrEqual(bound)
      expect(Exit.isFailure(await Effect.runPromiseExit(unpackedInMemory(bomb, bound)))).toBe(true)
    }
  })

  test("unpacking rejects contents that request a longer window than svc uses", async () => {
    const frame = (windowLog: number) => zstdBomb(1, { windowLog })
    expect((await Effect.runPromise(heldContents(inPieces(frame(21)), most))).length).toBe(mebibyte)
    for (const windowLog of [24, 27, 31]) {
      expect(Exit.isFailure(await Effect.runPromiseExit(heldContents(inPieces(frame(windowLog)), most)))).toBe(true)
    }
  })

  test("packed contents without a length in their header are buffered", async () => {
    const plain = text(2 * mebibyte)
    const streamed = await new Promise<Uint8Array>((resolve) => {
      const zstd = createZstdCompress()
      const chunks: Array<Uint8Array> = []
      zstd.on("data", (chunk: Uint8Array) => chunks.push(chunk))
      zstd.on("end", () => resolve(new Uint8Array(Buffer.concat(chunks))))
      for (let at = 0; at < plain.length; at += pieceBytes) zstd.write(plain.subarray(at, at + pieceBytes))
      zstd.end()
    })
    expect((streamed[4] ?? 0) >> 6).toBe(0)
    expect(Buffer.compare(await Effect.runPromise(heldContents(inPieces(streamed), most)), plain)).toBe(0)
  })
})
