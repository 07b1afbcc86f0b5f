import { expect } from "bun:test"
import { gzipSync } from "node:zlib"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { Header } from "tar"
import { extractExecutable } from "../../../runner/toolchain/ReleaseArchive.ts"
import { it } from "../../support/Effect.ts"

const mebibyte = 1024 * 1024
const block = 512

/** Returns a member of a tar archive, followed by as many zeros as its declared size. */
const member = (path: string, size: number) => {
  const header = new Header({ path, size, mode: 0o755, type: "File" })
  const bytes = Buffer.alloc(block * (1 + Math.ceil(size / block)))
  header.encode(bytes)
  return bytes
}

const archiveOf = (...members: ReadonlyArray<Uint8Array>) =>
  gzipSync(Buffer.concat([...members, Buffer.alloc(2 * block)]))

const extracted = Effect.fnUntraced(function* (archive: Uint8Array, most?: number) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-test-" })
  yield* files.writeFile(`${folder}/release.tar.gz`, archive)
  yield* files.makeDirectory(`${folder}/content`)
  const found = yield* Effect.result(extractExecutable(`${folder}/release.tar.gz`, `${folder}/content`, "tofu", most))
  return { found, names: yield* files.readDirectory(`${folder}/content`) }
})

it.live("unpacking a release archive extracts only the executable", () =>
  Effect.gen(function* () {
    const { found, names } = yield* extracted(archiveOf(member("LICENSE", 1000), member("tofu", 5000)))
    expect([found._tag, names]).toEqual(["Success", ["tofu"]])
  }).pipe(Effect.provide(NodeServices.layer))
)

it.live("unpacking a release archive stops a decompression bomb at the limit, at any position", () =>
  Effect.gen(function* () {
    const bomb = member("LICENSE", 64 * mebibyte)
    for (const archive of [
      archiveOf(bomb, member("tofu", 5000)),
      archiveOf(member("tofu", 5000), bomb),
      archiveOf(member("tofu", 64 * mebibyte)),
      // Only zeros follow the end of the archive.
      gzipSync(Buffer.concat([member("tofu", 5000), Buffer.alloc(64 * mebibyte)]))
    ]) {
      expect(archive.length).toBeLessThan(mebibyte)
      const { found } = yield* extracted(archive, 8 * mebibyte)
      expect(found).toMatchObject({ failure: { message: expect.stringContaining("unpacks to more than") } })
    }
  }).pipe(Effect.provide(NodeServices.layer))
)

it.live("unpacking rejects a truncated release archive", () =>
  Effect.gen(function* () {
    const whole = archiveOf(member("tofu", 5 * mebibyte))
    const { found } = yield* extracted(whole.subarray(0, -10))
    expect(found).toMatchObject({ _tag: "Failure", failure: { reason: "archive" } })
  }).pipe(Effect.provide(NodeServices.layer))
)
