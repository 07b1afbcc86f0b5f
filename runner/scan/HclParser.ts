import { Worker } from "node:worker_threads"
import { Context, Duration, Effect, Exit, Layer, Option, Pool, Result, Schema, type Scope, Semaphore } from "effect"
import { moduleBeside } from "../thread/ModuleLocation.ts"
import { workerLocation } from "../thread/WorkerLocation.ts"
import { hclFileName } from "./HclFileName.ts"
import { HclAnswer, type HclRequest } from "./HclWorkerMessage.ts"
import { HclParserUnavailable } from "./ScanError.ts"
import { ScanLimits } from "./ScanLimits.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"

export interface HclDiagnostic {
  readonly line: number
  readonly message: string
}

/**
 * The parser's verdict on a file.
 * - `Parsed`: the content as JSON text
 * - `Refused`: the file is not HCL; contains at least one diagnostic
 * - `Abandoned`: the file crashed the parser or took too long; the parser was restarted
 */
export type HclVerdict =
  | { readonly _tag: "Parsed"; readonly json: string }
  | { readonly _tag: "Refused"; readonly diagnostics: ReadonlyArray<HclDiagnostic> }
  | { readonly _tag: "Abandoned"; readonly reason: "crash" | "deadline" }

interface ParserThread {
  readonly ask: (text: string) => Effect.Effect<HclAnswer>
}

const startDeadline = Duration.seconds(30)
// Time after which an idle thread stops. A thread uses 28 MB, and restarts in a fraction of a second.
const idleTime = Duration.seconds(10)
const maxThreads = 2
/** Maximum number of threads, including threads that have not ended yet. */
const maxLiveThreads = 4
/**
 * Text length from which the thread is stopped after parsing, because the memory used for a large file is released only when
 * the thread ends.
 */
const largeText = 256 * 1024

const location = () =>
  workerLocation("runner/scan/EmbeddedHclWorker", () => moduleBeside(import.meta.url, "./HclWorker"))

const decodeAnswer = Schema.decodeUnknownResult(HclAnswer)

/**
 * Waits for the next message from the worker. Returns `failed` if the worker fails or exits. Calls `begin` after adding the
 * listener.
 */
const nextAnswer = (worker: Worker, begin: () => void = () => {}): Effect.Effect<HclAnswer> =>
  Effect.callback<HclAnswer>((resume) => {
    const finish = (answer: HclAnswer) => {
      stop()
      resume(Effect.succeed(answer))
    }
    const onMessage = (message: unknown) =>
      finish(Result.getOrElse(decodeAnswer(message), () => ({ kind: "failed" as const, message: "unexpected answer" })))
    const onError = (cause: unknown) => finish({ kind: "failed", message: String(cause) })
    const onExit = () => finish({ kind: "failed", message: "the thread ended" })
    const stop = () => {
      worker.off("message", onMessage)
      worker.off("error", onError)
      worker.off("exit", onExit)
    }
    worker.on("message", onMessage)
    worker.on("error", onError)
    worker.on("exit", onExit)
    begin()
    return Effect.sync(stop)
  })

const unavailable = (reason: string) =>
  new HclParserUnavailable({
    message: `The configuration parser could not be started: ${reason}. Check that the installation is complete and has memory left.`
  })

/**
 * Starts a worker, which holds a permit of `live` until it has actually exited. Its exit may take longer than a file's
 * deadline, because some loops of the parser do not check for termination. svc does not wait for such threads, but the
 * permits limit their number.
 */
const startWorker = (live: Semaphore.Semaphore): Effect.Effect<Worker, HclParserUnavailable, Scope.Scope> =>
  Effect.uninterruptibleMask(
    Effect.fnUntraced(function* (restore) {
      yield* restore(Semaphore.take(live, 1))
      const give = Semaphore.release(live, 1)
      return yield* Effect.acquireRelease(
        Effect.try({ try: () => new Worker(location()), catch: (cause) => unavailable(String(cause)) }).pipe(
          Effect.tapError(() => give)
        ),
        (worker) => Effect.promise(() => worker.terminate()).pipe(Effect.ensuring(give), Effect.forkDetach)
      )
    })
  )

const startThread = Effect.fnUntraced(function* (
  live: Semaphore.Semaphore
): Effect.fn.Return<ParserThread, HclParserUnavailable, Scope.Scope> {
  const worker = yield* startWorker(live)
  // Ignore error events. Without a listener, this process would throw them.
  worker.on("error", () => {})
  worker.unref()
  const first = yield* nextAnswer(worker).pipe(
    Effect.timeoutOrElse({
      duration: startDeadline,
      orElse: () => Effect.fail(unavailable(`no sign of it within ${Duration.format(startDeadline)}`))
    })
  )
  if (first.kind === "failed") return yield* unavailable(first.message)
  let lastId = 0
  const ask = (text: string) =>
    Effect.suspend(() => {
      const request: HclRequest = { id: ++lastId, text }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      return nextAnswer(worker, () => worker.postMessage(request))
    })
  return { ask }
})

/** Until the scope closes, starts threads when files need them, and stops the threads when no file needs them anymore. */
export const parserThreads = Effect.gen(function* () {
  const live = yield* Semaphore.make(maxLiveThreads)
  return yield* Pool.makeWithTTL({ acquire: startThread(live), min: 0, max: maxThreads, timeToLive: idleTime })
})

/**
 * The threads of a parser. By default, each parser has its own threads, but several parsers in one process may share
 * threads.
 */
export const ParserThreads = Context.Reference("svc/runner/scan/ParserThreads", { defaultValue: () => parserThreads })

const maxDiagnostics = 10
const maxMessageLength = 500
const diagnosticStart = new RegExp(`(?:^|[ \\[])${hclFileName.replace(".", "\\.")}:(\\d+),\\d+-(?:\\d+,)?\\d+: `, "g")

const diagnosticsOf = (error: string): ReadonlyArray<HclDiagnostic> => {
  const starts = [...error.matchAll(diagnosticStart)].slice(0, maxDiagnostics)
  if (starts.length === 0) return [{ line: 1, message: error.slice(0, maxMessageLength) }]
  return starts.map((start, index) => ({
    line: Number(start[1]),
    message: error
      .slice(start.index + start[0].length, starts[index + 1]?.index ?? error.length)
      .replace(/\]$/, "")
      .slice(0, maxMessageLength)
      .trim()
  }))
}

const verdictOf = (answer: HclAnswer): HclVerdict => {
  switch (answer.kind) {
    case "json":
      return { _tag: "Parsed", json: answer.json }
    case "error":
      return { _tag: "Refused", diagnostics: diagnosticsOf(answer.error) }
    case "ready":
    case "crash":
    case "failed":
      return { _tag: "Abandoned", reason: "crash" }
  }
}

/**
 * Runs the reference HCL parser in its own threads. If a hostile file crashes or stalls its thread, the thread is replaced.
 * The threads start with the first file, and stop if there are no files for a while.
 */
export class HclParser extends Context.Service<
  HclParser,
  {
    /** Parses a file within `ScanLimits.fileDeadline`. Fails only if no thread can be started. */
    readonly parse: (text: string) => Effect.Effect<HclVerdict, HclParserUnavailable>
  }
>()("svc/runner/scan/HclParser") {
  static readonly layer = Layer.effect(
    HclParser,
    Effect.gen(function* () {
      const threads = yield* Effect.flatten(ParserThreads)
      const parse = Effect.fn("HclParser.parse")(
        function* (text: string) {
          const { fileDeadline } = yield* ScanLimits
          const thread = yield* Pool.get(threads)
          return yield* thread.ask(text).pipe(
            Effect.map(verdictOf),
            Effect.timeoutOption(fileDeadline),
            Effect.map(Option.getOrElse((): HclVerdict => ({ _tag: "Abandoned", reason: "deadline" }))),
            // Discards a busy or interrupted thread, because it would respond to the next file with this file's result.
            Effect.onExit((exit) =>
              Exit.isSuccess(exit) && exit.value._tag !== "Abandoned" && text.length < largeText
                ? Effect.void
                : Pool.invalidate(threads, thread)
            )
          )
        },
        Effect.scoped,
        outsideTransaction("A module is parsed")
      )
      return HclParser.of({ parse })
    })
  )
}
