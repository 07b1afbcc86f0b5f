import { describe, expect } from "bun:test"
import { Effect } from "effect"
import { createHash } from "node:crypto"
import * as fs from "node:fs"
import { packBounds, refusedPack } from "../../../runner/git/PackBounds.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { repository } from "../snapshot/BuildHarness.ts"
import { syncLayer, syncOnce } from "../snapshot/SyncHarness.ts"
import { delta, kinds, object, pack, packedZeros, packServer, stored, zeros } from "./support/PackBomb.ts"

const gigabytes = 128
const mebibyte = 1024 * 1024
/** Limits far below the size of a bomb. A sync that exceeds the memory limit fails with `rssBytes`. */
const limits = { rssBytes: 400 * mebibyte, totalBytes: 64 * mebibyte, fileBytes: 16 * mebibyte }
const mostDisk = 16 * mebibyte

const folderBytes = (folder: string): number =>
  fs
    .readdirSync(folder, { recursive: true, encoding: "utf8" })
    .reduce((sum, name) => sum + (fs.statSync(`${folder}/${name}`, { throwIfNoEntry: false })?.size ?? 0), 0)

/** Syncs in a sync process from a server that sends this pack. Also returns the sync's peak disk usage. */
const syncFrom = Effect.fnUntraced(function* (native: "off" | "required", bytes: Buffer, commit?: string) {
  const real = yield* repository({ "a.tf": "a" })
  const server = yield* packServer(new URL(real.url).origin, bytes, { commit: real.commit, as: commit ?? real.commit })
  const folder = `${yield* temporaryFolder}/snapshots`
  let most = 0
  const timer = setInterval(() => {
    if (fs.existsSync(folder)) most = Math.max(most, folderBytes(folder))
  }, 20)
  const outcome = yield* syncOnce({ url: server.url }).pipe(
    Effect.provide(syncLayer({ origin: server.origin, folder, native, limits })),
    Effect.result,
    Effect.ensuring(Effect.sync(() => clearInterval(timer)))
  )
  return { outcome, most }
})

const emptyTree = stored(kinds.tree, Buffer.alloc(0))

/** Builds a repository in memory with one commit, whose only file is this blob. */
const commitOf = (blob: string) => {
  const hash = (type: string, content: Buffer) =>
    createHash("sha1").update(`${type} ${content.length}\0`).update(content).digest("hex")
  const tree = Buffer.concat([Buffer.from("100644 a.tf\0"), Buffer.from(blob, "hex")])
  const who = "A <a@b.example> 1700000000 +0000"
  const commit = Buffer.from(`tree ${hash("tree", tree)}\nauthor ${who}\ncommitter ${who}\n\nBomb\n`)
  return { oid: hash("commit", commit), objects: [stored(kinds.commit, commit), stored(kinds.tree, tree)] }
}

describe("Oversized packs", () => {
  const ways = [
    ["isomorphic-git", "off"],
    ["native git", "required"]
  ] as const
  const base = Buffer.alloc(60_000, 1)
  const baseObject = stored(kinds.blob, base)

  for (const [name, bomb, limit] of [
    [
      "a folder that unpacks to two gibibytes",
      () => pack([object(kinds.tree, zeros(gigabytes), packedZeros(gigabytes))]),
      "totalBytes"
    ],
    [
      "a delta that rebuilds two gibibytes",
      () => {
        const copies = Array.from({ length: 36_000 }, () => ({ bytes: base.length }))
        return pack([baseObject, delta(baseObject.length, base.length, base.length * copies.length, copies)])
      },
      "totalBytes"
    ]
  ] as const)
    for (const [way, native] of ways)
      it.live(`${way} rejects a pack while the pack is being unpacked: ${name}`, () =>
        Effect.gen(function* () {
          const bytes = bomb()
          expect(bytes.length).toBeLessThan(4 * mebibyte)
          const { outcome, most } = yield* syncFrom(native, bytes)
          expect(outcome).toMatchObject({ failure: { _tag: "GitLimitExceeded", limit } })
          expect(most).toBeLessThan(mostDisk)
        })
      )

  it.live("both Git implementations reject a pack that announces a hundred million objects", () =>
    Effect.gen(function* () {
      const bytes = pack([emptyTree], 100_000_000)
      expect((yield* syncFrom("off", bytes)).outcome).toMatchObject({
        failure: { _tag: "GitLimitExceeded", limit: "files" }
      })
      expect((yield* syncFrom("required", bytes)).outcome).toMatchObject({
        failure: { _tag: "GitLimitExceeded", limit: "totalBytes" }
      })
    })
  )

  for (const [way, native] of ways)
    it.live(`${way} rejects an object of two gibibytes that declares a size of ten bytes`, () =>
      Effect.gen(function* () {
        const bytes = pack([object(kinds.blob, 10, packedZeros(gigabytes))])
        const { outcome, most } = yield* syncFrom(native, bytes)
        expect(outcome).toMatchObject({ failure: { _tag: "GitProtocolBroken" } })
        expect(most).toBeLessThan(mostDisk)
      })
    )

  for (const [way, native, limit] of [
    ["isomorphic-git", "off", "totalBytes"],
    ["native git", "required", "fileBytes"]
  ] as const)
    it.live(`${way} rejects a file of half a gibibyte`, () =>
      Effect.gen(function* () {
        const chunks = 32
        const hash = createHash("sha1").update(`blob ${zeros(chunks)}\0`)
        for (let count = 0; count < chunks; count++) hash.update(Buffer.alloc(zeros(1)))
        const { objects, oid } = commitOf(hash.digest("hex"))
        const bytes = pack([...objects, object(kinds.blob, zeros(chunks), packedZeros(chunks))])
        const { outcome, most } = yield* syncFrom(native, bytes, oid)
        expect(outcome).toMatchObject({ failure: { _tag: "GitLimitExceeded", limit } })
        expect(most).toBeLessThan(mostDisk)
      })
    )

  for (const [way, native] of ways)
    it.live(
      `${way} makes a snapshot from a pack that is within every limit, even with a chain of a hundred deltas`,
      () =>
        Effect.gen(function* () {
          const file = Buffer.alloc(100, 0x20)
          const { objects, oid } = commitOf(createHash("sha1").update("blob 100\0").update(file).digest("hex"))
          const chain = [stored(kinds.blob, file)]
          for (let count = 0; count < 100; count++)
            chain.push(delta(chain[count]?.length ?? 0, 100, 100, [{ bytes: 100 }]))
          const { outcome } = yield* syncFrom(native, pack([...objects, ...chain]), oid)
          expect(outcome).toMatchObject({ success: { resolvedCommit: oid } })
        })
    )
})

describe("Pack limits", () => {
  const exceeded = (bytes: Buffer, bounds: Partial<ReturnType<typeof packBounds>> = {}) =>
    Effect.promise(() => refusedPack(bytes, { ...packBounds(limits), ...bounds }))

  it.live("the declared size of each object in a pack is limited", () =>
    Effect.gen(function* () {
      const bytes = pack([object(kinds.blob, zeros(1), packedZeros(1))])
      expect(yield* exceeded(bytes, { objectBytes: zeros(1) })).toBeUndefined()
      expect(yield* exceeded(bytes, { objectBytes: zeros(1) - 1 })).toMatchObject({ maximum: zeros(1) - 1 })
    })
  )

  it.live("the total size of all objects in a pack is limited, even if each object is small", () =>
    Effect.gen(function* () {
      const one = object(kinds.blob, zeros(1), packedZeros(1))
      const within = pack(Array<Buffer>(4).fill(one))
      expect(yield* exceeded(within, { unpackedBytes: zeros(4) })).toBeUndefined()
      expect(yield* exceeded(within, { unpackedBytes: zeros(4) - 1 })).toMatchObject({ limit: "totalBytes" })
    })
  )

  it.live("the total size that deltas rebuild from one small object is limited", () =>
    Effect.gen(function* () {
      const base = stored(kinds.blob, Buffer.alloc(60_000, 1))
      const copies = Array.from({ length: 1000 }, () => ({ bytes: 60_000 }))
      const objects = [base]
      let distance = base.length
      for (let count = 0; count < 20; count++) {
        const next = delta(distance, 60_000, 60_000_000, copies)
        objects.push(next)
        distance += next.length
      }
      expect(yield* exceeded(pack(objects.slice(0, 9)))).toBeUndefined()
      expect(yield* exceeded(pack(objects))).toMatchObject({ limit: "totalBytes" })
    })
  )

  it.live("a chain of deltas may be no longer than Git allows", () =>
    Effect.gen(function* () {
      const chain = (length: number) => {
        const objects = [stored(kinds.blob, Buffer.alloc(100, 1))]
        for (let count = 0; count < length; count++)
          objects.push(delta(objects[count]?.length ?? 0, 100, 100, [{ bytes: 100 }]))
        return pack(objects)
      }
      expect(yield* exceeded(chain(4095))).toBeUndefined()
      expect(yield* exceeded(chain(4096))).toMatchObject({ limit: "depth" })
    })
  )

  it.live("the objects of a pack are counted before any object is unpacked", () =>
    Effect.gen(function* () {
      const bytes = pack(Array<Buffer>(3).fill(emptyTree))
      expect(yield* exceeded(bytes, { objects: 3 })).toBeUndefined()
      expect(yield* exceeded(bytes, { objects: 2 })).toMatchObject({ limit: "files" })
    })
  )
})
