import { crc32 } from "node:zlib"

const executable = 0o100755

export const methods = { stored: 0, deflated: 8 } as const

interface ZipMember {
  readonly name: string
  readonly method: number
  readonly packed: Uint8Array
  /** The size that the archive states for its contents. */
  readonly size: number
  readonly checksum: number
}

/** Builds a zip archive of executable files. */
export const zipOf = (members: ReadonlyArray<ZipMember>): Uint8Array => {
  const locals: Array<Buffer> = []
  const entries: Array<Buffer> = []
  let offset = 0
  for (const { checksum, method, name, packed, size } of members) {
    const path = Buffer.from(name)
    // Version, flags, method, time, date, checksum, sizes and the lengths of name and extra field, which both headers share.
    const shared = Buffer.alloc(26)
    shared.writeUInt16LE(20, 0)
    shared.writeUInt16LE(method, 4)
    shared.writeUInt16LE(0x21, 8)
    shared.writeUInt32LE(checksum, 10)
    shared.writeUInt32LE(packed.byteLength, 14)
    shared.writeUInt32LE(size, 18)
    shared.writeUInt16LE(path.byteLength, 22)
    // Marks the file as created on Unix, so the upper half of the attributes is the file mode.
    const rest = Buffer.alloc(14)
    rest.writeUInt32LE(executable * 0x1_0000, 6)
    rest.writeUInt32LE(offset, 10)
    const local = Buffer.concat([Buffer.from("PK\x03\x04"), shared, path, packed])
    locals.push(local)
    entries.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x03"), shared, rest, path]))
    offset += local.byteLength
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.write("PK\x05\x06")
  end.writeUInt16LE(members.length, 8)
  end.writeUInt16LE(members.length, 10)
  end.writeUInt32LE(directory.byteLength, 12)
  end.writeUInt32LE(offset, 16)
  return Buffer.concat([...locals, directory, end])
}

/** Builds a zip archive with one executable file, stored without compression. */
export const zipArchive = (name: string, content: Uint8Array): Uint8Array =>
  zipOf([{ name, method: methods.stored, packed: content, size: content.byteLength, checksum: crc32(content) }])
