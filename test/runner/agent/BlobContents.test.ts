import { describe, expect, test } from "bun:test"
import { createHash } from "node:crypto"
import { Effect, Exit, Stream } from "effect"
import { heldContents, packContents, unpackedContents } from "../../../runner/agent/BlobContents.ts"

const mebibyte = 1024 * 1024

/** Text that hardly becomes smaller when it is compressed. */
const text = (length: number) =>
  new TextEncoder().encode(
    Array.from({ length: Math.ceil(length / 64) }, (_, at) => createHash("sha256").update(`${at}`).digest("hex"))
      .join("")
      .slice(0, length)
  )

const pieceBytes = 64 * 1024

const inPieces = (whole: Uint8Array) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(whole.length / pieceBytes) }, (_, at) =>
      whole.subarray(at * pieceBytes, (at + 1) * pieceBytes)
    )
  )

const most = 64 * mebibyte

describe("packed contents", () => {
  test("come out as they went in, whatever their length", async () => {
    for (const length of [0, 1, mebibyte, 5 * mebibyte + 3]) {
      const plain = text(length)
      const packed = await Effect.runPromise(packContents(plain))
      const held = await Effect.runPromise(heldContents(unpackedContents(inPieces(packed), most)))
      expect(Buffer.compare(held, plain)).toBe(0)
    }
  })

  test("are given on piece by piece, while the rest is still to be read", async () => {
    const packed = await Effect.runPromise(packContents(text(16 * mebibyte)))
    let read = 0
    let given = 0
    let furthest = 0
    const reading = Stream.tap(inPieces(packed), (piece) => Effect.sync(() => void (read += piece.length)))
    await Effect.runPromise(
      Stream.runForEach(unpackedContents(reading, most), ({ length }) =>
        Effect.sync(() => {
          // What was read and is not given on yet is held somewhere; the text halves when it is packed.
          furthest = Math.max(furthest, 2 * read - given)
          given += length
        })
      )
    )
    expect(given).toBe(16 * mebibyte)
    expect(furthest).toBeLessThan(3 * mebibyte)
  })

  test("are refused when they are changed, or larger than what is taken", async () => {
    const plain = text(3 * mebibyte)
    const packed = await Effect.runPromise(packContents(plain))
    const changed = packed.slice()
    changed[0] = (packed[0] ?? 0) ^ 1
    const wrong: ReadonlyArray<readonly [Uint8Array, number]> = [
      [changed, most],
      [packed, plain.length - 1]
    ]
    for (const [bytes, maxBytes] of wrong) {
      const exit = await Effect.runPromiseExit(Stream.runDrain(unpackedContents(inPieces(bytes), maxBytes)))
      expect(Exit.isFailure(exit)).toBe(true)
    }
    await Effect.runPromise(Stream.runDrain(unpackedContents(inPieces(packed), plain.length)))
  })
})
