import { NodeServices } from "@effect/platform-node"
import { expect } from "bun:test"
import { Effect, FileSystem, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"
import { it } from "../support/Effect.ts"

const repository = fileURLToPath(new URL("../..", import.meta.url))

// Each platform downloads and writes more than a hundred megabytes.
const patience = 900_000

const elfMachines = new Map([
  [0x3e, "x64"],
  [0xb7, "arm64"]
])
const machOHeader = 0xfeedfacf
const machOArm64 = 0x0100000c
const codeSignatureCommand = 0x1d

/** The platform whose binaries this machine can execute. */
const platformOf = (bytes: Uint8Array) => {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (view.getUint32(0, true) === machOHeader) {
    let at = 32
    let isSigned = false
    for (let left = view.getUint32(16, true); left > 0; left--) {
      isSigned ||= view.getUint32(at, true) === codeSignatureCommand
      at += view.getUint32(at + 4, true)
    }
    // macOS on arm64 runs only signed binaries.
    return `darwin-${view.getUint32(4, true) === machOArm64 && isSigned ? "arm64" : "unknown"}`
  }
  const head = new TextDecoder("latin1").decode(bytes.subarray(0, 4096))
  const [, loader] = /\/lib(?:64)?\/ld-(linux|musl)-/.exec(head) ?? []
  return `linux-${elfMachines.get(view.getUint16(18, true))}${loader === "musl" ? "-musl" : ""}`
}

it.live(
  "a binary is built for each platform, with its checksum, and this machine's binary runs",
  () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
      const out = yield* files.makeTempDirectoryScoped({ prefix: "svc-targets-" })
      const build = yield* spawner.spawn(
        ChildProcess.make(process.execPath, ["scripts/build.ts", "--all", "--out", out], {
          cwd: repository,
          extendEnv: true
        })
      )
      const said = yield* Stream.mkString(Stream.decodeText(build.all))
      expect({ said, code: Number(yield* build.exitCode) }).toMatchObject({ code: 0 })

      const platforms = ["linux-x64", "linux-arm64", "linux-x64-musl", "linux-arm64-musl", "darwin-arm64"]
      const sums: Array<string> = []
      for (const platform of platforms) {
        const bytes = yield* files.readFile(`${out}/svc-${platform}`)
        expect(platformOf(bytes)).toBe(platform)
        sums.push(`${new Bun.CryptoHasher("sha256").update(bytes).digest("hex")}  svc-${platform}\n`)
      }
      expect(yield* files.readFileString(`${out}/SHA256SUMS`)).toBe(sums.join(""))

      const own = `${out}/svc-${process.platform}-${process.arch}`
      const version = yield* spawner.string(ChildProcess.make(own, ["version", "--json"], { cwd: out }))
      expect(JSON.parse(version)).toMatchObject({ name: "svc", runtime: `bun ${Bun.version}` })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
  patience
)
