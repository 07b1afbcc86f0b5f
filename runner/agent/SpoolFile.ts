import { closeSync, fdatasyncSync, ftruncateSync, openSync, readFileSync, writeSync } from "node:fs"
import { crc32 } from "node:zlib"
import { Option, Schema } from "effect"
import { ReportedEntry } from "../../schema/agent/AgentJob.ts"

/*
 * A spool file: entries in order of arrival, one per line, each preceded by a checksum. A line cut off by a crash and all
 * following lines are ignored.
 */

const EntryText = Schema.fromJsonString(ReportedEntry)
const decodeEntry = Schema.decodeOption(EntryText)
const encodeEntry = Schema.encodeSync(EntryText)

const checksumDigits = 8
const newline = 0x0a

const checksum = (text: string) => crc32(text).toString(16).padStart(checksumDigits, "0")

const lineOf = (text: string): Buffer => Buffer.from(`${checksum(text)} ${text}\n`)

const entryOf = (line: string): Option.Option<ReportedEntry> => {
  const text = line.slice(checksumDigits + 1)
  return line.slice(0, checksumDigits) === checksum(text) ? decodeEntry(text) : Option.none()
}

export interface ReadEntries {
  readonly entries: ReadonlyArray<ReportedEntry>
  /** The length of the intact part of the file. */
  readonly wholeBytes: number
}

/** The intact entries of a file, up to the first torn one. */
export const readEntries = (path: string): ReadEntries => {
  const bytes = readFileSync(path)
  const entries: Array<ReportedEntry> = []
  let from = 0
  for (;;) {
    const end = bytes.indexOf(newline, from)
    const entry = end === -1 ? Option.none() : entryOf(bytes.toString("utf8", from, end))
    if (Option.isNone(entry)) return { entries, wholeBytes: from }
    entries.push(entry.value)
    from = end + 1
  }
}

/** Truncates the torn entry left by a crash. */
export const cutTorn = (path: string): ReadEntries => {
  const read = readEntries(path)
  const file = openSync(path, "r+")
  try {
    ftruncateSync(file, read.wholeBytes)
    fdatasyncSync(file)
  } finally {
    closeSync(file)
  }
  return read
}

/** An entry in the form in which it will be written. */
export interface EncodedEntry {
  readonly entry: ReportedEntry
  readonly line: Buffer
  /** True for log lines, which may be omitted; events never are. */
  readonly isLine: boolean
}

export const encoded = (entry: ReportedEntry): EncodedEntry => ({
  entry,
  line: lineOf(encodeEntry(entry)),
  isLine: entry.kind === "line"
})

/** A file open for writing. */
export interface OpenSpoolFile {
  readonly count: () => number
  readonly bytes: () => number
  /** Throws when the line cannot be written; the file is then unchanged. */
  readonly append: (line: Buffer) => void
  readonly close: () => void
}

export const openSpoolFile = (path: string): OpenSpoolFile => {
  const file = openSync(path, "wx", 0o600)
  let bytes = 0
  let count = 0
  return {
    count: () => count,
    bytes: () => bytes,
    append: (line) => {
      // Writes at a fixed position, so that a partially written entry is overwritten.
      let written = 0
      while (written < line.length) written += writeSync(file, line, written, line.length - written, bytes + written)
      bytes += line.length
      count += 1
    },
    close: () => closeSync(file)
  }
}
