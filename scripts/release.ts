// `npm run release` makes every artefact of this version in dist/release, with SHA256SUMS: binaries, Debian packages, OCI
// images, npm packages, the chart and the bill of materials. The script publishes nothing; .github/workflows/release.yml
// publishes the artefacts.
import { NodeRuntime } from "@effect/platform-node"
import { Console, Effect, FileSystem, Path, Runtime, Schema, Stream } from "effect"
import { Command, Flag } from "effect/cli"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { platform } from "../src/composition/Platform.ts"
import { version } from "../src/Version.ts"
import { checksums, releaseHeading, releaseNotes } from "./ReleaseFiles.ts"
import { presentFacts, promiseChanges, snapshotFile } from "./VersionPromise.ts"

/** The error when the release cannot be made. */
class ReleaseFailed extends Schema.TaggedError<ReleaseFailed>()("ReleaseFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const run = Effect.fnUntraced(function* (root: string, program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd: root, extendEnv: true }))
  const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  const command = [program, ...args].join(" ")
  if (Number(code) !== 0) return yield* new ReleaseFailed({ message: `${command} failed:\n${output.slice(-4000)}` })
  yield* Console.log(`ok    ${command}`)
}, Effect.scoped)

/** Checks that the changelog has a heading for the release, and that the promises match their snapshots. */
const checkPromises = Effect.fn("release.checkPromises")(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const changelog = yield* files.readFileString(path.join(root, "CHANGELOG.md"))
  if (releaseNotes(changelog, version) === "") {
    return yield* new ReleaseFailed({
      message: `CHANGELOG.md has no part '${releaseHeading(version)}'. Move the unreleased part below it, or pass --draft.`
    })
  }
  for (const [name, facts] of Object.entries(yield* presentFacts)) {
    const [change] = promiseChanges(yield* files.readFileString(snapshotFile(name)), facts)
    if (change === undefined) continue
    return yield* new ReleaseFailed({
      message: `scripts/promised/${name}.tsv differs in '${change[0]}'. Run \`npm run promise\` and commit the result.`
    })
  }
})

const platformsOfPackages = ["linux-x64", "linux-arm64"] as const

interface Options {
  readonly isDraft: boolean
  readonly isPublic: boolean
  readonly withImages: boolean
}

const release = Effect.fn("release")(function* ({ isDraft, isPublic, withImages }: Options) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const out = path.join(root, "dist/release")
  if (!isDraft) yield* checkPromises(root)
  yield* files.remove(out, { recursive: true, force: true })
  yield* files.makeDirectory(out, { recursive: true })
  const script = (name: string, ...args: ReadonlyArray<string>) =>
    run(root, process.execPath, `scripts/${name}.ts`, ...args)
  yield* script("build", "--all", "--out", "dist/release")
  for (const target of platformsOfPackages) {
    const binary = ["--target", target, "--binary", `dist/release/svc-${target}`, "--out", "dist/release"]
    yield* script("deb", ...binary)
    if (withImages) yield* script("image", ...binary)
  }
  yield* script("chart", "--out", "dist/release")
  yield* script("packages")
  for (const name of yield* files.readDirectory(path.join(root, "dist/packages"))) {
    if (isPublic) yield* run(path.join(root, "dist/packages", name), "npm", "pkg", "delete", "private")
    yield* run(root, "npm", "pack", path.join(root, "dist/packages", name), "--pack-destination", out, "--silent")
  }
  // Source maps are for maintainers. Releases do not include them.
  const maps = path.join(root, "dist/release-maps")
  yield* files.remove(maps, { recursive: true, force: true })
  yield* files.makeDirectory(maps)
  for (const name of (yield* files.readDirectory(out)).filter((file) => file.endsWith(".map"))) {
    yield* files.rename(path.join(out, name), path.join(maps, name))
  }
  const changelog = yield* files.readFileString(path.join(root, "CHANGELOG.md"))
  yield* files.writeFileString(path.join(root, "dist/release-notes.md"), releaseNotes(changelog, version))
  yield* files.writeFileString(path.join(out, "SHA256SUMS"), yield* checksums(out))
  yield* Console.log(`dist/release holds svc ${version}.`)
})

const command = Command.make(
  "release",
  {
    draft: Flag.Boolean("draft").pipe(
      Flag.withDescription("Make the artefacts of a version that the changelog does not name yet"),
      Flag.withDefault(false)
    ),
    images: Flag.Boolean("images").pipe(
      Flag.withDescription(
        "Also make the OCI images; needs Debian's mmdebstrap, and qemu-user for the other architecture"
      ),
      Flag.withDefault(false)
    ),
    public: Flag.Boolean("public").pipe(
      Flag.withDescription("Leave out the mark that keeps npm from publishing the packages"),
      Flag.withDefault(false)
    )
  },
  (given) => release({ isDraft: given.draft, isPublic: given.public, withImages: given.images })
).pipe(Command.withDescription("Make every artefact of this version in dist/release"))

NodeRuntime.runMain(Command.run(command, { version }).pipe(Effect.provide(platform)))
