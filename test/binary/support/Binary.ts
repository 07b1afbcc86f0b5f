import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

/** The build, or what a test stands on, went wrong. */
class BinaryUnavailable extends Schema.TaggedError<BinaryUnavailable>()("BinaryUnavailable", {
  message: Schema.String
}) {}

const collect = Effect.fnUntraced(function* (command: ChildProcess.Command) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(command)
  const text = (stream: typeof handle.stdout) => Stream.mkString(Stream.decodeText(stream))
  const [stdout, stderr, code] = yield* Effect.all([text(handle.stdout), text(handle.stderr), handle.exitCode], {
    concurrency: 3
  })
  return { stdout, stderr, code: Number(code) }
}, Effect.scoped)

// Each of these would take over a program that reads the folder it is started in.
const hostileFiles: Readonly<Record<string, string>> = {
  ".env": "SVC_DATA_DIR=from-dotenv\nSVC_LISTEN=127.0.0.1:1\nSVC_NAME=from-dotenv\nSVC_LOG=nonsense\n",
  ".env.production": "SVC_NAME=from-dotenv\n",
  "bunfig.toml": 'preload = ["./preload.ts"]\n',
  "preload.ts": 'await Bun.write("preloaded", "yes")\n',
  "package.json": '{ "name": "hostile", "imports": { "#*": "./preload.ts" } }\n',
  "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./preload.ts"] } } }\n',
  "node_modules/effect/index.js": 'require("node:fs").writeFileSync("preloaded", "yes")\n',
  "node_modules/effect/package.json": '{ "name": "effect", "main": "index.js" }\n'
}

const make = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const built = yield* collect(
    ChildProcess.make(process.execPath, ["scripts/build.ts"], { cwd: repository, extendEnv: true })
  )
  if (built.code !== 0) return yield* new BinaryUnavailable({ message: built.stderr + built.stdout })
  const installed = yield* files.makeTempDirectoryScoped({ prefix: "svc-installed-" })
  const program = path.join(installed, "svc")
  yield* files.copyFile(path.join(repository, "dist/svc"), program)
  yield* files.chmod(program, 0o755)

  // Bun writes paths of the building machine into bundles: only where these are gone does a test see that none is used.
  const hide = ["--dev-bind", "/", "/", "--tmpfs", repository, "--die-with-parent"]
  const masked = yield* collect(ChildProcess.make("bwrap", [...hide, "ls", repository])).pipe(
    Effect.map(({ code, stdout }) => code === 0 && stdout === ""),
    Effect.orElseSucceed(() => false)
  )
  if (!masked && process.env["SVC_TEST_REQUIRE_ALL"] === "1")
    return yield* new BinaryUnavailable({ message: "bubblewrap cannot hide the repository on this machine" })

  /** A folder of somebody else's, where everything tries to steer the binary. */
  const foreignFolder = Effect.gen(function* () {
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-foreign-" })
    for (const [name, content] of Object.entries(hostileFiles)) {
      yield* files.makeDirectory(path.dirname(path.join(folder, name)), { recursive: true })
      yield* files.writeFileString(path.join(folder, name), content)
    }
    return folder
  })

  /** The process of the service itself: bubblewrap stays its parent, and passes no signal on. */
  const processOf = Effect.fnUntraced(function* (pid: number) {
    if (!masked) return pid
    const children = yield* files.readFileString(`/proc/${pid}/task/${pid}/children`)
    return Number(children.trim().split(" ")[0])
  })

  const command = (folder: string, args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}) => {
    const options = {
      cwd: folder,
      extendEnv: false,
      env: { PATH: process.env["PATH"] ?? "", HOME: folder, ...env }
    }
    return masked
      ? ChildProcess.make("bwrap", [...hide, program, ...args], options)
      : ChildProcess.make(program, args, options)
  }

  return {
    program,
    foreignFolder,
    command,
    processOf,
    run: (folder: string, ...args: ReadonlyArray<string>) => collect(command(folder, args)),
    /** Whether code of the foreign folder ran. */
    wasSteered: (folder: string) =>
      Effect.gen(function* () {
        return (
          (yield* files.exists(path.join(folder, "preloaded"))) ||
          (yield* files.exists(path.join(folder, "from-dotenv")))
        )
      })
  }
})

/** The binary, built once, copied to a folder of its own, with the repository and its node_modules out of sight. */
export class Binary extends Context.Service<Binary, Effect.Success<typeof make>>()("test/binary/Binary") {
  static readonly layer = Layer.provideMerge(Layer.effect(Binary, make), NodeServices.layer)
}
