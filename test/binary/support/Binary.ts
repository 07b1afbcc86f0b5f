import { NodeServices } from "@effect/platform-node"
import { Context, Effect, FileSystem, Layer, Path, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { fileURLToPath } from "node:url"

const repository = fileURLToPath(new URL("../../..", import.meta.url))

/** Raised if the build failed, or if the test could not be prepared. */
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

// Files that a program would load accidentally if it read its working directory.
const hostileFiles: Readonly<Record<string, string>> = {
  ".env": "SVC_DATA_DIR=from-dotenv\nSVC_LISTEN=127.0.0.1:1\nSVC_NAME=from-dotenv\nSVC_LOG=nonsense\n",
  ".env.production": "SVC_NAME=from-dotenv\n",
  "bunfig.toml": 'preload = ["./preload.ts"]\n',
  "preload.ts": 'await Bun.write("preloaded", "yes")\n',
  // A user's Bun settings. The tests use this folder as the home directory.
  ".bunfig.toml": 'preload = ["./preload.ts"]\n',
  "package.json": '{ "name": "hostile", "imports": { "#*": "./preload.ts" } }\n',
  "tsconfig.json": '{ "compilerOptions": { "paths": { "*": ["./preload.ts"] } } }\n',
  "node_modules/effect/index.js": 'require("node:fs").writeFileSync("preloaded", "yes")\n',
  "node_modules/effect/package.json": '{ "name": "effect", "main": "index.js" }\n'
}

const systemFolders = ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/sys", "/run"]

const make = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const installed = yield* files.makeTempDirectoryScoped({ prefix: "svc-installed-" })
  const git = (...args: ReadonlyArray<string>) =>
    Effect.map(collect(ChildProcess.make("git", args, { cwd: repository, extendEnv: true })), ({ stdout }) =>
      stdout.trim()
    )
  const isChanged = (yield* git("status", "--porcelain")) !== ""
  const head = yield* git("rev-parse", "HEAD")
  const built = yield* collect(
    ChildProcess.make(process.execPath, ["scripts/build.ts", "--out", installed], { cwd: repository, extendEnv: true })
  )
  if (built.code !== 0) return yield* new BinaryUnavailable({ message: built.stderr + built.stdout })
  const program = path.join(installed, "svc")

  // Bun writes paths from the build machine into bundles. A test can detect that the binary uses such a path only if the
  // path does not exist. So the sandbox contains the binary, the system folders and the tool, but no repository, caches or
  // home directory.
  const tool = Bun.which("tofu") ?? Bun.which("terraform")
  const toolFolders = tool === null ? [] : [path.dirname(tool), path.dirname(yield* files.realPath(tool))]
  const seen = yield* Effect.filter([...systemFolders, ...toolFolders], (folder) => files.exists(folder))
  const hide = [
    ...seen.flatMap((folder) => ["--ro-bind", folder, folder]),
    ..."--dev-bind /dev /dev --bind /proc /proc --tmpfs /tmp --die-with-parent".split(" "),
    "--ro-bind",
    program,
    program
  ]
  const masked = yield* collect(ChildProcess.make("bwrap", [...hide, "ls", path.dirname(program)])).pipe(
    Effect.map(({ code, stdout }) => code === 0 && stdout === "svc\n"),
    Effect.orElseSucceed(() => false)
  )
  if (!masked && process.env["SVC_TEST_REQUIRE_ALL"] === "1")
    return yield* new BinaryUnavailable({ message: "bubblewrap cannot hide everything but the binary on this machine" })

  /** A folder that the product does not own, in which every file tries to take over the binary. */
  const foreignFolder = Effect.gen(function* () {
    const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-foreign-" })
    for (const [name, content] of Object.entries(hostileFiles)) {
      yield* files.makeDirectory(path.dirname(path.join(folder, name)), { recursive: true })
      yield* files.writeFileString(path.join(folder, name), content)
    }
    return folder
  })

  /** The service's process. Its parent is bubblewrap, which does not forward signals. */
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
      ? ChildProcess.make("bwrap", [...hide, "--bind", folder, folder, "--chdir", folder, program, ...args], options)
      : ChildProcess.make(program, args, options)
  }

  return {
    program,
    /** The checkout's commit, or none if the build contains uncommitted changes. */
    builtFrom: isChanged ? undefined : head,
    /** The build's output folder, which the binary cannot see. */
    installed,
    foreignFolder,
    command,
    processOf,
    run: (folder: string, ...args: ReadonlyArray<string>) => collect(command(folder, args)),
    /** Returns true if code from the hostile folder has run. */
    wasSteered: (folder: string) =>
      Effect.gen(function* () {
        return (
          (yield* files.exists(path.join(folder, "preloaded"))) ||
          (yield* files.exists(path.join(folder, "from-dotenv")))
        )
      })
  }
})

/**
 * Builds the binary once into a folder, and starts it in a sandbox that contains only the binary, the system folders and the
 * tool.
 */
export class Binary extends Context.Service<Binary, Effect.Success<typeof make>>()("test/binary/Binary") {
  static readonly layer = Layer.provideMerge(Layer.effect(Binary, make), NodeServices.layer)
}
