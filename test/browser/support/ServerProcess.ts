import { Effect, Schema, type Scope } from "effect"

const Ready = Schema.fromJsonString(
  Schema.Struct({ url: Schema.String, port: Schema.Int, setupLink: Schema.NullOr(Schema.String) })
)
const root = new URL("../../..", import.meta.url).pathname

/** Returns the path of the compiled binary in `SVC_TEST_BINARY`, or `undefined` to run from source. */
export const compiledBinary = (): string | undefined => {
  const binary = process.env["SVC_TEST_BINARY"]
  return binary === undefined || binary === "" ? undefined : binary
}

const programOf = (binary: string | undefined) =>
  binary === undefined ? [process.execPath, `${root}src/Main.ts`] : [binary]

/** Runs an operator's `svc admin` command on the data folder while the server runs, and returns its output. */
export const operatorCommand = Effect.fnUntraced(function* (folder: string, args: ReadonlyArray<string>) {
  const command = [...programOf(compiledBinary()), "admin", ...args, `--data-dir=${folder}/data`]
  const running = yield* Effect.acquireRelease(
    Effect.sync(() => Bun.spawn(command, { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "inherit" })),
    (spawned) =>
      Effect.promise(() => {
        spawned.kill("SIGTERM")
        return spawned.exited
      })
  )
  return yield* Effect.promise(() => new Response(running.stdout).text())
}, Effect.scoped)

const firstLine = async (stream: ReadableStream<Uint8Array>): Promise<string> => {
  const decoder = new TextDecoder()
  let text = ""
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    const end = text.indexOf("\n")
    if (end >= 0) return text.slice(0, end)
  }
  throw new Error(`The server ended before it was ready: ${text}`)
}

export interface ServerProcess {
  /** The server's address, `http://127.0.0.1:<port>`. */
  readonly url: string
  readonly port: number
  /** Undefined once an account exists. */
  readonly setupLink: string | undefined
  /** Simulates a power failure: the process cannot clean up. Succeeds once the process has exited. */
  readonly crash: Effect.Effect<void>
}

/**
 * Runs `svc serve` on a data folder and a free port until the Scope closes, using the compiled binary if given and the
 * sources otherwise. Returns once the server is ready for requests.
 */
export const serverProcess = Effect.fnUntraced(function* (
  folder: string,
  flags: ReadonlyArray<string>,
  binary = compiledBinary()
): Effect.fn.Return<ServerProcess, Schema.SchemaError, Scope.Scope> {
  const spawned = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(
        [
          ...programOf(binary),
          "serve",
          "--json",
          "--log=warn",
          `--data-dir=${folder}/data`,
          "--listen=127.0.0.1:0",
          "--tool-download=off",
          ...flags
        ],
        { cwd: folder, stdin: "ignore", stdout: "pipe", stderr: "inherit" }
      )
    ),
    (running) =>
      Effect.promise(() => {
        running.kill("SIGTERM")
        return running.exited
      })
  )
  const ready = yield* Effect.promise(() => firstLine(spawned.stdout)).pipe(Effect.flatMap(Schema.decodeEffect(Ready)))
  return {
    url: `http://127.0.0.1:${ready.port}`,
    port: ready.port,
    setupLink: ready.setupLink ?? undefined,
    crash: Effect.promise(() => {
      spawned.kill("SIGKILL")
      return spawned.exited
    })
  }
})
