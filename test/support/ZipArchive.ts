import { crc32 } from "node:zlib"

const executable = 0o100755

/** A zip archive with one executable file, stored without compression. */
export const zipArchive = (name: string, content: Uint8Array): Uint8Array => {
  const path = Buffer.from(name)
  // Version, flags, method, time, date, checksum, sizes and the lengths of name and extra field, which both headers share.
  const shared = Buffer.alloc(26)
  shared.writeUInt16LE(20, 0)
  shared.writeUInt16LE(0x21, 8)
  shared.writeUInt32LE(crc32(content), 10)
  shared.writeUInt32LE(content.byteLength, 14)
  shared.writeUInt32LE(content.byteLength, 18)
  shared.writeUInt16LE(path.byteLength, 22)
  const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, path, content])
  // Made on Unix, whose file mode is in the upper half of the attributes.
  const rest = Buffer.alloc(14)
  rest.writeUInt32LE(executable * 0x1_0000, 6)
  const directory = Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), shared, rest, path])
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06")
  end.writeUInt16LE(1, 8)
  end.writeUInt16LE(1, 10)
  end.writeUInt32LE(directory.byteLength, 12)
  end.writeUInt32LE(local.byteLength, 16)
  return Buffer.concat([local, directory, end])
}
