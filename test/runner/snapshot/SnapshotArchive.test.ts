import { describe, expect, test } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, Result } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import * as fs from "node:fs"
import { Header, Pax } from "tar"
import { archiveEnd, encodeFileHeader, encodePreamble, paddingOf } from "../../../runner/snapshot/ArchiveFormat.ts"
import { ArchiveIndexer } from "../../../runner/snapshot/ArchiveIndex.ts"
import { makeArchiveWriter } from "../../../runner/snapshot/ArchiveWriter.ts"
import { comparePaths } from "../../../runner/snapshot/TreePath.ts"
import { it } from "../../support/Effect.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"

const file = (path: string, content = "", executable = false) => {
  const bytes = Buffer.from(content)
  return Buffer.concat([
    encodeFileHeader({ path, executable, sizeBytes: bytes.length }),
    bytes,
    Buffer.alloc(paddingOf(bytes.length))
  ])
}

const archive = (...entries: ReadonlyArray<Uint8Array>) => Buffer.concat([encodePreamble([]), ...entries, archiveEnd])

const index = (bytes: Uint8Array, step = bytes.length) => {
  const indexer = new ArchiveIndexer()
  for (let at = 0; at < bytes.length; at += step) {
    const pushed = indexer.push(bytes.subarray(at, at + step))
    if (Result.isFailure(pushed)) return Result.fail(pushed.failure)
  }
  return indexer.finish()
}

interface RawHeader {
  readonly path: string
  readonly type: "File" | "SymbolicLink" | "Link" | "Directory" | "FIFO" | "CharacterDevice" | "OldFile"
  readonly mode?: number
  readonly linkpath?: string
  readonly mtime?: Date
  readonly uid?: number
}

const raw = (header: RawHeader) => {
  const encoded = new Header({
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: 0,
    mtime: new Date(0),
    linkpath: "",
    uname: "",
    gname: "",
    devmaj: 0,
    devmin: 0,
    ...header
  })
  encoded.encode()
  return encoded.block ?? Buffer.alloc(0)
}

describe("archive index", () => {
  const long = `${"folder/".repeat(40)}file`
  const paths = [
    "a",
    "a.tf",
    "a/b",
    "b\u00e4.tf",
    `c/${"x".repeat(99)}`,
    `d/${"y".repeat(120)}`,
    long,
    "z".repeat(255)
  ].sort(comparePaths)
  const bytes = archive(
    ...paths.filter((path) => path !== "a").map((path, at) => file(path, "content".repeat(at * 100), at % 2 === 0))
  )

  test("the archive index finds the same files regardless of how the archive is split into chunks", () => {
    const whole = index(bytes)
    const found = Result.getOrThrow(whole)
    expect(found.files.map((entry) => entry.path)).toEqual(paths.filter((path) => path !== "a"))
    for (const [at, entry] of found.files.entries()) {
      expect(bytes.subarray(entry.offset, entry.offset + entry.sizeBytes).toString()).toBe("content".repeat(at * 100))
      expect(entry.executable).toBe(at % 2 === 0)
    }
    for (const step of [1, 7, 511, 512, 513, 4096]) expect(index(bytes, step)).toEqual(whole)
  })

  test("reading an archive fails if any byte of a header, the padding or the end has been changed", () => {
    const small = archive(file("a.tf", "x"))
    const preamble = encodePreamble([]).length
    const content = preamble + 512
    for (let at = 0; at < small.length; at += 1) {
      if (at === content) continue
      const changed = Buffer.from(small)
      changed[at] = (changed[at] ?? 0) ^ 1
      const result = index(changed)
      // A changed archive is accepted only if the change affects a file's name or size consistently. Its digest then differs.
      if (Result.isSuccess(result)) expect(result.success.sha256).not.toBe(Result.getOrThrow(index(small)).sha256)
    }
  })

  for (const [name, entry] of [
    ["a traversal", file("../x")],
    ["a traversal inside", file("a/../../x")],
    ["an absolute path", file("/etc/passwd")],
    ["an empty segment", file("a//b")],
    ["a dot segment", file("./a")],
    [".git", file(".git/config")],
    ["a backslash", file("a\\b")],
    ["a link", raw({ path: "a", type: "SymbolicLink", linkpath: "/etc" })],
    ["a hard link", raw({ path: "a", type: "Link", linkpath: "b" })],
    ["a folder", raw({ path: "a/", type: "Directory", mode: 0o755 })],
    ["a fifo", raw({ path: "a", type: "FIFO" })],
    ["a device", raw({ path: "a", type: "CharacterDevice" })],
    ["a file of the old kind", raw({ path: "a", type: "OldFile" })],
    ["a setuid file", raw({ path: "a", type: "File", mode: 0o4755 })],
    ["a group-writable file", raw({ path: "a", type: "File", mode: 0o664 })],
    ["another time", raw({ path: "a", type: "File", mtime: new Date(1000) })],
    ["another owner", raw({ path: "a", type: "File", uid: 1 })],
    ["a needless extended header", Buffer.concat([new Pax({ path: "a", mtime: new Date(0) }).encode(), file("a")])],
    ["an extended header with a link path", Buffer.concat([new Pax({ path: "a", linkpath: "b" }).encode(), file("a")])],
    ["a second global header", encodePreamble([])],
    ["the same file twice", Buffer.concat([file("a"), file("a")])],
    ["files out of order", Buffer.concat([file("b"), file("a")])],
    ["files that differ by case", Buffer.concat([file("A"), file("a")])],
    ["a file that is also a folder", Buffer.concat([file("a"), file("a/b")])]
  ] as const)
    test(`reading an archive fails with ${name}`, () => expect(Result.isFailure(index(archive(entry)))).toBe(true))

  test("reading fails for an archive that lacks a preamble or an end, is truncated, or has trailing data", () => {
    const whole = archive(file("a", "x"))
    expect(Result.isFailure(index(Buffer.concat([file("a"), archiveEnd])))).toBe(true)
    for (const cut of [1, 512, 1024, 1500])
      expect(Result.isFailure(index(whole.subarray(0, whole.length - cut)))).toBe(true)
    expect(Result.isFailure(index(Buffer.concat([whole, Buffer.alloc(512)])))).toBe(true)
    expect(Result.isFailure(index(Buffer.concat([whole, Buffer.from("x")])))).toBe(true)
    expect(Result.isFailure(index(new Uint8Array()))).toBe(true)
  })

  test("an archive keeps the list of omitted entries", () => {
    const omitted = [
      { path: "link \u00e4\n", kind: "symlink" as const, mode: "120000", oid: "1".repeat(40) },
      { path: "sub", kind: "submodule" as const, mode: "160000", oid: "2".repeat(40) }
    ]
    expect(Result.getOrThrow(index(Buffer.concat([encodePreamble(omitted), archiveEnd]))).omitted).toEqual(omitted)
  })
})

describe("archive file", () => {
  it.live("other programs can read an archive as an ordinary compressed tar", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const path = `${folder}/a.tar.zst`
      const large = Buffer.alloc(2_500_000, "0123456789")
      yield* Effect.scoped(
        Effect.gen(function* () {
          const writer = yield* makeArchiveWriter(path, [])
          yield* writer.add({ path: `${"long/".repeat(60)}large.bin`, executable: false }, large)
          yield* writer.add({ path: "run.sh", executable: true }, Buffer.from("#!/bin/sh\n"))
          yield* writer.finish
        })
      )
      const plain = Bun.zstdDecompressSync(fs.readFileSync(path))
      fs.writeFileSync(`${folder}/a.tar`, plain)
      fs.mkdirSync(`${folder}/out`)
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const code = yield* spawner.exitCode(ChildProcess.make("tar", ["-xf", `${folder}/a.tar`, "-C", `${folder}/out`]))
      expect(Number(code)).toBe(0)
      expect(fs.readFileSync(`${folder}/out/${"long/".repeat(60)}large.bin`).equals(large)).toBe(true)
      expect(fs.statSync(`${folder}/out/run.sh`).mode & 0o777).toBe(0o755)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
