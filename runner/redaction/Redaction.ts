import { Worker } from "node:worker_threads"
import { Context, Duration, Effect, Layer, RcRef, Redacted, Schema, type Scope } from "effect"
import { moduleBeside } from "../thread/ModuleLocation.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"
import { workerLocation } from "../thread/WorkerLocation.ts"
import { redactionMark } from "./RedactionMark.ts"
import type { RedactedLine } from "./RedactionLines.ts"
import type { RedactionAnswer, RedactionRequest } from "./RedactionMessage.ts"
import type { RedactionItem } from "./Redactor.ts"
import type { RunRedactor } from "./RunRedactor.ts"
import type { Secret } from "./SecretRule.ts"

/** The thread that hides secrets could not be started. */
export class RedactionUnavailable extends Schema.TaggedError<RedactionUnavailable>()("RedactionUnavailable", {
  message: Schema.String
}) {}

type Unnumbered<Request> = Request extends RedactionRequest ? Omit<Request, "id"> : never

interface RedactionThread {
  /** Returns the redacted texts of a request, or `undefined` if the thread failed or has stopped. */
  readonly ask: (request: Unnumbered<RedactionRequest>) => Effect.Effect<ReadonlyArray<RedactedLine> | undefined>
  readonly tell: (request: Unnumbered<RedactionRequest>) => Effect.Effect<void>
  readonly newNumber: Effect.Effect<number>
}

const startDeadline = Duration.seconds(30)
// Time after which an idle thread stops. The thread needs a few megabytes, and restarts in a fraction of a second.
const idleTime = Duration.seconds(5)
/** Maximum length of the text in one message. Copying more at once would keep this thread busy. */
const longestBatch = 256 * 1024

const shipped = () =>
  workerLocation("runner/redaction/RedactionWorker", () => moduleBeside(import.meta.url, "./RedactionWorker"))

const unavailable = (reason: string) =>
  new RedactionUnavailable({
    message: `The thread that hides secrets could not be started: ${reason}. Check that the installation is complete and has memory left.`
  })

const startThread = Effect.fnUntraced(function* (
  location: string | URL,
  onEnd: Effect.Effect<void>
): Effect.fn.Return<RedactionThread, RedactionUnavailable, Scope.Scope> {
  const run = Effect.runForkWith(yield* Effect.context<never>())
  const worker = yield* Effect.acquireRelease(
    Effect.try({ try: () => new Worker(location), catch: (cause) => unavailable(String(cause)) }),
    (started) => Effect.promise(() => started.terminate())
  )
  const waiting = new Map<number, (texts: ReadonlyArray<RedactedLine> | undefined) => void>()
  let started: (reason: string | undefined) => void = () => {}
  let hasEnded = false
  let lastNumber = 0
  const end = (reason: string) => {
    if (hasEnded) return
    hasEnded = true
    // Call this before the Runs that use the thread continue, so that no new Run is assigned to the thread.
    run(onEnd)
    started(reason)
    for (const resume of waiting.values()) resume(undefined)
    waiting.clear()
  }
  worker.on("error", (cause) => end(String(cause)))
  worker.on("exit", () => end("the thread ended"))
  worker.on("message", (answer: RedactionAnswer) => {
    if (answer.kind === "ready") return started(undefined)
    const resume = waiting.get(answer.id)
    waiting.delete(answer.id)
    resume?.(answer.kind === "texts" ? answer.texts : undefined)
  })
  worker.unref()
  yield* Effect.callback<void, RedactionUnavailable>((resume) => {
    started = (reason) => resume(reason === undefined ? Effect.void : Effect.fail(unavailable(reason)))
  }).pipe(
    Effect.timeoutOrElse({
      duration: startDeadline,
      orElse: () => Effect.fail(unavailable(`no sign of it within ${Duration.format(startDeadline)}`))
    })
  )
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  const post = (request: RedactionRequest) => worker.postMessage(request)
  return {
    ask: (request) =>
      Effect.callback((resume) => {
        if (hasEnded) return resume(Effect.undefined)
        const id = ++lastNumber
        waiting.set(id, (texts) => resume(Effect.succeed(texts)))
        post({ ...request, id })
      }),
    tell: (request) => Effect.sync(() => (hasEnded ? undefined : post({ ...request, id: ++lastNumber }))),
    newNumber: Effect.sync(() => ++lastNumber)
  }
})

/**
 * Until the scope closes, starts a thread when a Run needs one, and stops it when no Run needs it anymore. `location` is the
 * URL of the thread's code and defaults to the shipped code.
 */
export const redactionThreads = (
  location?: URL
): Effect.Effect<RcRef.RcRef<RedactionThread, RedactionUnavailable>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const thread: RcRef.RcRef<RedactionThread, RedactionUnavailable> = yield* RcRef.make({
      acquire: Effect.suspend(() => startThread(location ?? shipped(), RcRef.invalidate(thread))),
      idleTimeToLive: idleTime
    })
    return thread
  })

/**
 * The redaction thread of a server. By default each server has its own thread; several servers in one process may share a
 * thread.
 */
export const RedactionThreads = Context.Reference("svc/runner/redaction/RedactionThreads", {
  defaultValue: () => redactionThreads()
})

const batches = (items: ReadonlyArray<RedactionItem>): ReadonlyArray<ReadonlyArray<RedactionItem>> => {
  const found: Array<Array<RedactionItem>> = []
  let length = longestBatch
  for (const item of items) {
    const size = (item.parts?.reduce((length, part) => length + part.length, 0) ?? item.text.length) + 64
    if (length + size > longestBatch) {
      found.push([])
      length = 0
    }
    found.at(-1)?.push(item)
    length += size
  }
  return found
}

const posted = ({ origin, value }: Secret) => ({ origin, value: Redacted.value(value) })

const redactorOf = (
  thread: RedactionThread,
  redactor: number,
  addressKey: Redacted.Redacted | undefined
): RunRedactor => {
  // True as long as there are no secrets, so that the Run does not have to wait for the thread.
  let isEmpty = true
  // True after a failure. The thread may have missed a secret, or held back only part of one, so all later output is hidden.
  let isBroken = false
  const ask = (request: Unnumbered<RedactionRequest>) =>
    Effect.suspend(() =>
      isBroken
        ? Effect.undefined
        : Effect.tap(thread.ask(request), (texts) =>
            Effect.sync(() => {
              isBroken ||= texts === undefined
            })
          )
    )
  const askTexts = (request: Unnumbered<RedactionRequest>) =>
    Effect.map(ask(request), (texts) => texts?.map((text) => text ?? redactionMark))
  return {
    add: (secrets) =>
      Effect.suspend(() => {
        if (secrets.length === 0) return Effect.void
        isEmpty = false
        const key = addressKey === undefined ? {} : { addressKey: Redacted.value(addressKey) }
        return Effect.asVoid(ask({ kind: "add", redactor, secrets: secrets.map(posted), ...key }))
      }),
    // Hide a text entirely if it could not be checked.
    items: (items) =>
      Effect.suspend(() =>
        isEmpty
          ? Effect.succeed(items.map(({ text }) => text))
          : Effect.forEach(batches(items), (batch) =>
              Effect.map(
                askTexts({ kind: "items", redactor, items: batch }),
                (texts) => texts ?? batch.map(() => redactionMark)
              )
            ).pipe(Effect.map((done) => done.flat()))
      ),
    open: Effect.map(thread.newNumber, (stream) => {
      const send = (text: string, last: boolean) =>
        Effect.suspend(() =>
          isEmpty
            ? Effect.succeed(text)
            : Effect.map(
                askTexts({ kind: "stream", redactor, stream, text, last }),
                (texts) => texts?.[0] ?? (text.trim() === "" ? text : `${redactionMark}\n`)
              )
        )
      return { push: (piece: string) => send(piece, false), end: (rest: string) => send(rest, true) }
    }),
    openLines: Effect.map(thread.newNumber, (stream) => {
      // Number of lines that are waiting for a response.
      let held = 0
      const send = (lines: ReadonlyArray<string>, last: boolean) =>
        Effect.suspend((): Effect.Effect<ReadonlyArray<RedactedLine>> => {
          if (isEmpty) return Effect.succeed(lines)
          held += lines.length
          return Effect.map(ask({ kind: "lines", redactor, stream, lines, last }), (answered) => {
            const decided = answered ?? Array.from({ length: held }, () => redactionMark)
            held -= decided.length
            return decided
          })
        })
      return { push: (lines: ReadonlyArray<string>) => send(lines, false), end: send([], true) }
    })
  }
}

/**
 * Hides secrets in a separate thread, so that neither many secrets nor long texts block the server. The thread starts with
 * the first Run, and stops when no Run has needed it for a while. If the thread fails while Runs use it, all later output of
 * those Runs is hidden.
 */
export class Redaction extends Context.Service<
  Redaction,
  {
    /**
     * Creates a redactor that is valid until the scope closes. `addressKey` is the key for the digests of secret instance keys.
     */
    readonly redactor: (
      secrets: ReadonlyArray<Secret>,
      addressKey?: Redacted.Redacted
    ) => Effect.Effect<RunRedactor, RedactionUnavailable, Scope.Scope>
  }
>()("svc/runner/redaction/Redaction") {
  static readonly layer = Layer.effect(
    Redaction,
    Effect.gen(function* () {
      const running = yield* yield* RedactionThreads
      const redactor = Effect.fn("Redaction.redactor")(function* (
        secrets: ReadonlyArray<Secret>,
        addressKey?: Redacted.Redacted
      ) {
        const thread = yield* RcRef.get(running)
        const id = yield* thread.newNumber
        const opened = redactorOf(thread, id, addressKey)
        yield* Effect.addFinalizer(() => thread.tell({ kind: "close", redactor: id }))
        yield* opened.add(secrets)
        return opened
      }, outsideTransaction("Secrets are looked for"))
      return Redaction.of({ redactor })
    })
  )
}
