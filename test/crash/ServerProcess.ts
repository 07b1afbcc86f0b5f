import { openSync, readFileSync } from "node:fs"
import { Deferred, Effect, Redacted, Schema } from "effect"
import { makeClient, type SvcClient } from "../../src/client/SvcClient.ts"
import { FetchHttpClient } from "effect/http"
import { encodeCrashEnvironment, type KillAt } from "./CrashEnvironment.ts"

const Ready = Schema.fromJsonString(Schema.Struct({ url: Schema.String, setupLink: Schema.NullOr(Schema.String) }))

export interface ServeOptions {
  /** See `serverBinary`. */
  readonly program: string
  readonly dataDir: string
  readonly gitOrigin: string
  readonly mirror: string
  readonly notesDir: string
  readonly logFile: string
  readonly isolation?: "auto" | "off"
  readonly policyFile?: string
  /** A database in PostgreSQL, instead of a file in the data folder. */
  readonly databaseUrl?: Redacted.Redacted | undefined
  readonly token?: Redacted.Redacted | undefined
  readonly killAt?: KillAt | undefined
  /** Program and arguments to run the server command with, e.g. `prlimit`. */
  readonly wrapper?: ReadonlyArray<string>
}

/** The exit of a server process. */
export interface ServerEnd {
  readonly code: number | null
  readonly signal: string | null
}

/** A real `svc serve` that responds to requests. */
export interface ServerProcess {
  readonly pid: number
  readonly url: string
  readonly setupLink: string | null
  readonly client: SvcClient["Service"]
  readonly ended: Effect.Effect<ServerEnd>
  readonly hasEnded: () => boolean
  readonly signal: (name: "SIGKILL" | "SIGTERM") => Effect.Effect<void>
}

/** The server exited before it was ready. */
export class NeverReady extends Schema.TaggedError<NeverReady>()("NeverReady", {
  message: Schema.String,
  code: Schema.NullOr(Schema.Int),
  signal: Schema.NullOr(Schema.String)
}) {}

const firstLine = async (stream: ReadableStream<Uint8Array>) => {
  let text = ""
  const decoder = new TextDecoder()
  for await (const chunk of stream) {
    text += decoder.decode(chunk, { stream: true })
    if (text.includes("\n")) break
  }
  return text.split("\n")[0] ?? ""
}

/** Starts a server on a data folder and waits until it responds. Kills the server when the Scope closes. */
export const serve = Effect.fn("serve")(function* (options: ServeOptions) {
  const ended = yield* Deferred.make<ServerEnd>()
  let over = false
  const child = yield* Effect.acquireRelease(
    Effect.sync(() =>
      Bun.spawn(
        [
          ...(options.wrapper ?? []),
          options.program,
          "serve",
          "--json",
          ...Object.entries({
            "data-dir": options.dataDir,
            listen: "127.0.0.1:0",
            "git-allow-origins": options.gitOrigin,
            "provider-mirror": options.mirror,
            "provider-mirror-required": "true",
            "tool-download": "off",
            "runner-isolation": options.isolation ?? "auto",
            ...(options.policyFile === undefined ? {} : { "policy-file": options.policyFile }),
            log: "info",
            "log-format": "json"
          }).flatMap(([name, value]) => [`--${name}`, value])
        ],
        {
          stdin: "ignore",
          stdout: "pipe",
          stderr: openSync(options.logFile, "a", 0o600),
          env: {
            PATH: process.env["PATH"] ?? "",
            HOME: options.dataDir,
            ...(options.databaseUrl === undefined ? {} : { SVC_DATABASE_URL: Redacted.value(options.databaseUrl) }),
            SVC_TEST_CRASH: encodeCrashEnvironment({
              readable: [process.execPath],
              writable: [options.notesDir],
              ...(options.killAt === undefined ? {} : { at: options.killAt })
            })
          },
          onExit: (exited, code) => {
            over = true
            Deferred.doneUnsafe(
              ended,
              Effect.succeed({ code, signal: exited.signalCode === null ? null : String(exited.signalCode) })
            )
          }
        }
      )
    ),
    (child) =>
      Effect.andThen(
        Effect.sync(() => child.kill("SIGKILL")),
        Effect.promise(() => child.exited)
      )
  )
  const line = yield* Effect.promise(() => firstLine(child.stdout))
  const ready = yield* Schema.decodeEffect(Ready)(line).pipe(
    Effect.catch(() =>
      Effect.flatMap(
        Deferred.await(ended),
        ({ code, signal }) =>
          new NeverReady({
            message: `The server never got ready: ${readFileSync(options.logFile, "utf8").slice(-2000)}`,
            code,
            signal
          })
      )
    )
  )
  const client = yield* makeClient({ baseUrl: ready.url, token: options.token }).pipe(
    Effect.provide(FetchHttpClient.layer)
  )
  const server: ServerProcess = {
    pid: child.pid,
    url: ready.url,
    setupLink: ready.setupLink,
    client,
    ended: Deferred.await(ended),
    hasEnded: () => over,
    signal: (name) => Effect.sync(() => child.kill(name))
  }
  return server
})
