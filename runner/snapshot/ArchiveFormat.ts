import { Result, Schema } from "effect"
import { Header, Pax } from "tar"

/**
 * The archive of a snapshot, whose SHA-256 is the snapshot's `archiveDigest`:
 *
 * 1. a pax global header with one record, `comment=svc-snapshot-v1 <JSON>`. The JSON is `{"omitted":[...]}`: every entry in the
 *    commit that is not a regular file, sorted by path, each `{"path","kind","mode","oid"}`. Two commits that differ only in a
 *    link or a submodule therefore have different digests.
 * 2. the regular files, sorted by the bytes of their path: mode 0644 or 0755, owner 0, time 0, no user or group names,
 *    preceded by a pax header only if a path does not fit into a plain header
 * 3. two blocks of zeros
 *
 * The same commit and folder produce the same bytes on every machine. Any tar program can read the archive.
 */
export const blockSize = 512

const marker = "svc-snapshot-v1"
const epoch = new Date(0)

export const OmittedRecord = Schema.Struct({
  path: Schema.String,
  kind: Schema.Literals(["symlink", "submodule", "special"]),
  mode: Schema.String,
  oid: Schema.String
})
export type OmittedRecord = typeof OmittedRecord.Type

const Preamble = Schema.fromJsonString(Schema.Struct({ omitted: Schema.Array(OmittedRecord) }))

export interface ArchiveFile {
  readonly path: string
  readonly executable: boolean
  readonly sizeBytes: number
}

export const paddingOf = (sizeBytes: number): number => (blockSize - (sizeBytes % blockSize)) % blockSize

export const archiveEnd: Uint8Array = Buffer.alloc(2 * blockSize)

export const encodePreamble = (omitted: ReadonlyArray<OmittedRecord>): Uint8Array => {
  const records = omitted.map(({ path, kind, mode, oid }) => ({ path, kind, mode, oid }))
  return new Pax({ comment: `${marker} ${JSON.stringify({ omitted: records })}`, mtime: epoch }, true).encode()
}

/** A regular file in any tar archive. Its owner is 0, without user or group names. */
export interface PlainEntry {
  readonly path: string
  readonly mode: number
  readonly sizeBytes: number
  readonly mtime: Date
}

/** Encodes the header blocks that precede a file's bytes. */
export const encodeEntryHeader = ({ mode, mtime, path, sizeBytes }: PlainEntry): Uint8Array => {
  const header = new Header({
    path,
    mode,
    uid: 0,
    gid: 0,
    size: sizeBytes,
    mtime,
    type: "File",
    linkpath: "",
    uname: "",
    gname: "",
    devmaj: 0,
    devmin: 0
  })
  header.encode()
  const block = header.block ?? Buffer.alloc(0)
  return header.needPax ? Buffer.concat([new Pax({ path, mtime }).encode(), block]) : block
}

export const encodeFileHeader = ({ executable, path, sizeBytes }: ArchiveFile): Uint8Array =>
  encodeEntryHeader({ path, sizeBytes, mode: executable ? 0o755 : 0o644, mtime: epoch })

export type DecodedHeader =
  | { readonly _tag: "end" }
  | { readonly _tag: "pax"; readonly global: boolean; readonly sizeBytes: number }
  | { readonly _tag: "file"; readonly file: ArchiveFile }

const modes = new Map([
  [0o644, false],
  [0o755, true]
])

/** Decodes one header block. The block is valid only if encoding it again produces the same bytes. */
export const decodeHeader = (block: Uint8Array, paxPath: string | undefined): Result.Result<DecodedHeader, string> => {
  const header = new Header(Buffer.from(block))
  if (header.nullBlock) return Result.succeed({ _tag: "end" })
  if (!header.cksumValid) return Result.fail("an entry has a wrong checksum")
  const sizeBytes = header.size ?? -1
  if (!Number.isSafeInteger(sizeBytes) || sizeBytes < 0) return Result.fail("an entry has no size")
  if (header.type === "ExtendedHeader" || header.type === "GlobalExtendedHeader")
    return Result.succeed({ _tag: "pax", global: header.type === "GlobalExtendedHeader", sizeBytes })
  const executable = modes.get(header.mode ?? 0)
  const path = paxPath ?? header.path
  if (header.type !== "File" || executable === undefined || path === undefined)
    return Result.fail("an entry is not a plain file")
  return Result.succeed({ _tag: "file", file: { path, executable, sizeBytes } })
}

/** Returns the path that a pax header sets for the next file. */
export const decodePaxPath = (body: Uint8Array): string | undefined =>
  Pax.parse(Buffer.from(body).toString("utf8")).path

/** Returns the omitted entries listed in the global header. */
export const decodePreamble = (body: Uint8Array): Result.Result<ReadonlyArray<OmittedRecord>, string> => {
  const comment = Pax.parse(Buffer.from(body).toString("utf8"), undefined, true).comment
  if (comment?.startsWith(`${marker} `) !== true) return Result.fail("the first entry is not a snapshot's")
  return Schema.decodeResult(Preamble)(comment.slice(marker.length + 1)).pipe(
    Result.map((preamble) => preamble.omitted),
    Result.mapError(() => "the list of omitted entries cannot be read")
  )
}
