import { createInflate, inflateSync } from "node:zlib"
import { GitLimitExceeded, GitProtocolBroken } from "./GitError.ts"
import type { GitLimits } from "./GitPolicy.ts"

/**
 * Limits for the contents of a pack. Both fetch implementations refuse an object above `objectBytes`, and git never
 * allocates more memory than that.
 */
export interface PackBounds {
  readonly objects: number
  /** Maximum size of one object, whether stored or rebuilt from a delta. */
  readonly objectBytes: number
  /** Maximum total size of all objects. */
  readonly unpackedBytes: number
  /** Maximum length of a chain of deltas. */
  readonly deltaDepth: number
}

const mebibyte = 1024 * 1024
/** Minimum for the object limit. Folders and commits are also objects, so a small limit for files must not apply to them. */
const leastObjectBytes = 16 * mebibyte
const unpackedObjects = 8
const mostObjects = 1_000_000
/** Git itself never writes a longer chain of deltas. */
const mostDeltas = 4095

export const packBounds = ({ totalBytes }: Pick<GitLimits, "totalBytes">): PackBounds => {
  const objectBytes = Math.max(totalBytes, leastObjectBytes)
  return {
    objects: mostObjects,
    objectBytes,
    unpackedBytes: objectBytes * unpackedObjects,
    deltaDepth: mostDeltas
  }
}

export const objectTooLarge = (maximum: number) =>
  new GitLimitExceeded({
    limit: "totalBytes",
    maximum,
    message: `An object of the repository is larger than the ${maximum} bytes this service unpacks.`
  })

const headerBytes = 12
const trailerBytes = 20
const oidBytes = 20
const ofsDelta = 6
const refDelta = 7
/**
 * Objects up to this size are inflated in one step. Larger objects are inflated in pieces, which are counted but not stored.
 */
const oneStepBytes = 64 * 1024
/** Number of bytes that is enough for the two sizes at the beginning of a delta. */
const deltaHeadBytes = 20

interface Inflated {
  readonly head: Buffer
  readonly bytes: number
  /** Number of pack bytes that were consumed. */
  readonly used: number
}

const inflateSmall = (input: Buffer, expected: number): Inflated => {
  // The type declarations do not reflect that `info` changes the return value.
  const found: unknown = inflateSync(input, { info: true, maxOutputLength: Math.max(expected, 1) })
  const { buffer, engine } = found as { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }
  return { head: buffer.subarray(0, deltaHeadBytes), bytes: buffer.length, used: engine.bytesWritten }
}

/** Stops at the first byte beyond the size in the object's header. */
const inflateLarge = async (input: Buffer, expected: number): Promise<Inflated> => {
  const inflate = createInflate()
  inflate.end(input)
  let head = Buffer.alloc(0)
  let bytes = 0
  for await (const piece of inflate) {
    const chunk: Buffer = piece
    if (head.length < deltaHeadBytes) head = Buffer.concat([head, chunk.subarray(0, deltaHeadBytes)])
    bytes += chunk.length
    if (bytes > expected) break
  }
  inflate.destroy()
  return { head, bytes, used: inflate.bytesWritten }
}

/**
 * Reads a number encoded in 7-bit groups, lowest group first. Returns `undefined` if the input ends before the number does.
 */
const variableNumber = (bytes: Buffer, from: number, value = 0, scale = 1) => {
  let at = from
  let sum = value
  let factor = scale
  for (;;) {
    const byte = bytes[at++]
    if (byte === undefined) return undefined
    sum += (byte & 0x7f) * factor
    if (byte < 0x80) return { value: sum, at }
    factor *= 128
  }
}

/** Returns the size of the object that the delta builds, which is the second number in the delta. */
const rebuiltBytes = (head: Buffer): number | undefined => {
  const base = variableNumber(head, 0)
  return base === undefined ? undefined : variableNumber(head, base.at)?.value
}

interface Entry {
  readonly type: number
  readonly size: number
  /** Position of a delta's base, if the pack identifies the base by its distance. */
  readonly base: number | undefined
  /** Position at which the compressed bytes begin. */
  readonly at: number
}

const readEntry = (pack: Buffer, offset: number): Entry | undefined => {
  const first = pack[offset]
  if (first === undefined) return undefined
  const length =
    first < 0x80 ? { value: first & 0xf, at: offset + 1 } : variableNumber(pack, offset + 1, first & 0xf, 16)
  if (length === undefined) return undefined
  const type = (first >> 4) & 7
  if (type === refDelta) return { type, size: length.value, base: undefined, at: length.at + oidBytes }
  if (type !== ofsDelta) return { type, size: length.value, base: undefined, at: length.at }
  let at = length.at
  let distance = 0
  for (;;) {
    const byte = pack[at++]
    if (byte === undefined) return undefined
    distance += byte & 0x7f
    if (byte < 0x80) return { type, size: length.value, base: offset - distance, at }
    distance = (distance + 1) * 128
  }
}

/**
 * Unpacks a pack without storing anything, and refuses it at the first object that exceeds a limit. Returns `undefined` if the
 * pack is within the limits. isomorphic-git, by contrast, keeps everything in memory before it compares sizes with the
 * headers.
 */
export const refusedPack = async (
  pack: Buffer,
  bounds: PackBounds
): Promise<GitLimitExceeded | GitProtocolBroken | undefined> => {
  const damaged = new GitProtocolBroken({ message: "The Git server sent a pack with a damaged object." })
  if (pack.length < headerBytes + trailerBytes) return undefined
  const count = pack.readUInt32BE(8)
  if (count > bounds.objects)
    return new GitLimitExceeded({
      limit: "files",
      maximum: bounds.objects,
      message: `The Git server sent more than the ${bounds.objects} objects this service unpacks.`
    })
  const end = pack.length - trailerBytes
  const depths = new Map<number, number>()
  let total = 0
  let offset = headerBytes
  for (let index = 0; index < count && offset < end; index++) {
    const entry = readEntry(pack, offset)
    if (entry === undefined) return damaged
    if (entry.size > bounds.objectBytes) return objectTooLarge(bounds.objectBytes)
    const isDelta = entry.type === ofsDelta || entry.type === refDelta
    const depth = isDelta ? (entry.base === undefined ? 1 : (depths.get(entry.base) ?? 0) + 1) : 0
    if (depth > bounds.deltaDepth)
      return new GitLimitExceeded({
        limit: "depth",
        maximum: bounds.deltaDepth,
        message: `The Git server sent more than ${bounds.deltaDepth} deltas that build on each other, which Git never writes.`
      })
    if (isDelta) depths.set(offset, depth)
    const input = pack.subarray(entry.at, end)
    const inflated = await Promise.resolve(entry.size)
      .then((size) => (size <= oneStepBytes ? inflateSmall(input, size) : inflateLarge(input, size)))
      .catch(() => undefined)
    if (inflated === undefined || inflated.bytes !== entry.size) return damaged
    const rebuilt = isDelta ? rebuiltBytes(inflated.head) : 0
    if (rebuilt === undefined) return damaged
    if (rebuilt > bounds.objectBytes) return objectTooLarge(bounds.objectBytes)
    total += inflated.bytes + rebuilt
    if (total > bounds.unpackedBytes)
      return new GitLimitExceeded({
        limit: "totalBytes",
        maximum: bounds.unpackedBytes,
        message: `The objects of the repository are larger than the ${bounds.unpackedBytes} bytes this service unpacks.`
      })
    offset = entry.at + inflated.used
  }
  return undefined
}
