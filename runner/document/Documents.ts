import { Worker } from "node:worker_threads"
import { Effect, Option, Redacted, Result, Semaphore } from "effect"
import type { JsonLimits } from "../../schema/json/JsonLimits.ts"
import { JsonRefusal } from "../../schema/json/JsonRefusal.ts"
import type { JobResult } from "../agent/JobResult.ts"
import { RunnerFailure } from "../execution/RunnerFailure.ts"
import type { UnfinishedApply } from "../execution/RunOutcome.ts"
import type { StateFile } from "../execution/StateFile.ts"
import { moduleBeside } from "../thread/ModuleLocation.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"
import { workerLocation } from "../thread/WorkerLocation.ts"
import type { DocumentAnswer, DocumentRequest } from "./DocumentMessage.ts"
import { DocumentAssembly } from "./DocumentPieces.ts"
import {
  agentDocumentLimits,
  type DocumentContents,
  type DocumentKind,
  documentLimits,
  documentReadings
} from "./DocumentReadings.ts"
import { wrapSecrets } from "./UnwrappedSecrets.ts"

/** Maximum length of a document to read on the calling thread. Reading this much takes a few milliseconds. */
export const longestReadHere = 1024 * 1024

/**
 * Time after which an idle thread stops. The time is short, because the thread keeps the memory of a large document until it
 * stops.
 */
const idleMilliseconds = 2000

const location = () =>
  workerLocation("runner/document/DocumentWorker", () => moduleBeside(import.meta.url, "./DocumentWorker"))

/** A thread that reads documents one at a time. It is started on demand. */
class DocumentThread {
  #worker: Worker | undefined
  #resume: ((answer: DocumentAnswer) => void) | undefined
  #idle: NodeJS.Timeout | undefined

  #started(): Worker {
    clearTimeout(this.#idle)
    if (this.#worker !== undefined) return this.#worker
    const worker = new Worker(location())
    const settle = (answer: DocumentAnswer) => {
      if (this.#worker !== worker) return
      const resume = this.#resume
      this.#resume = undefined
      resume?.(answer)
    }
    const end = () => {
      settle({ kind: "failed" })
      if (this.#worker === worker) this.#worker = undefined
    }
    worker.on("message", settle)
    worker.on("error", end)
    worker.on("exit", end)
    worker.unref()
    this.#worker = worker
    return worker
  }

  ask(request: DocumentRequest): Effect.Effect<DocumentAnswer> {
    return Effect.callback((resume) => {
      this.#resume = (answer) => resume(Effect.succeed(answer))
      const moved = request.kind === "read" ? [request.bytes.buffer] : []
      this.#started().postMessage(request, moved)
      // Stop the thread, so that a late response cannot be mistaken for the response to the next document.
      return Effect.sync(() => this.stop())
    })
  }

  stop(): void {
    const worker = this.#worker
    this.#worker = undefined
    this.#resume = undefined
    void worker?.terminate()
  }

  stopWhenIdle(): void {
    clearTimeout(this.#idle)
    this.#idle = setTimeout(() => this.stop(), idleMilliseconds)
    this.#idle.unref()
  }
}

const thread = new DocumentThread()
/** Allows one document at a time, so that concurrent uploads need memory for only one. */
const turns = Semaphore.makeUnsafe(1)

/** Accepts any value, because the thread has already decoded the value with the schema for its kind. */
const isContents = <K extends DocumentKind>(_kind: K, _value: unknown): _value is DocumentContents[K] => true

const readElsewhere = Effect.fnUntraced(function* <K extends DocumentKind>(
  document: K,
  bytes: Uint8Array,
  limits: JsonLimits
) {
  const assembly = new DocumentAssembly()
  let answer = yield* thread.ask({ kind: "read", document, bytes: new Uint8Array(bytes), limits })
  while (answer.kind === "piece") {
    assembly.add(answer.piece)
    answer = yield* thread.ask({ kind: "more" })
  }
  if (answer.kind === "refused") return yield* new JsonRefusal(answer.refusal)
  const { value } = assembly
  if (answer.kind === "failed" || !isContents(document, value)) {
    return yield* Effect.die(new Error("The thread that reads documents failed. Is there memory left?"))
  }
  return value
})

/**
 * Reads a document from a person, a tool or an agent. A long document is read in another thread, which returns the contents
 * in small pieces, so that no other request has to wait. Call it before a transaction, never inside one.
 */
export const readDocument = Effect.fn("readDocument")(function* <K extends DocumentKind>(
  kind: K,
  bytes: Uint8Array,
  limits: JsonLimits = documentLimits
): Effect.fn.Return<DocumentContents[K], JsonRefusal> {
  // A document above the limit goes to the reader on this thread, which refuses it without reading it.
  if (bytes.length <= longestReadHere || bytes.length > limits.maxBytes)
    return yield* Effect.fromResult(documentReadings[kind](bytes, limits))
  return yield* turns.withPermits(1)(
    Effect.ensuring(
      readElsewhere(kind, bytes, limits),
      Effect.sync(() => thread.stopWhenIdle())
    )
  )
}, outsideTransaction("A document is read"))

/** Parses a complete state file. Returns `none` for anything else. */
export const readState = Effect.fnUntraced(function* (bytes: Uint8Array) {
  const read = yield* Effect.result(readDocument("state", bytes))
  if (Result.isFailure(read)) return Option.none<StateFile>()
  const { outputs, ...rest } = read.success
  return Option.some<StateFile>({
    ...rest,
    outputs: outputs?.map((output) => ({ ...output, value: Redacted.make(output.value) }))
  })
})

/** Parses an agent's report about a job, and cleans its messages again. */
export const readJobResult = Effect.fnUntraced(function* (bytes: Uint8Array): Effect.fn.Return<JobResult, JsonRefusal> {
  const result = yield* Effect.flatMap(readDocument("jobResult", bytes, agentDocumentLimits), wrapSecrets)
  return result.status === "failed" ? { ...result, failure: new RunnerFailure(result.failure) } : result
})

/** Parses the results that an agent stored for an apply. */
export const readUnfinishedApply = (bytes: Uint8Array): Effect.Effect<UnfinishedApply, JsonRefusal> =>
  Effect.flatMap(readDocument("leftOver", bytes, agentDocumentLimits), wrapSecrets)
