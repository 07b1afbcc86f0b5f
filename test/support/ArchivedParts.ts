import { inflateRawSync } from "node:zlib"

const centralEntry = 0x02014b50
const deflated = 8

/** Returns the contents of a plan file, which is an archive. Returns nothing for other files. */
export const archivedParts = (bytes: Buffer): ReadonlyArray<Buffer> => {
  const parts: Array<Buffer> = []
  for (
    let at = bytes.indexOf("PK\u0001\u0002", 0, "latin1");
    at !== -1;
    at = bytes.indexOf("PK\u0001\u0002", at + 4, "latin1")
  ) {
    if (bytes.readUInt32LE(at) !== centralEntry) continue
    const [method, size, offset] = [
      bytes.readUInt16LE(at + 10),
      bytes.readUInt32LE(at + 20),
      bytes.readUInt32LE(at + 42)
    ]
    const from = offset + 30 + bytes.readUInt16LE(offset + 26) + bytes.readUInt16LE(offset + 28)
    const part = bytes.subarray(from, from + size)
    parts.push(method === deflated ? inflateRawSync(part) : part)
  }
  return parts
}
