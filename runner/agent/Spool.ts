import {
  closeSync,
  existsSync,
  fdatasyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync
} from "node:fs"
import { open as openFile } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Latch, Option, Schema, type Scope } from "effect"
import { type ReportBatch, ReportedEntry } from "../../schema/agent/AgentJob.ts"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import { crc32 } from "node:zlib"

/*
 * A spool file contains entries in order of arrival, one per line, each preceded by its checksum. If a crash truncated a
 * line, that line and everything after it are ignored.
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

interface ReadEntries {
  readonly entries: ReadonlyArray<ReportedEntry>
  /** Length of the intact part of the file. */
  readonly wholeBytes: number
}

/** Reads the entries of a file up to the first damaged entry. */
const readEntries = (path: string): ReadEntries => {
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

/** Truncates a file before the entry that a crash left incomplete. */
const cutTorn = (path: string): ReadEntries => {
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

/** An entry in the form in which it is written. */
interface EncodedEntry {
  readonly entry: ReportedEntry
  readonly line: Buffer
  /** True for log lines, which may be omitted. Events are never omitted. */
  readonly isLine: boolean
}

const encoded = (entry: ReportedEntry): EncodedEntry => ({
  entry,
  line: lineOf(encodeEntry(entry)),
  isLine: entry.kind === "line"
})

/** A file that is open for writing. */
interface OpenSpoolFile {
  readonly count: () => number
  readonly bytes: () => number
  /** Throws if the line cannot be written; the file is then unchanged. */
  readonly append: (line: Buffer) => void
  readonly close: () => void
}

const openSpoolFile = (path: string): OpenSpoolFile => {
  const file = openSync(path, "wx", 0o600)
  let bytes = 0
  let count = 0
  return {
    count: () => count,
    bytes: () => bytes,
    append: (line) => {
      // Write at a fixed position, so that a retry overwrites a partially written entry.
      let written = 0
      while (written < line.length) written += writeSync(file, line, written, line.length - written, bytes + written)
      bytes += line.length
      count += 1
    },
    close: () => closeSync(file)
  }
}

export interface SpoolLimits {
  /** Maximum size of a batch, unless a single entry is larger. */
  readonly batchBytes: number
  readonly batchEntries: number
  /** Maximum total size of unacknowledged entries; beyond it, log lines are omitted. */
  readonly lineBytes: number
}

export const spoolLimits: SpoolLimits = {
  batchBytes: 256 * 1024,
  batchEntries: 2000,
  lineBytes: 64 * 1024 * 1024
}

/**
 * The reports of an execution, kept on the agent's disk until the server has stored them. The spool survives `kill -9`: by
 * the time `append` returns, the entry has been passed to the kernel. A `flushed` entry also survives a power failure.
 *
 * - `append`: never fails, and never waits for the connection or a flush
 * - `next`: the oldest unacknowledged batch, with the same contents every time, even after a crash; a power failure may shorten a
 *   batch that was not flushed; if the server has stored the longer batch, the server reports the batch's number before
 *   anything is sent again
 * - `flushed`: waits until this batch and all earlier ones are on disk or acknowledged
 * - `acknowledged`: records that the server has stored everything up to this batch
 * - `waiting`: waits until there is something to send
 * - `last`: the number of the last batch, once nothing more will be appended
 */
export interface Spool {
  readonly append: (entry: ReportedEntry) => Effect.Effect<void>
  readonly next: Effect.Effect<Option.Option<ReportBatch>>
  readonly flushed: (number: number) => Effect.Effect<void>
  readonly acknowledged: (number: number) => Effect.Effect<void>
  readonly waiting: Effect.Effect<void>
  readonly last: Effect.Effect<number>
  readonly bytes: () => number
}

const flush = (path: string) => openFile(path, "r").then((file) => file.datasync().finally(() => file.close()))

/**
 * Name of the file that contains the number of the last batch that the server has stored. That batch's own file is removed,
 * and its number must not be reused.
 */
const storedName = "stored"

const storedNumber = (folder: string): number => {
  const file = join(folder, storedName)
  return existsSync(file) ? Number.parseInt(readFileSync(file, "latin1"), 10) || 0 : 0
}

const noteStored = (folder: string, number: number) => {
  const file = join(folder, storedName)
  writeFileSync(`${file}.new`, String(number), { mode: 0o600 })
  renameSync(`${file}.new`, file)
}

const fileName = /^(\d{10})\.batch$/
const nameOf = (number: number) => `${String(number).padStart(10, "0")}.batch`

/** The number of omitted lines, and their phase. */
interface Omitted {
  readonly at: ReportedEntry["at"]
  readonly phase: RunPhase
  lines: number
}

/** Opens the spool in a folder, creating the folder if needed. Only one spool may be open in a folder. */
export const openSpool = (
  folder: string,
  limits: SpoolLimits = spoolLimits
): Effect.Effect<Spool, never, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.sync(() => spoolIn(folder, limits)),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ spool }) => spool))

const spoolIn = (folder: string, limits: SpoolLimits) => {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const storedBatch = storedNumber(folder)
  const pathOf = (number: number) => join(folder, nameOf(number))
  const found = readdirSync(folder)
    .flatMap((name) => fileName.exec(name)?.[1] ?? [])
    .map(Number)
    .toSorted((left, right) => left - right)
  /** Complete batches, oldest first. */
  const closed = new Map<number, { readonly size: number }>()
  /** Complete batches that are safely on disk. */
  const durable = new Set<number>()
  for (const number of found) {
    // Repair the file. Only the last file may be incomplete, and a file without an entry was never sent.
    const { entries, wholeBytes } = cutTorn(pathOf(number))
    if (entries.length === 0 || number <= storedBatch) rmSync(pathOf(number))
    else {
      closed.set(number, { size: wholeBytes })
      durable.add(number)
    }
  }
  let nextNumber = Math.max(storedBatch, ...found.filter((number) => closed.has(number))) + 1
  let open: { readonly number: number; readonly file: OpenSpoolFile } | undefined
  /** Entries of the newest batch, if it is the only batch. It is sent next, so it need not be read back. */
  let newest: { readonly number: number; readonly entries: Array<ReportedEntry> } | undefined
  /** Entries that have not been written yet, in order. */
  const pending: Array<EncodedEntry> = []
  let omitted: Omitted | undefined
  let closedBytes = [...closed.values()].reduce((sum, { size }) => sum + size, 0)
  const arrived = Latch.makeUnsafe(closed.size > 0)

  const bytes = () => closedBytes + (open?.file.bytes() ?? 0)

  const shut = (current: { readonly number: number; readonly file: OpenSpoolFile }) => {
    current.file.close()
    closed.set(current.number, { size: current.file.bytes() })
    closedBytes += current.file.bytes()
    open = undefined
  }

  const isFull = (file: OpenSpoolFile, line: Buffer) =>
    file.count() >= limits.batchEntries || (file.count() > 0 && file.bytes() + line.length > limits.batchBytes)

  const write = ({ entry, line }: EncodedEntry) => {
    if (open !== undefined && isFull(open.file, line)) shut(open)
    if (open === undefined) {
      open = { number: nextNumber, file: openSpoolFile(pathOf(nextNumber)) }
      newest = closed.size === 0 ? { number: nextNumber, entries: [] } : undefined
      nextNumber += 1
    }
    open.file.append(line)
    newest?.entries.push(entry)
  }

  /** Writes pending entries, up to the first entry that cannot be written. */
  const writePending = () => {
    try {
      for (let first = pending[0]; first !== undefined; first = pending[0]) {
        write(first)
        pending.shift()
      }
    } catch {
      // The disk is full. Retry when the next entry arrives, and before anything is sent.
    }
    if (bytes() > 0) arrived.openUnsafe()
  }

  const leaveOut = (at: ReportedEntry["at"], phase: RunPhase) => {
    if (omitted !== undefined && omitted.phase !== phase) noteOmitted()
    omitted ??= { at, phase, lines: 0 }
    omitted.lines += 1
  }

  const noteOmitted = () => {
    if (omitted === undefined) return
    pending.push(encoded({ kind: "omitted", ...omitted }))
    omitted = undefined
  }

  const append = (entry: ReportedEntry) =>
    Effect.sync(() => {
      writePending()
      if (entry.kind === "line" && (pending.length > 0 || bytes() >= limits.lineBytes)) {
        leaveOut(entry.at, entry.phase)
      } else {
        noteOmitted()
        pending.push(encoded(entry))
        writePending()
      }
    })

  const oldest = (): number | undefined => closed.keys().next().value

  const next = Effect.sync(() => {
    writePending()
    if (oldest() === undefined && open !== undefined) shut(open)
    const number = oldest()
    if (number === undefined) {
      arrived.closeUnsafe()
      return Option.none<ReportBatch>()
    }
    const entries = newest?.number === number ? newest.entries : readEntries(pathOf(number)).entries
    return Option.some<ReportBatch>({ number, entries })
  })

  const flushed = (upTo: number) =>
    Effect.promise(async () => {
      const numbers = [...closed.keys(), ...(open === undefined ? [] : [open.number])]
      for (const number of numbers.filter((one) => one <= upTo && !durable.has(one))) {
        await flush(pathOf(number)).catch((error: unknown) => {
          // If a batch's file is missing, the batch has been acknowledged in the meantime.
          if (closed.has(number)) throw error
        })
        if (closed.has(number)) durable.add(number)
      }
    })

  const acknowledged = (stored: number) =>
    Effect.sync(() => {
      try {
        noteStored(folder, stored)
      } catch {
        // If the disk is full, keep the files. Sending a stored batch again has no effect.
        return
      }
      for (const [number, { size }] of closed) {
        if (number > stored) break
        closed.delete(number)
        durable.delete(number)
        closedBytes -= size
        rmSync(pathOf(number), { force: true })
      }
      if (newest !== undefined && newest.number <= stored) newest = undefined
      if (nextNumber <= stored) nextNumber = stored + 1
    })

  const last = Effect.sync(() => {
    noteOmitted()
    writePending()
    return nextNumber - 1
  })

  const spool: Spool = { append, next, flushed, acknowledged, waiting: arrived.await, last, bytes }
  const close = () => open?.file.close()
  return { spool, close }
}
