import { afterAll, describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem } from "effect"
import { verifySignature } from "../../../runner/toolchain/ReleaseSignature.ts"
import { digestOf } from "../../../runner/toolchain/ReleaseSums.ts"
import { it, suite } from "../../support/Effect.ts"

const tests = suite(NodeServices.layer)
afterAll(tests.dispose)

/** Created with GnuPG: an RSA key that certifies, its signing subkey, and `gpg --detach-sign`. */
const fixture = (name: string) =>
  Effect.flatMap(FileSystem.FileSystem, (fileSystem) =>
    fileSystem.readFile(new URL(`./gpg/${name}`, import.meta.url).pathname)
  )
const sumsFile = "tofu_1.9.2_SHA256SUMS"

describe("verifySignature", () => {
  tests.live("the release check accepts GnuPG's signatures, with the key as text or bytes", () =>
    Effect.gen(function* () {
      const sums = yield* fixture(sumsFile)
      const signature = yield* fixture(`${sumsFile}.gpgsig`)
      for (const key of [yield* fixture("key.asc"), yield* fixture("key.gpg")]) {
        expect(yield* verifySignature(sums, signature, { material: key, fingerprint: undefined })).toBe(
          "321E176661DBB8644DA2D73EEB33A965C7C4DA58"
        )
      }
    })
  )

  tests.live("the release check rejects a signature after a single byte has changed", () =>
    Effect.gen(function* () {
      const sums = yield* fixture(sumsFile)
      const signature = yield* fixture(`${sumsFile}.gpgsig`)
      const key = yield* fixture("key.asc")
      const changed = Uint8Array.from(sums)
      changed[0] = changed[0] === 0x30 ? 0x31 : 0x30
      const error = yield* Effect.flip(verifySignature(changed, signature, { material: key, fingerprint: undefined }))
      expect(error.reason).toBe("signature")
    })
  )
})

describe("digestOf", () => {
  const digest = (character: string) => character.repeat(64)
  const read = (text: string) => digestOf(new TextEncoder().encode(text), "tofu.tar.gz")

  it.effect("the release check finds a digest by the exact file name", () =>
    Effect.gen(function* () {
      const text = `${digest("a")}  tofu.tar.gz.sbom\n${digest("b")}  tofu.tar.gz\n${digest("c")}  x-tofu.tar.gz\n`
      expect(yield* read(text)).toBe(digest("b"))
      expect(yield* read(`${digest("b")} *tofu.tar.gz`)).toBe(digest("b"))
    })
  )

  it.effect("the release check rejects a missing, ambiguous or malformed digest entry", () =>
    Effect.gen(function* () {
      for (const text of [
        "",
        `${digest("a")}  other\n`,
        `${digest("a")}  tofu.tar.gz\n${digest("b")}  tofu.tar.gz\n`,
        `${digest("a")}  tofu.tar.gz\nnot a line\n`,
        `${digest("A")}  tofu.tar.gz\n`
      ]) {
        expect((yield* Effect.flip(read(text))).reason).toBe("checksum")
      }
    })
  )
})
