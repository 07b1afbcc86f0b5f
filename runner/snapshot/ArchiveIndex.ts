import { Result } from "effect"
import { createHash } from "node:crypto"
import {
  type ArchiveFile,
  archiveEnd,
  blockSize,
  decodeHeader,
  decodePaxPath,
  decodePreamble,
  encodeFileHeader,
  encodePreamble,
  type OmittedRecord,
  paddingOf
} from "./ArchiveFormat.ts"
import { comparePaths, TreePathRegistry } from "./TreePath.ts"

/** A file in an archive, with the position and hash of its bytes in the uncompressed archive. */
export interface IndexedFile extends ArchiveFile {
  readonly offset: number
  readonly sha256: string
}

export interface ArchiveIndex {
  readonly files: ReadonlyArray<IndexedFile>
  readonly omitted: ReadonlyArray<OmittedRecord>
  readonly sha256: string
  readonly sizeBytes: number
}

const maxPaxBytes = 64 * 1024 * 1024

type Step = Result.Result<void, string>

/**
 * Reads an uncompressed archive in one pass, in pieces of any size, without keeping file contents. Accepts only archives in
 * exactly the form that the writer creates, so that an archive has only one interpretation. Checks the form by encoding
 * every header again and comparing the bytes.
 */
export class ArchiveIndexer {
  readonly #digest = createHash("sha256")
  readonly #paths = new TreePathRegistry()
  readonly #files: Array<IndexedFile> = []
  #omitted: ReadonlyArray<OmittedRecord> | undefined
  #position = 0
  /** Buffered bytes of the current part: a header, the body of a pax header, padding, or the end of the archive. */
  #gathered: Array<Uint8Array> = []
  #missing = blockSize
  #next: (part: Buffer) => Step = (part) => this.#header(part)
  /** The header blocks of the current entry so far. */
  #raw: Array<Uint8Array> = []
  #paxPath: string | undefined
  #current:
    | {
        readonly file: ArchiveFile
        readonly offset: number
        left: number
        readonly hash: ReturnType<typeof createHash>
      }
    | undefined
  #ended = false

  push(bytes: Uint8Array): Step {
    this.#digest.update(bytes)
    let rest = bytes
    while (rest.length > 0) {
      if (this.#ended) return Result.fail("there is something after the end")
      if (this.#current !== undefined && this.#current.left > 0) {
        const taken = rest.subarray(0, this.#current.left)
        this.#current.hash.update(taken)
        this.#current.left -= taken.length
        this.#position += taken.length
        rest = rest.subarray(taken.length)
        if (this.#current.left === 0) this.#finishFile()
        continue
      }
      const taken = rest.subarray(0, this.#missing)
      this.#gathered.push(taken)
      this.#missing -= taken.length
      this.#position += taken.length
      rest = rest.subarray(taken.length)
      if (this.#missing > 0) continue
      const part = Buffer.concat(this.#gathered)
      this.#gathered = []
      const step = this.#next(part)
      if (Result.isFailure(step)) return step
    }
    return Result.void
  }

  finish(): Result.Result<ArchiveIndex, string> {
    if (!this.#ended || this.#omitted === undefined) return Result.fail("the end is missing")
    return Result.succeed({
      files: this.#files,
      omitted: this.#omitted,
      sha256: this.#digest.digest("hex"),
      sizeBytes: this.#position
    })
  }

  #expect(bytes: number, next: (part: Buffer) => Step): Step {
    this.#missing = bytes
    this.#next = next
    return Result.void
  }

  #header(block: Buffer): Step {
    const decoded = decodeHeader(block, this.#paxPath)
    if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
    const header = decoded.success
    if (header._tag === "end") {
      if (this.#raw.length > 0) return Result.fail("the last entry is cut off")
      return this.#expect(archiveEnd.length - blockSize, (rest) => {
        this.#ended = rest.every((byte) => byte === 0)
        return this.#ended ? Result.void : Result.fail("the end is not empty")
      })
    }
    this.#raw.push(block)
    if (header._tag === "file") return this.#file(header.file)
    if (header.sizeBytes > maxPaxBytes || header.sizeBytes === 0)
      return Result.fail("an extended header has a bad size")
    if (header.global !== (this.#omitted === undefined)) return Result.fail("an extended header is out of place")
    return this.#expect(header.sizeBytes + paddingOf(header.sizeBytes), (padded) => {
      const body = padded.subarray(0, header.sizeBytes)
      this.#raw.push(padded)
      return header.global ? this.#preamble(body) : this.#pax(body)
    })
  }

  #preamble(body: Buffer): Step {
    const omitted = decodePreamble(body)
    if (Result.isFailure(omitted)) return Result.fail(omitted.failure)
    if (!this.#takeRaw().equals(encodePreamble(omitted.success))) return Result.fail("the first entry is not canonical")
    this.#omitted = omitted.success
    return this.#expect(blockSize, (part) => this.#header(part))
  }

  #pax(body: Buffer): Step {
    this.#paxPath = decodePaxPath(body)
    if (this.#paxPath === undefined) return Result.fail("an extended header gives no path")
    return this.#expect(blockSize, (part) => this.#header(part))
  }

  #file(file: ArchiveFile): Step {
    this.#paxPath = undefined
    if (this.#omitted === undefined) return Result.fail("the first entry is not a snapshot's")
    if (!this.#takeRaw().equals(encodeFileHeader(file))) return Result.fail("an entry is not canonical")
    const previous = this.#files.at(-1)
    if (previous !== undefined && comparePaths(previous.path, file.path) >= 0)
      return Result.fail("entries are out of order")
    const added = this.#paths.add(file.path)
    if (Result.isFailure(added)) return added
    this.#current = { file, offset: this.#position, left: file.sizeBytes, hash: createHash("sha256") }
    if (file.sizeBytes === 0) this.#finishFile()
    return Result.void
  }

  #finishFile(): void {
    if (this.#current === undefined) return
    const { file, offset, hash } = this.#current
    this.#files.push({ ...file, offset, sha256: hash.digest("hex") })
    this.#current = undefined
    const padding = paddingOf(file.sizeBytes)
    const header = (part: Buffer) => this.#header(part)
    if (padding === 0) this.#expect(blockSize, header)
    else
      this.#expect(padding, (zeros) =>
        zeros.every((byte) => byte === 0) ? this.#expect(blockSize, header) : Result.fail("padding is not empty")
      )
  }

  #takeRaw(): Buffer {
    const raw = Buffer.concat(this.#raw)
    this.#raw = []
    return raw
  }
}
