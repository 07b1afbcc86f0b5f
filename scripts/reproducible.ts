// `npm run reproducible` builds every artefact of the committed version twice, in two clones with different names and at
// different times, and compares the bytes. If an artefact differs, the script prints the different bytes and exits with 1.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FileSystem, Option, Path, Runtime, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { platform } from "../src/composition/Platform.ts"
import { version } from "../src/Version.ts"
import { byteDifferences } from "./ByteDifferences.ts"

/** The error when the artefacts differ or cannot be compared. */
class NotReproducible extends Schema.TaggedError<NotReproducible>()("NotReproducible", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const run = Effect.fnUntraced(function* (cwd: string, program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd, extendEnv: true, stdin: "ignore" }))
  const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  if (Number(code) === 0) return
  return yield* new NotReproducible({
    message: `${[program, ...args].join(" ")} failed in ${cwd}:\n${output.slice(-4000)}`
  })
}, Effect.scoped)

interface Options {
  readonly withImages: boolean
  /** Further arguments of the script that makes an image. */
  readonly source: ReadonlyArray<string>
  /** Make only the binary of this machine, its package, the chart and the npm packages. */
  readonly isNative: boolean
}

/** Makes the artefacts of this machine in a clone. */
const madeHere = Effect.fnUntraced(function* (clone: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const out = path.join(clone, "dist/release")
  const script = (name: string, ...args: ReadonlyArray<string>) =>
    run(clone, process.execPath, `scripts/${name}.ts`, ...args)
  yield* script("build", "--out", "dist/release")
  yield* script("deb", "--binary", "dist/release/svc", "--out", "dist/release")
  yield* script("chart", "--out", "dist/release")
  yield* script("packages")
  for (const name of yield* files.readDirectory(path.join(clone, "dist/packages"))) {
    yield* run(clone, "npm", "pack", path.join(clone, "dist/packages", name), "--pack-destination", out, "--silent")
  }
  for (const name of yield* files.readDirectory(out)) {
    if (name.endsWith(".map")) yield* files.remove(path.join(out, name))
  }
})

const platformsOfImages = ["linux-x64", "linux-arm64"] as const
const emulators = { "linux-x64": "qemu-x86_64", "linux-arm64": "qemu-aarch64" }

/** Returns whether this machine can make the image: programs of another architecture need an emulator. */
const canMakeImage = Effect.fnUntraced(function* (target: (typeof platformsOfImages)[number]) {
  const files = yield* FileSystem.FileSystem
  return target === `linux-${process.arch}` || (yield* files.exists(`/proc/sys/fs/binfmt_misc/${emulators[target]}`))
})

/** Makes the images of a clone whose programs have been built. */
const imagesMade = Effect.fnUntraced(function* (clone: string, { isNative, source }: Options) {
  for (const target of platformsOfImages) {
    if ((isNative && target !== `linux-${process.arch}`) || !(yield* canMakeImage(target))) continue
    const binary = isNative ? "dist/release/svc" : `dist/release/svc-${target}`
    const args = ["--target", target, "--binary", binary, "--out", "dist/release", ...source]
    yield* run(clone, process.execPath, "scripts/image.ts", ...args)
  }
})

/**
 * Makes the artefacts in a new clone, and returns their folder. The modules are copied as well, so that their paths differ.
 */
const made = Effect.fnUntraced(function* (root: string, prefix: string, options: Options) {
  const { isNative, withImages } = options
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const clone = path.join(yield* files.makeTempDirectoryScoped({ prefix }), "svc")
  yield* run(root, "git", "clone", "--quiet", "--no-hardlinks", root, clone)
  const modules = yield* files.realPath(path.join(root, "node_modules"))
  yield* run(root, "cp", "--archive", modules, path.join(clone, "node_modules"))
  // The documentation generator has separate packages. The clone installs them if they are missing.
  const generator = path.join(root, "site/node_modules")
  if (yield* files.exists(generator)) {
    yield* run(root, "cp", "--archive", yield* files.realPath(generator), path.join(clone, "site/node_modules"))
  }
  // Reuse Bun's runtimes for the other platforms. Their digests are pinned, so a second download would prove nothing.
  const runtimes = path.join(root, "dist/runtimes")
  if (yield* files.exists(runtimes)) yield* files.copy(runtimes, path.join(clone, "dist/runtimes"))
  if (isNative) yield* madeHere(clone)
  else yield* run(clone, process.execPath, "scripts/release.ts", "--draft")
  if (withImages) yield* imagesMade(clone, options)
  if (!isNative && !(yield* files.exists(runtimes))) yield* files.copy(path.join(clone, "dist/runtimes"), runtimes)
  return path.join(clone, "dist/release")
})

const compare = Effect.fn("reproducible")(function* (options: Options) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const one = yield* made(root, "svc-", options)
  const other = yield* made(root, "another-folder-of-the-same-commit-", options)
  const names = new Set([...(yield* files.readDirectory(one)), ...(yield* files.readDirectory(other))])
  const different: Array<string> = []
  for (const name of [...names].toSorted()) {
    // Skip the list of digests, which differs if and only if one of the listed files differs.
    if (name === "SHA256SUMS") continue
    const [left, right] = yield* Effect.all([
      files.readFile(path.join(one, name)),
      files.readFile(path.join(other, name))
    ])
    const ranges = byteDifferences(left, right)
    yield* Console.log(`${ranges.length === 0 ? "same      " : "different "} ${name}`)
    if (ranges.length === 0) continue
    different.push(name)
    for (const { length, offset, texts } of ranges.slice(0, 8)) {
      yield* Console.log(`            ${length} bytes at ${offset}: ${texts[0]} | ${texts[1]}`)
    }
    if (ranges.length > 8) yield* Console.log(`            and ${ranges.length - 8} more ranges`)
  }
  if (options.withImages) {
    for (const target of platformsOfImages) {
      if (yield* canMakeImage(target)) continue
      yield* Console.log(`not compared: the image of ${target}, because ${emulators[target]} is not installed`)
    }
  }
  if (different.length > 0) {
    return yield* new NotReproducible({ message: `Two builds differ in ${different.join(", ")}.` })
  }
  yield* Console.log(`Two builds of svc ${version} have the same bytes.`)
}, Effect.scoped)

const command = Command.make(
  "reproducible",
  {
    images: Flag.Boolean("images").pipe(
      Flag.withDescription("Also compare the OCI images; needs Debian's mmdebstrap, and qemu-user for the other one"),
      Flag.withDefault(false)
    ),
    suite: Flag.String("suite").pipe(Flag.withDescription("Debian release of the images"), Flag.optional),
    mirror: Flag.String("mirror").pipe(Flag.withDescription("Debian mirror of the images"), Flag.optional),
    native: Flag.Boolean("native").pipe(
      Flag.withDescription("Compare only the binary of this machine, its package, the chart and the npm packages"),
      Flag.withDefault(false)
    )
  },
  ({ images, mirror, native, suite }) =>
    compare({
      isNative: native,
      withImages: images,
      source: [
        ...Option.match(suite, { onNone: () => [], onSome: (name) => ["--suite", name] }),
        ...Option.match(mirror, { onNone: () => [], onSome: (url) => ["--mirror", url] })
      ]
    })
).pipe(Command.withDescription("Make every artefact twice in different folders, and compare the bytes"))

NodeRuntime.runMain(Command.run(command, { version }).pipe(Effect.provide(platform)))
