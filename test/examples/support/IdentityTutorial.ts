import { createServer } from "node:net"
import { Effect, FileSystem } from "effect"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { compiledBinary } from "../../browser/support/ServerProcess.ts"

const root = new URL("../../..", import.meta.url).pathname
const example = `${root}examples/identity`

export const email = "mina@acme.example"
export const password = "correct horse battery staple"

const needed = ["bash", "curl", "jq", "openssl"].filter((program) => Bun.which(program) === null)

/** True if this machine meets the tutorial's requirements. */
export const canFollow = needed.length === 0 && (Bun.which("tofu") ?? Bun.which("terraform")) !== null

/** Returns the tutorial's commands, section by section. */
const commands = (tutorial: string): ReadonlyArray<string> =>
  [...tutorial.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block)

/** Finds a free port, before the test starts the tutorial's programs. */
const freePort = Effect.promise(
  () =>
    new Promise<number>((resolve) => {
      const server = createServer().listen(0, "127.0.0.1", () => {
        const address = server.address()
        server.close(() => resolve(typeof address === "object" ? (address?.port ?? 0) : 0))
      })
    })
)

/** Serves the tutorial's repository as a Git host would. */
const repository = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-tutorial-git-" })
  const gitdir = `${folder}/notes.git`
  yield* createRepository({ gitdir })
  const names = ["main.tf", ".well-known/svc.json"]
  const texts = yield* Effect.forEach(names, (name) => files.readFileString(`${example}/${name}`))
  yield* commitFiles({ gitdir, files: Object.fromEntries(names.map((name, at) => [name, texts[at] ?? ""])) })
  return yield* serveRepository({ gitdir })
})

const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns everything that the commands print until `mark` appears. Fails with that output if the commands exit first. */
const untilMark = async (stream: ReadableStream<Uint8Array>, mark: string): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes(mark)) return text
  }
  throw new Error(`The commands of the tutorial ended early:\n${text}`)
}

/**
 * Runs the commands from docs/identity-tutorial.md as written, except for the reader's own values, until the application is
 * running. The commands of the last section stop the application when the Scope closes.
 */
export const followedTutorial = Effect.gen(function* () {
  const files = yield* FileSystem.FileSystem
  const git = yield* repository
  const [svcPort, appPort] = yield* Effect.all([freePort, freePort])
  const svc = `http://127.0.0.1:${svcPort}`
  const app = `https://localhost:${appPort}`
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-tutorial-" })
  const program = compiledBinary() ?? `${process.execPath} ${root}src/Main.ts`
  const values = [
    `export REPOSITORY=${quoted(git.url)} EMAIL=${quoted(email)} PASSWORD=${quoted(password)}`,
    `export SVC=${svc} APP=${app} FOLDER=${quoted(folder)}`,
    `export SVC_GIT_ALLOW_ORIGINS=${git.origin} SVC_LOG=warn SVC_TOOL_DOWNLOAD=off`,
    `svc() { ${program} "$@"; }`
  ].join("\n")
  const [theirs = "", ...blocks] = commands(yield* files.readFileString(`${root}docs/identity-tutorial.md`))
  const stop = blocks.pop() ?? ""
  const mark = "the application is running"
  // Each job is a process group, as in a terminal, so that a failing command leaves no process behind.
  const shell = ["set -emuo pipefail", "trap 'for job in $(jobs -p); do kill -- -$job; done' EXIT"]
  const script = [...shell, values, ...blocks, `echo ${quoted(mark)}`, "read -r || true", stop].join("\n")
  const running = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(["bash", "-c", script], { cwd: root, stdin: "pipe", stdout: "pipe", stderr: "inherit" })
    ),
    ({ exited, stdin }) =>
      Effect.promise(async () => {
        await stdin.end()
        return exited
      })
  )
  const printed = yield* Effect.promise(() => untilMark(running.stdout, mark))
  return { svc, app, folder, printed, theirs }
})
