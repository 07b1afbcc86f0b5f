import { describe, expect, test } from "bun:test"
import { Effect, Exit, Stream } from "effect"
import { openBlob, openedInMemory, sealBlob, sealedInMemory } from "../../../runner/agent/SealedBlob.ts"
import { openSealed, type SealedFor, sealFor } from "../../../runner/agent/SealedMessage.ts"

const purpose: SealedFor = { from: "server:one", to: "agt_a", runId: "run_a", fence: 3, kind: "state" }

const others: ReadonlyArray<SealedFor> = [
  { ...purpose, from: "server:two" },
  { ...purpose, to: "agt_b" },
  { ...purpose, runId: "run_b" },
  { ...purpose, fence: 4 },
  { ...purpose, kind: "plan_file" }
]

const pairOfKeys = () =>
  crypto.subtle.generateKey({ name: "X25519" }, false, ["deriveBits"]).then((made) => {
    if (!("publicKey" in made)) throw new Error("X25519 makes a pair of keys")
    return made
  })

const bytes = (length: number) => Uint8Array.from({ length }, (_, at) => (at * 7) % 251)

const inChunks = (whole: Uint8Array, size: number) =>
  Stream.fromIterable(
    Array.from({ length: Math.ceil(whole.length / size) }, (_, at) => whole.subarray(at * size, (at + 1) * size))
  )

const collected = <E>(stream: Stream.Stream<Uint8Array, E>) =>
  Stream.runCollect(stream).pipe(Effect.map((chunks) => new Uint8Array(Buffer.concat(chunks))))

describe("SealedMessage", () => {
  test("a sealed message opens only with the key and purpose for which it was sealed", async () => {
    const keys = await pairOfKeys()
    const stranger = await pairOfKeys()
    const sealed = await Effect.runPromise(sealFor(keys.publicKey, purpose, bytes(100)))
    expect(await Effect.runPromise(openSealed(keys.privateKey, purpose, sealed))).toEqual(bytes(100))
    for (const other of others) {
      expect(Exit.isFailure(await Effect.runPromiseExit(openSealed(keys.privateKey, other, sealed)))).toBe(true)
    }
    expect(Exit.isFailure(await Effect.runPromiseExit(openSealed(stranger.privateKey, purpose, sealed)))).toBe(true)
  })
})

describe("SealedBlob", () => {
  const mebibyte = 1024 * 1024

  test("a sealed blob round-trips in pieces of any size", async () => {
    const keys = await pairOfKeys()
    for (const length of [0, 1, mebibyte - 1, mebibyte, mebibyte + 1, 3 * mebibyte]) {
      const contents = bytes(length)
      const sealed = await Effect.runPromise(collected(sealBlob(keys.publicKey, purpose, inChunks(contents, 300_000))))
      for (const size of [70_001, sealed.length]) {
        const opened = await Effect.runPromise(collected(openBlob(keys.privateKey, purpose, inChunks(sealed, size))))
        expect(Buffer.compare(opened, contents)).toBe(0)
      }
      const atOnce = await Effect.runPromise(sealedInMemory(keys.publicKey, purpose, contents))
      const back = [
        await Effect.runPromise(collected(openBlob(keys.privateKey, purpose, inChunks(atOnce, 70_001)))),
        await Effect.runPromise(openedInMemory(keys.privateKey, purpose, atOnce)),
        await Effect.runPromise(openedInMemory(keys.privateKey, purpose, sealed))
      ]
      expect(back.map((opened) => Buffer.compare(opened, contents))).toEqual([0, 0, 0])
    }
  })

  test("opening rejects a sealed blob that was truncated, changed or created for another purpose", async () => {
    const keys = await pairOfKeys()
    const sealed = await Effect.runPromise(
      collected(sealBlob(keys.publicKey, purpose, inChunks(bytes(2 * mebibyte + 5), mebibyte)))
    )
    const header = sealed.indexOf(0x0a) + 1
    const part = mebibyte + 16
    const changed = sealed.slice()
    changed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1
    const swapped = Buffer.concat([
      sealed.subarray(0, header),
      sealed.subarray(header + part, header + 2 * part),
      sealed.subarray(header, header + part),
      sealed.subarray(header + 2 * part)
    ])
    const cut = [0, header, header + part, header + 2 * part, sealed.length - 1].map((end) => sealed.subarray(0, end))
    for (const wrong of [changed, swapped, ...cut]) {
      const opened = collected(openBlob(keys.privateKey, purpose, inChunks(wrong, 500_000)))
      expect(Exit.isFailure(await Effect.runPromiseExit(opened))).toBe(true)
    }
    for (const other of others) {
      const opened = collected(openBlob(keys.privateKey, other, inChunks(sealed, 500_000)))
      expect(Exit.isFailure(await Effect.runPromiseExit(opened))).toBe(true)
    }
  })

  test("opening in memory rejects a sealed blob that was truncated, extended, changed or created for another purpose", async () => {
    const keys = await pairOfKeys()
    const { privateKey } = keys
    for (const length of [0, 1000, mebibyte, 2 * mebibyte + 5]) {
      const sealed = await Effect.runPromise(sealedInMemory(keys.publicKey, purpose, bytes(length)))
      const header = sealed.indexOf(0x0a) + 1
      const changed = sealed.slice()
      changed[sealed.length - 1] = (sealed.at(-1) ?? 0) ^ 1
      const longer = Buffer.concat([sealed, bytes(1)])
      const cut = [0, header - 1, header, sealed.length - 1].map((end) => sealed.subarray(0, end))
      const wrong = [changed, longer, ...cut].map((blob) => openedInMemory(privateKey, purpose, blob))
      for (const opened of [...wrong, ...others.map((other) => openedInMemory(privateKey, other, sealed))]) {
        expect(Exit.isFailure(await Effect.runPromiseExit(opened))).toBe(true)
      }
    }
  })
})
