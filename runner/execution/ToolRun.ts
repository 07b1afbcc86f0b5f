import { Deferred, Duration, Effect, Fiber, Latch, Option, Redacted, Ref, type Scope, Stream } from "effect"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import type { RunRedactor } from "../redaction/RunRedactor.ts"
import type { OpenSandbox, SandboxedCommand } from "../sandbox/levels/Level.ts"
import type { LimitExceeded } from "../sandbox/limits/LimitExceeded.ts"
import type { SandboxProcess } from "../sandbox/SandboxProcess.ts"
import type { SandboxSpawnFailed } from "../sandbox/SandboxStatus.ts"
import { textReader } from "../redaction/LogLines.ts"
import type { CancelSignal } from "./CancelSignal.ts"
import { MessageLines, type OutputLine } from "./MessageLines.ts"
import { type CleanLine, messageReader } from "./MessageReader.ts"
import { type RunReport, shownText } from "./RunReport.ts"
import type { RunSink } from "./RunSink.ts"
import type { ToolMessage } from "./ToolMessage.ts"

/**
 * The format of a program's standard output.
 *
 * - `messages`: the tool's JSON lines, passed on without secrets; any other line becomes a log line
 * - `document`: one secret document, never logged; dropped when longer than `maxBytes`
 * - `text`: log lines
 */
export type ToolOutput =
  | { readonly kind: "messages"; readonly onMessage?: (message: ToolMessage) => Effect.Effect<void> }
  | { readonly kind: "document"; readonly maxBytes: number }
  | { readonly kind: "text" }

export interface ToolRun {
  readonly phase: RunPhase
  readonly command: SandboxedCommand
  readonly output: ToolOutput
  readonly timeout: Duration.Input
  readonly grace: Duration.Input
}

/**
 * The reason why a program ended. `cancelled` regardless of its exit code, if a cancellation came first: only an apply has
 * effects, so only the apply also reads the code. `exited` also if it exceeded its time limit but succeeded; `killed` if
 * something else killed it.
 */
export type ToolEnding = "exited" | "cancelled" | "timed_out" | "killed"

export interface ToolEnd {
  readonly ending: ToolEnding
  /** Absent when the program was killed. */
  readonly code: number | undefined
  readonly sandboxKilled: boolean
  /** The limit of the Run that stopped it, regardless of the program's own report. */
  readonly limit: LimitExceeded | undefined
  /** Without secrets. */
  readonly diagnostics: ReadonlyArray<RunDiagnostic>
  readonly document: Redacted.Redacted<Uint8Array> | undefined
  /** The last cleaned lines that were not messages: the only information when a tool dies without a diagnostic. */
  readonly lastLines: ReadonlyArray<string>
}

export interface ToolContext {
  readonly box: OpenSandbox
  readonly sink: RunSink
  readonly report: RunReport
  readonly redactor: RunRedactor
  readonly cancel: CancelSignal
}

/** The human-readable text that the tool prints below the first line of a diagnostic; its messages contain only the first line. */
const restOfDiagnostic = ({ address, detail, line, path }: RunDiagnostic): string =>
  [
    address === undefined ? undefined : `with ${address}`,
    path === undefined ? undefined : `on ${path}${line === undefined ? "" : ` line ${line}`}`,
    detail
  ]
    .flatMap((part) => (part === undefined ? [] : part.trimEnd().split("\n")))
    .map((line) => `  ${line}`)
    .join("\n")

type Document = Redacted.Redacted<Uint8Array> | undefined

/** The reader of an output: `read` until it ends, and `rest` for the remainder. */
type Reader = (
  stream: SandboxProcess["stdout"],
  started: Latch.Latch
) => Effect.Effect<{ readonly read: Effect.Effect<Document, unknown>; readonly rest: Effect.Effect<void> }>

const mostDiagnostics = 200
const mostLastLines = 5
/** A tool that has not printed anything may not handle signals yet, and would miss its only signal. */
const longestStart = Duration.seconds(2)
/** A process that has left the process group may hold the output open after the program has exited. */
const longestDrain = Duration.seconds(5)

const concat = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const whole = new Uint8Array(chunks.reduce((size, chunk) => size + chunk.byteLength, 0))
  let offset = 0
  for (const chunk of chunks) {
    whole.set(chunk, offset)
    offset += chunk.byteLength
  }
  return whole
}

/**
 * Runs one program to completion and reports while it runs. A cancellation or the timeout sends one SIGINT; after the grace
 * period the whole sandbox is killed. The effect never fails because of the program.
 */
export const runTool = Effect.fn("ToolRun.run")(function* (
  context: ToolContext,
  run: ToolRun
): Effect.fn.Return<ToolEnd, SandboxSpawnFailed> {
  const { box, sink, report, redactor, cancel } = context
  const { phase, output } = run
  const diagnostics: Array<RunDiagnostic> = []
  const lastLines: Array<string> = []

  const remember = (line: string) => {
    lastLines.push(line)
    if (lastLines.length > mostLastLines) lastLines.shift()
  }

  const onMessage = Effect.fnUntraced(function* (message: ToolMessage) {
    // The journal must contain every reported change.
    if (output.kind === "messages" && output.onMessage !== undefined) yield* output.onMessage(message)
    yield* report.print(phase, "stdout", message.text)
    if (message._tag === "Resource") yield* report.resource(message)
    if (message._tag === "Diagnostic") {
      if (diagnostics.length < mostDiagnostics) diagnostics.push(message.diagnostic)
      const rest = restOfDiagnostic(message.diagnostic)
      if (rest !== "") yield* report.print(phase, "stdout", rest)
      yield* report.diagnostic(message.diagnostic)
    }
  })

  const onLine = ({ message, text }: CleanLine) => {
    if (message !== undefined) return onMessage(message)
    if (text.trim() === "") return Effect.void
    remember(shownText(text))
    return report.print(phase, "stdout", text)
  }

  const readMessages: Reader = Effect.fnUntraced(function* (stream, started) {
    const lines = new MessageLines()
    const reader = messageReader(report, redactor)
    const onLines = (next: ReadonlyArray<OutputLine>) =>
      Effect.flatMap(reader.push(next), Effect.forEach(onLine, { discard: true }))
    return {
      read: stream.pipe(
        // Data already taken from the stream is processed even after an interruption.
        Stream.runForEach((bytes) =>
          Effect.andThen(
            started.open,
            Effect.suspend(() => onLines(lines.push(bytes)))
          ).pipe(Effect.uninterruptible)
        ),
        Effect.as(undefined)
      ),
      rest: Effect.suspend(() => onLines(lines.end())).pipe(
        Effect.andThen(reader.end),
        Effect.flatMap(Effect.forEach(onLine, { discard: true }))
      )
    }
  })

  const readDocument = (stream: SandboxProcess["stdout"], maxBytes: number) => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return stream.pipe(
      Stream.runForEach((bytes) =>
        Effect.sync(() => {
          size += bytes.byteLength
          if (size <= maxBytes) chunks.push(bytes)
        })
      ),
      Effect.map(() => (size <= maxBytes ? Redacted.make(concat(chunks)) : undefined))
    )
  }

  const readText =
    (name: "stdout" | "stderr"): Reader =>
    (stream, started) =>
      Effect.map(textReader(redactor), (reader) => {
        const print = Effect.forEach(
          (line: string) => {
            if (line.trim() === "") return Effect.void
            remember(line)
            return sink.log(phase, name, line)
          },
          { discard: true }
        )
        return {
          read: stream.pipe(
            Stream.tap(() => (name === "stdout" ? started.open : Effect.void)),
            Stream.runForEach((bytes) => Effect.uninterruptible(Effect.flatMap(reader.push(bytes), print))),
            Effect.as(undefined)
          ),
          rest: Effect.flatMap(reader.end, print)
        }
      })

  const readOutput: Reader = (stream, started) => {
    switch (output.kind) {
      case "messages":
        return readMessages(stream, started)
      case "document":
        return Effect.succeed({ read: readDocument(stream, output.maxBytes), rest: Effect.void })
      case "text":
        return readText("stdout")(stream, started)
    }
  }

  /**
   * Reads in the background. Text that is still held back when the output ends is released once, regardless of the reason for the
   * end.
   */
  const reading = Effect.fnUntraced(function* (
    reader: Reader,
    stream: SandboxProcess["stdout"],
    started: Latch.Latch
  ): Effect.fn.Return<Effect.Effect<Document>, never, Scope.Scope> {
    const { read, rest } = yield* reader(stream, started)
    const showRest = yield* Effect.cached(Effect.uninterruptible(rest))
    yield* Effect.addFinalizer(() => showRest)
    const fiber = yield* read.pipe(
      Effect.orElseSucceed(() => undefined),
      Effect.forkScoped
    )
    return Fiber.join(fiber).pipe(
      Effect.timeoutOption(longestDrain),
      Effect.map(Option.getOrUndefined),
      Effect.tap(() => Effect.andThen(Fiber.interrupt(fiber), showRest))
    )
  })

  return yield* Effect.gen(function* () {
    const started = yield* Latch.make()
    const process = yield* box.spawn(run.command)
    const outputRead = yield* reading(readOutput, process.stdout, started)
    const errorsRead = yield* reading(readText("stderr"), process.stderr, started)

    const stopping = yield* Deferred.make<"cancelled" | "timed_out">()
    yield* Effect.sleep(run.timeout).pipe(
      Effect.andThen(Deferred.succeed(stopping, "timed_out" as const)),
      Effect.forkScoped
    )
    yield* cancel.requested.pipe(Effect.andThen(Deferred.succeed(stopping, "cancelled" as const)), Effect.forkScoped)
    const killed = yield* Ref.make(false)
    yield* Deferred.await(stopping).pipe(
      Effect.andThen(
        Effect.timeoutOption(started.await, Duration.min(longestStart, Duration.fromInputUnsafe(run.grace)))
      ),
      Effect.andThen(process.interrupt),
      Effect.andThen(Effect.sleep(run.grace)),
      Effect.andThen(Ref.set(killed, true)),
      Effect.andThen(process.kill),
      Effect.forkScoped
    )

    const end = yield* process.end
    const limit = end._tag === "exited" && end.code === 0 ? undefined : yield* process.exceeded
    const sandboxKilled = limit !== undefined || (yield* Ref.get(killed))
    const stopped = (yield* Deferred.isDone(stopping)) ? yield* Deferred.await(stopping) : undefined
    // Processes that the program started may have outlived it.
    yield* process.kill
    const document = yield* outputRead
    yield* errorsRead

    const code = end._tag === "exited" && !sandboxKilled ? end.code : undefined
    const finished: ToolEnd = {
      ending:
        code === 0 && stopped !== "cancelled"
          ? "exited"
          : limit !== undefined
            ? "killed"
            : (stopped ?? (end._tag === "exited" ? "exited" : "killed")),
      code,
      sandboxKilled,
      limit,
      diagnostics,
      document,
      lastLines
    }
    return finished
  }).pipe(Effect.scoped)
})
