import { expect } from "bun:test"
import { Effect, Exit, FileSystem, Stream } from "effect"
import { gunzipSync } from "node:zlib"
import { list } from "tar"
import { type PlainFile, tarGz } from "../../../runner/snapshot/PlainArchive.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { temporaryFolder } from "../../support/ControlPlane.ts"
import { it } from "../../support/Effect.ts"

const at = new Date("2030-01-02T03:04:05.000Z")
const file = (path: string, text = path, mode: PlainFile["mode"] = 0o644): PlainFile => ({
  path,
  mode,
  bytes: new TextEncoder().encode(text)
})

const written = (...files: ReadonlyArray<PlainFile>) => Stream.runCollect(tarGz(Stream.fromIterable(files), at))

it.live("any tar program can read an archive's files, with their modes, long names and sizes", () =>
  Effect.gen(function* () {
    const long = `${"folder/".repeat(30)}${"n".repeat(90)}.txt`
    const chunks = yield* written(
      file("secret", "s", 0o600),
      file("run.sh", "#!/bin/sh", 0o755),
      file("empty", ""),
      file(long),
      file("日本 語/ü.txt", "x".repeat(3_000_000))
    )
    const folder = yield* temporaryFolder
    const path = `${folder}/it.tar.gz`
    yield* (yield* FileSystem.FileSystem).writeFile(path, Buffer.concat(chunks))
    const found: Array<unknown> = []
    yield* Effect.promise(() =>
      Promise.resolve(
        list({
          file: path,
          onReadEntry: ({ mode, mtime, path, size, type }) => found.push([path, mode, size, type, mtime])
        })
      )
    )
    expect(found).toEqual([
      ["secret", 0o600, 1, "File", at],
      ["run.sh", 0o755, 9, "File", at],
      ["empty", 0o644, 0, "File", at],
      [long, 0o644, long.length, "File", at],
      ["日本 語/ü.txt", 0o644, 3_000_000, "File", at]
    ])
  }).pipe(Effect.provide(platform))
)

it.live("an archive is streamed, so each part is written without waiting for the rest", () =>
  Effect.gen(function* () {
    let given = 0
    const noise = Stream.range(1, 40).pipe(
      Stream.mapEffect((index) =>
        Effect.sync((): PlainFile => {
          given += 1
          return { path: `${index}`, mode: 0o644, bytes: crypto.getRandomValues(new Uint8Array(60_000)) }
        })
      )
    )
    const first = yield* tarGz(noise, at).pipe(Stream.take(3), Stream.runCollect)
    expect(first).toHaveLength(3)
    expect(given).toBeLessThan(40)
    expect(() => gunzipSync(Buffer.concat(first))).toThrow()
  })
)

it.live("unpacking an archive writes no file outside the folder", () =>
  Effect.gen(function* () {
    for (const path of ["../up", "/etc/passwd", "a/../../b", "a//b", "", "C:/x", "a\\b", "a\nb", "."]) {
      expect(Exit.isFailure(yield* Effect.exit(written(file(path))))).toBe(true)
    }
  })
)
