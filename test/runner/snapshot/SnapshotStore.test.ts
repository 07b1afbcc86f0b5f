import { describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Duration, Effect, Layer, Stream } from "effect"
import * as fs from "node:fs"
import { zstdCompressSync } from "node:zlib"
import { makeArchiveWriter } from "../../../runner/snapshot/ArchiveWriter.ts"
import { SnapshotStore } from "../../../runner/snapshot/SnapshotStore.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const storeAt = (folder: string, orphanGrace = Duration.zero) =>
  SnapshotStore.layer({ folder, orphanGrace }).pipe(Layer.provideMerge(NodeServices.layer))

const large = Buffer.alloc(2_500_000)
for (let at = 0; at < large.length; at += 1) large[at] = (at * 31 + (at >> 8)) & 0xff

const contents = new Map<string, Uint8Array>([
  ["a.tf", Buffer.from('variable "a" {}\n')],
  ["empty.tf", new Uint8Array()],
  ["modules/large.bin", large],
  ["run.sh", Buffer.from("#!/bin/sh\n")]
])

/** Stores one archive, as a sync would. */
const stored = (files: ReadonlyMap<string, Uint8Array> = contents) =>
  Effect.scoped(
    Effect.gen(function* () {
      const store = yield* SnapshotStore
      const folder = yield* store.temporaryFolder
      const written = yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* makeArchiveWriter(`${folder}/a`, [
            { path: "link", kind: "symlink", mode: "120000", oid: "1".repeat(40) }
          ])
          for (const [path, bytes] of files) yield* writer.add({ path, executable: path.endsWith(".sh") }, bytes)
          return yield* writer.finish
        })
      )
      yield* store.adopt(`${folder}/a`, written.archiveDigest)
      return written.archiveDigest
    })
  )

const pathOf = (folder: string, digest: string) => {
  const sha256 = digest.slice("sha256:".length)
  return `${folder}/${sha256.slice(0, 2)}/${sha256}.tar.zst`
}

describe("SnapshotStore", () => {
  it.live("the snapshot store returns stored archives, even in the next process", () =>
    Effect.gen(function* () {
      const folder = `${yield* temporaryFolder}/snapshots`
      const digest = yield* stored().pipe(Effect.provide(storeAt(folder)))
      yield* Effect.gen(function* () {
        const tree = yield* (yield* SnapshotStore).open(digest)
        expect(tree.files).toEqual([
          { path: "a.tf", sizeBytes: 16, executable: false },
          { path: "empty.tf", sizeBytes: 0, executable: false },
          { path: "modules/large.bin", sizeBytes: large.length, executable: false },
          { path: "run.sh", sizeBytes: 10, executable: true }
        ])
        expect(tree.omitted).toEqual([{ path: "link", kind: "symlink" }])
        for (const [path, bytes] of contents) expect(Buffer.from(yield* tree.read(path)).equals(bytes)).toBe(true)
        expect((yield* Effect.flip(tree.read("link")))._tag).toBe("SourceFileUnreadable")
        expect((yield* Effect.flip(tree.read("../a.tf")))._tag).toBe("SourceFileUnreadable")
      }).pipe(Effect.provide(storeAt(folder)))
      expect(fs.statSync(folder).mode & 0o777).toBe(0o700)
      expect(fs.statSync(pathOf(folder, digest)).mode & 0o777).toBe(0o600)
    })
  )

  it.live("the snapshot store streams the bytes of every file, and stops at a damaged file", () =>
    Effect.gen(function* () {
      const folder = `${yield* temporaryFolder}/snapshots`
      yield* Effect.gen(function* () {
        const digest = yield* stored()
        const { files } = yield* SnapshotStore
        const found = yield* Stream.runCollect(files(digest))
        expect(found.map(({ executable, path }) => [path, executable])).toEqual(
          [...contents.keys()].map((path) => [path, path.endsWith(".sh")])
        )
        for (const { bytes, path } of found)
          expect(Buffer.compare(bytes, contents.get(path) ?? Buffer.alloc(0))).toBe(0)
        const seen: Array<string> = []
        const damaged = files(digest).pipe(
          Stream.tap(({ path }) =>
            Effect.sync(() => {
              if (seen.push(path) > 1) return
              const bytes = fs.readFileSync(pathOf(folder, digest))
              fs.writeFileSync(pathOf(folder, digest), bytes.fill(7, bytes.length >> 1))
            })
          ),
          Stream.runDrain
        )
        expect((yield* Effect.flip(damaged))._tag).toBe("SnapshotDamaged")
        expect(seen.length).toBeLessThan(contents.size)
        expect((yield* Effect.flip(Stream.runDrain(files(`sha256:${"0".repeat(64)}`))))._tag).toBe("SnapshotMissing")
      }).pipe(Effect.provide(storeAt(folder)))
    })
  )

  it.live("the snapshot store unpacks only into a new folder", () =>
    Effect.gen(function* () {
      const root = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const store = yield* SnapshotStore
        const digest = yield* stored()
        yield* store.extract(digest, `${root}/out`)
        for (const [path, bytes] of contents) expect(fs.readFileSync(`${root}/out/${path}`).equals(bytes)).toBe(true)
        expect(fs.statSync(`${root}/out`).mode & 0o777).toBe(0o700)
        expect(fs.statSync(`${root}/out/run.sh`).mode & 0o111).not.toBe(0)
        expect(fs.statSync(`${root}/out/a.tf`).mode & 0o111).toBe(0)
        expect(fs.existsSync(`${root}/out/link`)).toBe(false)
        expect((yield* Effect.flip(store.extract(digest, `${root}/out`)))._tag).toBe("SnapshotStorageFailed")
      }).pipe(Effect.provide(storeAt(`${root}/snapshots`)))
    })
  )

  it.live("the snapshot store does not find a snapshot that has never been stored", () =>
    Effect.gen(function* () {
      const store = yield* SnapshotStore
      for (const digest of [`sha256:${"0".repeat(64)}`, "sha256:../../etc/passwd", "", `sha256:${"0".repeat(63)}g`])
        expect((yield* Effect.flip(store.open(digest)))._tag).toBe("SnapshotMissing")
    }).pipe(Effect.provide(Layer.unwrap(Effect.map(temporaryFolder, (folder) => storeAt(folder)))))
  )

  for (const [name, damage] of [
    ["a flipped bit", (bytes: Buffer) => bytes.fill((bytes[100] ?? 0) ^ 1, 100, 101)],
    ["a cut", (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ["a tail", (bytes: Buffer) => Buffer.concat([bytes, Buffer.from("x")])],
    ["nothing left", () => Buffer.alloc(0)],
    ["another archive", () => Buffer.from(zstdCompressSync(Buffer.alloc(2048)))]
  ] as const)
    it.live(`the snapshot store detects ${name} in an archive, and accepts an intact archive as a replacement`, () =>
      Effect.gen(function* () {
        const folder = yield* temporaryFolder
        yield* Effect.gen(function* () {
          const store = yield* SnapshotStore
          const digest = yield* stored()
          const path = pathOf(folder, digest)
          fs.writeFileSync(path, damage(fs.readFileSync(path)))
          expect((yield* Effect.flip(store.open(digest)))._tag).toBe("SnapshotDamaged")
          expect((yield* Effect.flip(store.extract(digest, `${folder}/out`)))._tag).toBe("SnapshotDamaged")
          yield* stored()
          expect((yield* store.open(digest)).files).toHaveLength(4)
        }).pipe(Effect.provide(storeAt(folder)))
      })
    )

  it.live("the snapshot store detects damage that happens after an archive was opened", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      yield* Effect.gen(function* () {
        const store = yield* SnapshotStore
        const digest = yield* stored()
        const tree = yield* store.open(digest)
        const path = pathOf(folder, digest)
        const bytes = fs.readFileSync(path)
        fs.writeFileSync(path, Buffer.alloc(bytes.length))
        expect((yield* Effect.flip(tree.read("a.tf")))._tag).toBe("SourceFileUnreadable")
        expect((yield* Effect.flip(store.extract(digest, `${folder}/out`)))._tag).toBe("SnapshotDamaged")
      }).pipe(Effect.provide(storeAt(folder)))
    })
  )

  it.live("the snapshot store removes leftovers and orphans, but no file that is used, kept or recent", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      fs.mkdirSync(`${folder}/tmp/crashed/library.git`, { recursive: true })
      fs.writeFileSync(`${folder}/tmp/crashed/archive.tar.zst`, "half")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const store = yield* SnapshotStore
          const inUse = yield* store.temporaryFolder
          const kept = yield* stored()
          const orphan = yield* stored(new Map([["b.tf", Buffer.from("b")]]))
          yield* store.open(orphan)
          expect(yield* store.cleanUp(new Set([kept]))).toEqual({ temporaryFolders: 1, archives: 1 })
          expect(fs.existsSync(inUse)).toBe(true)
          expect((yield* store.open(kept)).files).toHaveLength(4)
          expect((yield* Effect.flip(store.open(orphan)))._tag).toBe("SnapshotMissing")
        })
      ).pipe(Effect.provide(storeAt(folder)))
      expect(fs.readdirSync(`${folder}/tmp`)).toEqual([])
      yield* Effect.gen(function* () {
        const store = yield* SnapshotStore
        expect(yield* store.cleanUp(new Set())).toEqual({ temporaryFolders: 0, archives: 0 })
      }).pipe(Effect.provide(storeAt(folder, Duration.days(1))))
    })
  )
})
