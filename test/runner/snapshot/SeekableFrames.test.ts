import { expect, test } from "bun:test"
import { Result } from "effect"
import { compressFrame, decompressFrame } from "../../../runner/snapshot/SeekableFrames.ts"
import { zstdBomb } from "../../support/ZstdBomb.ts"

const frameOf = (compressed: Uint8Array, bytes: number) => ({
  at: 0,
  offset: 0,
  compressedBytes: compressed.length,
  bytes
})

test("each frame of a snapshot unpacks to exactly the size in the table", () => {
  const plain = new Uint8Array(1024 * 1024)
  const sound = compressFrame(plain)
  expect(Result.isSuccess(decompressFrame(frameOf(sound, plain.length), sound))).toBe(true)
  for (const options of [{}, { stated: 1000 * 1024 * 1024 }, { stated: 2 * 1024 * 1024 }]) {
    const bomb = zstdBomb(2, options)
    expect(decompressFrame(frameOf(bomb, plain.length), bomb)).toEqual(Result.fail("a part cannot be decompressed"))
  }
  const wide = zstdBomb(1, { windowLog: 27 })
  expect(decompressFrame(frameOf(wide, plain.length), wide)).toEqual(Result.fail("a part cannot be decompressed"))
})
