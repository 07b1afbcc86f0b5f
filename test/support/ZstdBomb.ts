const mebibyte = 1024 * 1024
/** The maximum size of a block. A block that repeats a single byte takes four bytes. */
const blockBytes = 128 * 1024

/**
 * Builds a zstd frame of spaces that takes four bytes for each 128 KiB of its contents. `stated` is the optional content
 * length in the header, and `windowLog` is the requested window size.
 */
export const zstdBomb = (
  mebibytes: number,
  { stated, windowLog = 17 }: { readonly stated?: number; readonly windowLog?: number } = {}
): Uint8Array => {
  const blocks = (mebibytes * mebibyte) / blockBytes
  const header = Buffer.from([0x28, 0xb5, 0x2f, 0xfd, stated === undefined ? 0 : 0x80, (windowLog - 10) << 3])
  const length = Buffer.alloc(stated === undefined ? 0 : 4)
  if (stated !== undefined) length.writeUInt32LE(stated)
  const body = Buffer.alloc(blocks * 4, 0x20)
  for (let index = 0; index < blocks; index += 1) {
    body.writeUIntLE((index === blocks - 1 ? 1 : 0) | (1 << 1) | (blockBytes << 3), index * 4, 3)
  }
  return new Uint8Array(Buffer.concat([header, length, body]))
}
