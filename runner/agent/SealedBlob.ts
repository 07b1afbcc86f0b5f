import { Effect, Stream } from "effect"
import { NotSealedForThis, type OpeningKeys, openSealed, type SealedFor, sealFor } from "./SealedMessage.ts"

/*
 * A large object, sealed in parts so that neither side needs memory for two copies: a line with the sealed data key, followed by
 * parts of 1 MiB. Each part is encrypted with AES-256-GCM under the data key. The nonce of a part contains the part's
 * number, and a mark if it is the last part, so that no part can be dropped, repeated or swapped.
 */

const partBytes = 1024 * 1024
const tagBytes = 16
const longestHeader = 8 * 1024
const newline = 0x0a

const damaged = () =>
  new NotSealedForThis({ message: "The sealed file is damaged, incomplete, or made for another purpose." })

/** Derives the nonce from a counter, which is safe because a data key seals only one blob. */
const nonce = (number: number, isLast: boolean): Uint8Array<ArrayBuffer> => {
  const bytes = new Uint8Array(12)
  const view = new DataView(bytes.buffer)
  view.setUint32(4, number)
  view.setUint8(11, isLast ? 1 : 0)
  return bytes
}

const importKey = (bytes: Uint8Array, usage: "encrypt" | "decrypt") =>
  Effect.promise(() => crypto.subtle.importKey("raw", new Uint8Array(bytes), "AES-GCM", false, [usage]))

const joined = (first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> => {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

interface Part {
  readonly bytes: Uint8Array<ArrayBuffer>
  readonly number: number
  readonly isLast: boolean
}

/**
 * Collects bytes into parts of equal size. Copies each byte once, into one of two alternating buffers, so a part remains valid
 * during the next call, but not after it.
 */
class Parts {
  private readonly size: number
  private held: Uint8Array<ArrayBuffer>
  private other: Uint8Array<ArrayBuffer> | undefined
  private length = 0
  private number = 0

  constructor(size: number) {
    this.size = size
    this.held = new Uint8Array(size)
  }

  /**
   * Adds bytes. Returns at most one part if the piece is not longer than a part. Returns a full part only after more bytes
   * arrive, because the last part has to be marked.
   */
  add(piece: Uint8Array): ReadonlyArray<Part> {
    const full: Array<Part> = []
    for (let from = 0; from < piece.length; ) {
      if (this.length === this.size) {
        full.push({ bytes: this.held, number: this.number, isLast: false })
        const next = this.other ?? new Uint8Array(this.size)
        this.other = this.held
        this.held = next
        this.length = 0
        this.number += 1
      }
      const taken = Math.min(this.size - this.length, piece.length - from)
      this.held.set(piece.subarray(from, from + taken), this.length)
      this.length += taken
      from += taken
    }
    return full
  }

  get last(): Part {
    return { bytes: this.held.subarray(0, this.length), number: this.number, isLast: true }
  }
}

const pieces = (chunk: Uint8Array, size: number): ReadonlyArray<Uint8Array> =>
  chunk.length <= size
    ? [chunk]
    : Array.from({ length: Math.ceil(chunk.length / size) }, (_, at) => chunk.subarray(at * size, (at + 1) * size))

/**
 * Regroups bytes into parts of equal size. Marks the last part, which may be shorter or empty. Each part remains valid only
 * until the reader requests the second part after it.
 */
const inParts = <E, R>(bytes: Stream.Stream<Uint8Array, E, R>, size: number): Stream.Stream<Part, E, R> =>
  bytes.pipe(
    Stream.map((chunk) => pieces(chunk, size)),
    Stream.flattenIterable,
    Stream.rechunk(1),
    Stream.mapAccum(
      () => new Parts(size),
      (parts, chunk) => [parts, parts.add(chunk)],
      { onHalt: (parts) => [parts.last] }
    )
  )

const headerLine = (header: string) => new TextEncoder().encode(`${header}\n`)

const sealedPart = (cipher: CryptoKey, bytes: Uint8Array<ArrayBuffer>, number: number, isLast: boolean) =>
  Effect.promise(() => crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce(number, isLast) }, cipher, bytes)).pipe(
    Effect.map((sealed) => new Uint8Array(sealed))
  )

const openedPart = (cipher: CryptoKey, bytes: Uint8Array<ArrayBuffer>, number: number, isLast: boolean) =>
  Effect.tryPromise({
    try: () => crypto.subtle.decrypt({ name: "AES-GCM", iv: nonce(number, isLast) }, cipher, bytes),
    catch: damaged
  }).pipe(Effect.map((plain) => new Uint8Array(plain)))

/** Returns the length of a sealed blob, without its header, for contents of the given length. */
export const sealedBodyBytes = (contentBytes: number): number =>
  contentBytes + tagBytes * Math.max(1, Math.ceil(contentBytes / partBytes))

/**
 * Seals a stream for the holder of an X25519 key. `dataKey` is 32 bytes that are used only for these contents; a sender that
 * repeats parts of a response needs the same key.
 */
export const sealBlob = <E, R>(
  key: CryptoKey,
  purpose: SealedFor,
  contents: Stream.Stream<Uint8Array, E, R>,
  dataKey: Uint8Array = crypto.getRandomValues(new Uint8Array(32))
): Stream.Stream<Uint8Array, E, R> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const header = yield* sealFor(key, purpose, dataKey)
      const cipher = yield* importKey(dataKey, "encrypt")
      const parts = inParts(contents, partBytes).pipe(
        Stream.mapEffect(({ bytes, isLast, number }) => sealedPart(cipher, bytes, number, isLast))
      )
      return Stream.concat(Stream.make(headerLine(header)), parts)
    })
  )

/**
 * Like `sealBlob`, but for contents in memory. Seals a single part without a stream, because the overhead of a stream would
 * exceed the cost of encryption.
 */
export const sealedInMemory = Effect.fnUntraced(function* (
  key: CryptoKey,
  purpose: SealedFor,
  contents: Uint8Array
): Effect.fn.Return<Uint8Array> {
  if (contents.length > partBytes) {
    const chunks = yield* Stream.runCollect(sealBlob(key, purpose, Stream.make(contents)))
    return new Uint8Array(Buffer.concat(chunks))
  }
  const dataKey = crypto.getRandomValues(new Uint8Array(32))
  const part = Effect.flatMap(importKey(dataKey, "encrypt"), (cipher) =>
    sealedPart(cipher, new Uint8Array(contents), 0, true)
  )
  const [header, body] = yield* Effect.all([sealFor(key, purpose, dataKey), part], { concurrency: "unbounded" })
  return joined(headerLine(header), body)
})

/**
 * Opens a blob that `sealBlob` sealed for one of these keys and this exact purpose. Fails at the first part that was modified.
 */
export const openBlob = <E, R>(
  keys: OpeningKeys,
  purpose: SealedFor,
  sealed: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | NotSealedForThis, R> =>
  Stream.suspend(() => {
    let cipher: CryptoKey | undefined
    const bodies = sealed.pipe(
      Stream.mapAccumEffect(
        () => new Uint8Array(0),
        Effect.fnUntraced(function* (head: Uint8Array<ArrayBuffer>, chunk: Uint8Array) {
          if (cipher !== undefined) return [head, [chunk]] as const
          const all = joined(head, chunk)
          const end = all.indexOf(newline)
          if (end === -1) return all.length > longestHeader ? yield* damaged() : ([all, []] as const)
          const dataKey = yield* openSealed(keys, purpose, new TextDecoder().decode(all.subarray(0, end)))
          const key = yield* importKey(dataKey, "decrypt")
          cipher ??= key
          return [new Uint8Array(0), [all.slice(end + 1)]] as const
        })
      )
    )
    return inParts(bodies, partBytes + tagBytes).pipe(
      Stream.mapEffect(({ bytes, isLast, number }) => {
        const opened = cipher
        return opened === undefined ? Effect.fail(damaged()) : openedPart(opened, bytes, number, isLast)
      })
    )
  })

/** Like `openBlob`, but for a blob in memory. Opens a single part without a stream. */
export const openedInMemory = Effect.fnUntraced(function* (
  keys: OpeningKeys,
  purpose: SealedFor,
  sealed: Uint8Array
): Effect.fn.Return<Uint8Array, NotSealedForThis> {
  const end = sealed.subarray(0, longestHeader + 1).indexOf(newline)
  const body = sealed.subarray(end + 1)
  if (end === -1 || body.length > partBytes + tagBytes) {
    const chunks = yield* Stream.runCollect(openBlob(keys, purpose, Stream.make(sealed)))
    return new Uint8Array(Buffer.concat(chunks))
  }
  const dataKey = yield* openSealed(keys, purpose, new TextDecoder().decode(sealed.subarray(0, end)))
  const cipher = yield* importKey(dataKey, "decrypt")
  return yield* openedPart(cipher, new Uint8Array(body), 0, true)
})
