// `npm run terminal-picture` performs the main job in the terminal against a real server, and draws the output for the
// README: docs/pictures/terminal.svg.
import { NodeRuntime, NodeServices } from "@effect/platform-node"
import { Console, Effect, FileSystem, Option, Path, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { terminalPicture, type TerminalStep } from "./TerminalPicture.ts"

class PictureFailed extends Schema.TaggedError<PictureFailed>()("PictureFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const Ready = Schema.fromJsonString(Schema.Struct({ url: Schema.String }))
const Token = Schema.fromJsonString(Schema.Struct({ token: Schema.String }))
const Runs = Schema.fromJsonString(
  Schema.Struct({ run: Schema.Struct({ planDigest: Schema.optionalKey(Schema.String) }) })
)

const program = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const root = path.resolve(yield* path.fromFileUrl(new URL("..", import.meta.url)))
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-terminal-picture-" })
  const main = path.join(root, "src/Main.ts")
  const origin = "https://svc.example.com"
  const settings = { HOME: folder, SVC_DATA_DIR: path.join(folder, "data"), SVC_BASE_URL: origin }
  const svc = (args: ReadonlyArray<string>, env: Readonly<Record<string, string>> = {}, input = "") =>
    ChildProcess.make(process.execPath, [main, ...args], {
      cwd: folder,
      env: { ...settings, ...env },
      extendEnv: true,
      stdin: Stream.encodeText(Stream.make(input)),
      stderr: "inherit"
    })
  const server = yield* spawner.spawn(svc(["serve", "--json", "--log", "error", "--listen", "127.0.0.1:0"]))
  const line = yield* Stream.decodeText(server.stdout).pipe(Stream.splitLines, Stream.runHead)
  const { url } = yield* Schema.decodeEffect(Ready)(Option.getOrElse(line, () => ""))
  const account = ["--email", "you@example.com", "--password-stdin"]
  yield* spawner.string(svc(["admin", "create-user", ...account], {}, "a long password of yours\n"))
  const names = ["--subject", "you@example.com", "--name", "picture", "--scopes", "read,write", "--json"]
  const created = yield* spawner.string(svc(["admin", "create-token", ...names]))
  const { token } = yield* Schema.decodeEffect(Token)(created)
  const person = { SVC_URL: url, SVC_TOKEN: token }
  const steps: Array<TerminalStep> = []
  /** Runs a command as if a person had typed it. A plan that waits for approval exits with 3. */
  const type = Effect.fnUntraced(function* (command: string) {
    const handle = yield* spawner.spawn(svc(command.split(" ").slice(1), person))
    const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.stdout)), handle.exitCode], {
      concurrency: 2
    })
    if (![0, 3].includes(Number(code))) return yield* new PictureFailed({ message: `${command} failed: ${output}` })
    steps.push({ command, output })
  }, Effect.scoped)
  yield* type(`svc install ${origin}/samples/hello.git --name hello`)
  const plan = yield* spawner.string(svc(["run", "get", "hello", "--json"], person))
  const { run } = yield* Schema.decodeEffect(Runs)(plan)
  yield* type(`svc approve hello --digest ${run.planDigest}`)
  yield* type("svc apply hello")
  yield* type("svc capsule outputs hello")
  const target = path.join(root, "docs/pictures/terminal.svg")
  yield* files.writeFileString(target, terminalPicture(steps))
  yield* Console.log(path.relative(root, target))
}).pipe(Effect.scoped)

NodeRuntime.runMain(program.pipe(Effect.provide(NodeServices.layer)))
