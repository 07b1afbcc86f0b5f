import { Cause, Effect, Schema } from "effect"
import { ApiError } from "../../schema/errors/ApiError.ts"
import type { Run } from "../../schema/records/Run.ts"
import type { CrashHost } from "./CrashHost.ts"
import type { NeverReady, ServerProcess } from "./ServerProcess.ts"

/** The product broke a guarantee. */
export class Broken extends Schema.TaggedError<Broken>()("Broken", { message: Schema.String }) {}

export const holds = (condition: boolean, message: string): Effect.Effect<void, Broken> =>
  condition ? Effect.void : Effect.fail(new Broken({ message }))

/** Returns the broken guarantee in a cause. Any other cause counts as a broken guarantee with its text as the message. */
export const brokenBy = (cause: Cause.Cause<unknown>): Broken => {
  const error = Cause.squash(cause)
  return error instanceof Broken ? error : new Broken({ message: Cause.pretty(cause) })
}

type Client = ServerProcess["client"]

const mostInVain = 200

/** A client that retries with the same key until it gets a response, while the server is killed and restarted. */
export interface CrashClient {
  /** Like `call`, but for requests that do not use the API's client. */
  readonly ask: <A, E>(use: (server: ServerProcess) => Effect.Effect<A, E>) => Effect.Effect<A, ApiError | NeverReady>
  readonly call: <A, E>(use: (client: Client) => Effect.Effect<A, E>) => Effect.Effect<A, ApiError | NeverReady>
  /** Waits until the Run is neither queued nor running, and returns it. */
  readonly settled: (runId: string) => Effect.Effect<Run, ApiError | NeverReady>
}

/** `patient`: also retries after `storage_full`. */
export const crashClient = (host: CrashHost, patient = false): CrashClient => {
  const ask: CrashClient["ask"] = (use) =>
    Effect.gen(function* () {
      let asked: ServerProcess | undefined
      let inVain = 0
      for (;;) {
        const server = yield* host.current
        const result = yield* Effect.result(use(server))
        if (result._tag === "Success") return result.success
        const { failure } = result
        // Any response that does not come from the API means that the server was killed while it handled the request.
        const mayPass =
          !(failure instanceof ApiError) ||
          failure.code === "verification_unavailable" ||
          (patient && failure.code === "storage_full")
        if (!mayPass) return yield* failure
        inVain = server === asked ? inVain + 1 : 0
        asked = server
        // If the server is still running, an unreadable response is a fault.
        if (inVain >= mostInVain && !patient && !server.hasEnded()) {
          return yield* Effect.die(new Broken({ message: `Asked ${inVain} times in vain: ${String(failure)}` }))
        }
        yield* Effect.sleep("10 millis")
      }
    })
  const call: CrashClient["call"] = (use) => ask(({ client }) => use(client))
  const settled: CrashClient["settled"] = (runId) =>
    Effect.gen(function* () {
      for (;;) {
        const { run } = yield* call((client) => client.runs.read({ params: { runId } }))
        if (run.status !== "queued" && run.status !== "running") return run
        yield* Effect.sleep("25 millis")
      }
    })
  return { ask, call, settled }
}
