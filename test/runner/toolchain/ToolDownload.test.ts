import { afterAll, describe, expect } from "bun:test"
import { NodeServices } from "@effect/platform-node"
import { Effect, FileSystem, Layer, Logger, Option, Path } from "effect"
import { FetchHttpClient } from "effect/http"
import { Toolchain } from "../../../runner/toolchain/Toolchain.ts"
import type { DownloadSettings } from "../../../runner/toolchain/ToolchainSettings.ts"
import { suite } from "../../support/Effect.ts"
import { platform, release, releaseMirror, signingKey, toolScript } from "./ReleaseFixture.ts"

const tests = suite(Layer.mergeAll(NodeServices.layer, FetchHttpClient.layer))
afterAll(tests.dispose)

const version = "1.9.2"

const setUp = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const key = yield* signingKey("release")
  const mirror = yield* releaseMirror
  const root = yield* fileSystem.makeTempDirectoryScoped({ prefix: "managed-" })
  const tools = path.join(root, "tools")
  const messages: Array<unknown> = []
  const logger = Logger.layer([Logger.make(({ message }) => messages.push(message))])
  /** Resolves the tool as a newly started service would. */
  const resolve = (change: Partial<DownloadSettings> = {}, searchPath = "") => {
    const officialKey = { url: new URL("http://127.0.0.1:1/none"), fingerprint: "0".repeat(40) }
    const trusted = { trustedKey: Option.some(key.trusted), officialKey, archiveSha256: Option.none() }
    const download = { mirror: mirror.url, version, ...trusted }
    const settings = { tool: Option.none(), searchPath, download: Option.some({ ...download, ...change }) }
    return Effect.gen(function* () {
      const toolchain = yield* Toolchain
      return yield* toolchain.resolve()
    }).pipe(Effect.provide(Layer.merge(Toolchain.layer(settings, tools), logger)))
  }
  const leftOvers = Effect.gen(function* () {
    return (yield* fileSystem.exists(tools)) ? yield* fileSystem.readDirectory(tools) : []
  })
  return { key, mirror, root, tools, messages, resolve, leftOvers }
})

describe("managed download", () => {
  tests.live("a managed download is fetched once, verified, stored by digest and reported", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { key, mirror, tools, messages, resolve } = yield* setUp
      const published = yield* release(version, key.secret)
      mirror.publish(version, published)
      const tool = yield* resolve()
      const executable = toolScript("OpenTofu", version)
      const digest = new Bun.CryptoHasher("sha256").update(executable).digest("hex")
      expect(tool).toEqual({
        name: "opentofu",
        version,
        path: `${tools}/opentofu/${version}/${platform}/${digest}/tofu`,
        origin: "managed"
      })
      expect(messages.flat()).toContain(`Downloaded OpenTofu ${version} and verified it`)
      const receipt: unknown = JSON.parse(yield* fileSystem.readFileString(tool.path.replace(/tofu$/, "receipt.json")))
      expect(receipt).toMatchObject({
        version,
        archiveSha256: published.sha256,
        executableSha256: digest,
        keyFingerprint: expect.stringMatching(/^[0-9A-F]{40,64}$/)
      })
      expect(mirror.requests()).toBe(3)
      expect(yield* resolve()).toEqual(tool)
      expect(mirror.requests()).toBe(3)
      expect(yield* fileSystem.readDirectory(tools)).toEqual(["opentofu"])
    })
  )

  tests.live("a managed download accepts the key as a file, or a digest instead of a key", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { key, mirror, root, tools, resolve } = yield* setUp
      const published = yield* release(version, key.secret)
      mirror.publish(version, published)
      yield* fileSystem.writeFileString(`${root}/key.asc`, key.trusted)
      expect((yield* resolve({ trustedKey: Option.some(`${root}/key.asc`) })).version).toBe(version)
      yield* fileSystem.remove(tools, { recursive: true })
      const byDigest = { trustedKey: Option.none(), archiveSha256: Option.some(published.sha256) }
      expect((yield* resolve(byDigest)).version).toBe(version)
      yield* fileSystem.remove(tools, { recursive: true })
      const both = yield* Effect.flip(resolve({ archiveSha256: Option.some("0".repeat(64)) }))
      expect(both).toMatchObject({ reason: "checksum" })
    })
  )

  tests.live("without a configured key, a managed download trusts the project's own key by its fingerprint", () =>
    Effect.gen(function* () {
      const { key, leftOvers, mirror, resolve } = yield* setUp
      const stranger = yield* signingKey("stranger")
      const url = new URL(`${mirror.url.href}/opentofu.asc`)
      const { fingerprint } = key
      const unset = { trustedKey: Option.none(), officialKey: { url, fingerprint } }
      mirror.publish(version, yield* release(version, stranger.secret))
      expect(yield* Effect.flip(resolve(unset))).toMatchObject({ reason: "unreachable" })
      // A compromised mirror serves a key of its choice and releases signed with that key.
      mirror.publishKey(stranger.trusted)
      const swapped = yield* Effect.flip(resolve(unset))
      expect(swapped).toMatchObject({ reason: "key", message: expect.stringContaining(fingerprint) })
      mirror.publishKey(`${key.trusted}\n${stranger.trusted}`)
      expect(yield* Effect.flip(resolve(unset))).toMatchObject({ reason: "signature" })
      expect(yield* leftOvers).toEqual([])
      mirror.publish(version, yield* release(version, key.secret))
      expect((yield* resolve(unset)).origin).toBe("managed")
    })
  )

  tests.live("a managed download rejects an unreadable key", () =>
    Effect.gen(function* () {
      const { mirror, root, resolve } = yield* setUp
      yield* Effect.flatMap(FileSystem.FileSystem, (files) => files.writeFileString(`${root}/no-key`, "nonsense"))
      const unreadable = [`${root}/none`, `${root}/no-key`, "-----BEGIN PGP PUBLIC KEY BLOCK-----\nnonsense"]
      mirror.publish(version, { archive: new Uint8Array(), sums: new Uint8Array(), signature: new Uint8Array() })
      for (const trustedKey of unreadable) {
        const error = yield* Effect.flip(resolve({ trustedKey: Option.some(trustedKey) }))
        expect(error).toMatchObject({ _tag: "ToolDownloadFailed", reason: "key" })
      }
    })
  )

  tests.live("a managed download that is tampered with, truncated or wrongly signed is rejected and deleted", () =>
    Effect.gen(function* () {
      const { key, mirror, resolve, leftOvers } = yield* setUp
      const good = yield* release(version, key.secret)
      const stranger = yield* signingKey("stranger")
      const forged = yield* release(version, stranger.secret, { contains: version })
      const flipped = Uint8Array.from(good.archive)
      flipped[flipped.length - 10] = (flipped[flipped.length - 10] ?? 0) ^ 1
      const otherSums = new TextEncoder().encode(`${"1".repeat(64)}  tofu_${version}_${platform}.tar.gz\n`)
      const cases = [
        ["checksum", { ...good, archive: flipped }],
        ["checksum", { ...good, archive: good.archive.slice(0, -20) }],
        ["checksum", { ...good, archive: new Uint8Array() }],
        ["signature", { ...good, sums: otherSums }],
        ["signature", { ...good, signature: forged.signature }],
        ["signature", { ...good, signature: new Uint8Array() }],
        ["signature", { ...good, signature: good.signature.slice(0, -5) }],
        ["signature", forged]
      ] as const
      for (const [reason, published] of cases) {
        mirror.publish(version, published)
        const error = yield* Effect.flip(resolve())
        expect(error).toMatchObject({ _tag: "ToolDownloadFailed", reason })
        expect(yield* leftOvers).toEqual([])
      }
    })
  )

  tests.live("a managed download rejects an older release that is served as the requested release", () =>
    Effect.gen(function* () {
      const { key, mirror, resolve, leftOvers } = yield* setUp
      mirror.publish(version, yield* release("1.8.0", key.secret))
      expect(yield* Effect.flip(resolve())).toMatchObject({ reason: "checksum" })
      mirror.publish(version, yield* release(version, key.secret, { contains: "1.8.0" }))
      expect(yield* Effect.flip(resolve())).toMatchObject({ reason: "downgrade" })
      mirror.publish("1.5.0", yield* release("1.5.0", key.secret))
      expect(yield* Effect.flip(resolve({ version: "1.5.0" }))).toMatchObject({ reason: "downgrade" })
      expect(yield* leftOvers).toEqual([])
    })
  )

  tests.live(
    "a managed download never replaces a tool with an older version, and upgrades once the required version is available",
    () =>
      Effect.gen(function* () {
        const { key, mirror, messages, resolve } = yield* setUp
        mirror.publish(version, yield* release(version, key.secret))
        expect((yield* resolve()).version).toBe(version)
        mirror.publish("1.8.0", yield* release("1.8.0", key.secret))
        expect((yield* resolve({ version: "1.8.0" })).version).toBe(version)
        expect((yield* resolve({ version: "1.10.0" })).version).toBe(version)
        expect(messages.flat().join("\n")).toContain(`Staying with OpenTofu ${version}`)
        mirror.publish("1.10.0", yield* release("1.10.0", key.secret))
        expect((yield* resolve({ version: "1.10.0" })).version).toBe("1.10.0")
        expect((yield* resolve()).version).toBe("1.10.0")
      })
  )

  tests.live("a managed download rejects a link as the executable, and abandons an unresponsive mirror", () =>
    Effect.gen(function* () {
      const { key, mirror, resolve, leftOvers } = yield* setUp
      expect(yield* Effect.flip(resolve())).toMatchObject({
        reason: "unreachable",
        message: expect.stringContaining("404")
      })
      mirror.publish(version, yield* release(version, key.secret, { link: "/bin/sh" }))
      expect(yield* Effect.flip(resolve())).toMatchObject({ reason: "archive" })
      const gone = new URL("http://127.0.0.1:1/mirror")
      expect(yield* Effect.flip(resolve({ mirror: gone }))).toMatchObject({ reason: "unreachable" })
      expect(yield* leftOvers).toEqual([])
    })
  )

  tests.live("svc does not run a managed tool that has been changed on disk", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { key, mirror, resolve } = yield* setUp
      mirror.publish(version, yield* release(version, key.secret))
      const tool = yield* resolve()
      yield* fileSystem.chmod(tool.path, 0o755)
      yield* fileSystem.writeFileString(tool.path, `${toolScript("OpenTofu", version)}# changed\n`)
      expect(yield* Effect.flip(resolve())).toMatchObject({ _tag: "ToolBroken", path: tool.path })
    })
  )

  tests.live("a tool on PATH prevents a download, but an already downloaded tool takes precedence", () =>
    Effect.gen(function* () {
      const fileSystem = yield* FileSystem.FileSystem
      const { key, mirror, root, resolve } = yield* setUp
      yield* fileSystem.writeFileString(`${root}/terraform`, toolScript("Terraform", "1.11.4"), { mode: 0o755 })
      mirror.publish(version, yield* release(version, key.secret))
      expect((yield* resolve({}, root)).name).toBe("terraform")
      expect(mirror.requests()).toBe(0)
      yield* resolve()
      expect((yield* resolve({}, root)).origin).toBe("managed")
    })
  )
})
