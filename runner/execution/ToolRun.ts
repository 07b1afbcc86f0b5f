import { Deferred, Duration, Effect, Fiber, Latch, Option, Redacted, Ref, type Scope, Stream } from "effect"
import type { RunPhase } from "../../schema/events/RunEvent.ts"
import type { RunDiagnostic } from "../../schema/records/Run.ts"
import type { RedactedLines, RunRedactor } from "../redaction/RunRedactor.ts"
import type { OpenSandbox, SandboxedCommand } from "../sandbox/levels/Level.ts"
import type { LimitExceeded } from "../sandbox/limits/LimitExceeded.ts"
import type { SandboxProcess } from "../sandbox/SandboxProcess.ts"
import type { SandboxSpawnFailed } from "../sandbox/SandboxStatus.ts"
import { textReader } from "../redaction/LogLines.ts"
import type { CancelSignal } from "./CancelSignal.ts"
import { MessageLines, type OutputLine } from "./MessageLines.ts"
import { type RunReport, shownText } from "./RunReport.ts"
import type { RunSink } from "./RunSink.ts"
import { parseToolMessage, type ToolMessage } from "./ToolMessage.ts"
import type { RedactedLine } from "../redaction/RedactionLines.ts"

/** A cleaned line of a tool's output: its text, and the parsed message if the line is a message. */
interface CleanLine {
  readonly text: string
  readonly message?: ToolMessage | undefined
}

/** A line that may still turn out to be part of a secret. */
interface Waiting {
  /** Key of the line's group. The lines of a group must be released in order. */
  readonly order: string | undefined
  /** Builds the line from its redacted part. */
  readonly line: (decided: string) => CleanLine
  /** `hidden`: dropped, because a redaction mark in an earlier line covers this line too. */
  state: "waiting" | "hidden" | CleanLine
}

/** A text that the tool prints line by line. */
interface Origin {
  readonly lines: RedactedLines
  readonly next: Array<Waiting>
  unsent: Array<string>
}

/** Reads the lines of a tool's output. Releases each line as soon as no later line can make it part of a secret. */
interface MessageReader {
  readonly push: (lines: ReadonlyArray<OutputLine>) => Effect.Effect<ReadonlyArray<CleanLine>>
  /** Releases all remaining lines. */
  readonly end: Effect.Effect<ReadonlyArray<CleanLine>>
}

// Key of the group of lines that do not belong to a resource.
const toolItself = ""
const provisionerKey = (address: string, provisioner: string) => JSON.stringify([address, provisioner])

const readLine = ({ cut, text }: OutputLine): CleanLine => ({
  text: cut ? `${text} (cut)` : text,
  message: cut ? undefined : Option.getOrUndefined(parseToolMessage(text))
})

/** Returns the part of a line that belongs to a longer text, and the key of that text. */
const streamed = ({ message, text }: CleanLine): { readonly key: string; readonly text: string } | undefined => {
  if (message === undefined) return { key: toolItself, text }
  if (message._tag === "Text")
    return message.address === undefined ? { key: toolItself, text: message.text } : undefined
  if (message._tag !== "Provisioner" || message.output === undefined || !message.text.endsWith(message.output))
    return undefined
  return { key: provisionerKey(message.address, message.provisioner), text: message.output }
}

const orderOf = (message: ToolMessage | undefined): string | undefined => {
  if (message === undefined) return toolItself
  if (message._tag === "Diagnostic" || message._tag === "EmergencyState") return undefined
  return message.address ?? toolItself
}

/**
 * Redacts secrets in a tool's output, even if they span several messages. The output of each provisioner of a resource is
 * one text, and everything else that the tool prints is another text. A line that may begin a secret waits for the following
 * lines, and delays later messages about the same resource. Other messages do not wait.
 */
const messageReader = (report: RunReport, redactor: RunRedactor): MessageReader => {
  const origins = new Map<string, Origin>()
  let waiting: Array<Waiting> = []

  const opened = Effect.fnUntraced(function* (key: string) {
    const known = origins.get(key)
    if (known !== undefined) return known
    const lines = yield* redactor.openLines
    const origin: Origin = origins.get(key) ?? { lines, next: [], unsent: [] }
    origins.set(key, origin)
    return origin
  })

  const settle = (origin: Origin, decided: ReadonlyArray<RedactedLine>) => {
    for (const text of decided) {
      const entry = origin.next.shift()
      if (entry !== undefined) entry.state = text === undefined ? "hidden" : entry.line(text)
    }
  }

  const send = Effect.fnUntraced(function* (origin: Origin) {
    if (origin.unsent.length === 0) return
    const texts = origin.unsent
    origin.unsent = []
    settle(origin, yield* origin.lines.push(texts))
  })

  const close = Effect.fnUntraced(function* (key: string) {
    const origin = origins.get(key)
    if (origin === undefined) return
    origins.delete(key)
    yield* send(origin)
    settle(origin, yield* origin.lines.end)
  })

  /** Returns the texts that this message completes. */
  const ended = (message: ToolMessage | undefined): ReadonlyArray<string> => {
    if (message?._tag === "Provisioner" && message.output === undefined) {
      return [provisionerKey(message.address, message.provisioner)]
    }
    if (message?._tag !== "Resource" || message.moment === "progress") return []
    const ofResource = JSON.stringify([message.address]).slice(0, -1)
    return [...origins.keys()].filter((key) => key.startsWith(`${ofResource},`))
  }

  const accept = Effect.fnUntraced(function* (raw: CleanLine, cleaned: ToolMessage | undefined) {
    for (const key of ended(raw.message)) yield* close(key)
    const piece = streamed(raw)
    const order = orderOf(raw.message)
    if (piece === undefined) {
      waiting.push({ order, line: (text) => ({ text }), state: { text: cleaned?.text ?? "", message: cleaned } })
      return
    }
    const before = cleaned?._tag === "Provisioner" ? cleaned.text : ""
    const entry: Waiting = {
      order,
      line: (decided) => {
        const text = before + decided
        return { text, message: cleaned === undefined ? undefined : { ...cleaned, text } }
      },
      state: "waiting"
    }
    const origin = yield* opened(piece.key)
    origin.next.push(entry)
    origin.unsent.push(piece.text)
    waiting.push(entry)
  })

  const released = (): ReadonlyArray<CleanLine> => {
    const blocked = new Set<string>()
    const lines: Array<CleanLine> = []
    waiting = waiting.filter(({ order, state }) => {
      const isHeld = state === "waiting" || (order !== undefined && blocked.has(order))
      if (isHeld && order !== undefined) blocked.add(order)
      else if (typeof state !== "string") lines.push(state)
      return isHeld
    })
    return lines
  }

  return {
    push: Effect.fnUntraced(function* (lines: ReadonlyArray<OutputLine>) {
      const read = lines.map(readLine)
      const cleaned = yield* report.cleanMessages(
        read.flatMap(({ message }) => (message === undefined ? [] : [message]))
      )
      let next = 0
      for (const line of read) yield* accept(line, line.message === undefined ? undefined : cleaned[next++])
      for (const origin of origins.values()) yield* send(origin)
      return released()
    }),
    end: Effect.gen(function* () {
      for (const key of origins.keys()) yield* close(key)
      return released()
    })
  }
}

/**
 * The format of a program's standard output.
 *
 * - `messages`: the tool's JSON lines, passed on without secrets; any other line becomes a log line
 * - `document`: one secret document, which is never logged, and is dropped if it is longer than `maxBytes`
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
 * The reason why a program ended.
 * - `cancelled`: the run was cancelled before the program exited, whatever the exit code; after an apply, which may have had
 *   effects, svc also checks the exit code
 * - `exited`: the program exited; also used if the program exceeded its time limit but succeeded - `killed`: something else
 *   killed the program
 */
export type ToolEnding = "exited" | "cancelled" | "timed_out" | "killed"

export interface ToolEnd {
  readonly ending: ToolEnding
  /** Absent if the program was killed. */
  readonly code: number | undefined
  readonly sandboxKilled: boolean
  /** The limit that made svc stop the Run, regardless of what the program itself reported. */
  readonly limit: LimitExceeded | undefined
  /** Without secrets. */
  readonly diagnostics: ReadonlyArray<RunDiagnostic>
  readonly document: Redacted.Redacted<Uint8Array> | undefined
  /** The last cleaned lines that were not messages. If a tool dies without a diagnostic, they are the only explanation. */
  readonly lastLines: ReadonlyArray<string>
}

export interface ToolContext {
  readonly box: OpenSandbox
  readonly sink: RunSink
  readonly report: RunReport
  readonly redactor: RunRedactor
  readonly cancel: CancelSignal
}

/**
 * Formats the lines that the tool's human-readable output contains after the first line of a diagnostic. The tool's JSON
 * messages contain only the first line.
 */
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

/** Reader of an output stream. Run `read` to the end, then `rest` for the remainder. */
type Reader = (
  stream: SandboxProcess["stdout"],
  started: Latch.Latch
) => Effect.Effect<{ readonly read: Effect.Effect<Document, unknown>; readonly rest: Effect.Effect<void> }>

const mostDiagnostics = 200
const mostLastLines = 5
/**
 * Maximum time to wait for the first output before sending a signal. A tool that has printed nothing may not handle signals
 * yet, and would miss its only signal.
 */
const longestStart = Duration.seconds(2)
/**
 * Maximum time to wait for the output to close. A process that left the process group may keep the output open after the
 * program has exited.
 */
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
 * Runs one program to completion and reports its output. On cancellation or at the time limit, sends one SIGINT, and kills
 * the whole sandbox after the grace period. The effect never fails because the program failed.
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
    // Write the journal first, because it must contain every reported change.
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
        // Uninterruptible, so that no data that was taken from the stream is lost.
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

  /** Reads in the background. When the output ends for any reason, releases the remaining held-back text exactly once. */
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
    const { isInstallation = false } = run.command
    // svc keeps the files of an installation. Kill every process that could still write to them before measuring them.
    if (isInstallation) yield* process.kill
    const isSuccess = end._tag === "exited" && end.code === 0
    const exceeded = isSuccess && !isInstallation ? undefined : yield* process.exceeded
    const limit = isSuccess && exceeded?.code !== "folder_limit" ? undefined : exceeded
    const sandboxKilled = limit !== undefined || (yield* Ref.get(killed))
    const stopped = (yield* Deferred.isDone(stopping)) ? yield* Deferred.await(stopping) : undefined
    // Kill processes that outlived the program that started them.
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
