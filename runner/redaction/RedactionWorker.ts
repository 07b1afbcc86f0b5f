// Entry point of a worker thread, and an additional entry point of a compiled binary. Loads only the redactor.
import { parentPort } from "node:worker_threads"
import * as Redacted from "effect/Redacted"
import type { RedactionAnswer, RedactionRequest } from "./RedactionMessage.ts"
import type { RedactedLine, RedactionLines } from "./RedactionLines.ts"
import type { RedactionStream } from "./RedactionStream.ts"
import { Redactor } from "./Redactor.ts"

interface Opened {
  readonly redactor: Redactor
  readonly streams: Map<number, RedactionStream>
  readonly lines: Map<number, RedactionLines>
}

const opened = new Map<number, Opened>()

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
const answer = (message: RedactionAnswer) => parentPort?.postMessage(message)

const openedAs = (id: number): Opened => {
  const known = opened.get(id) ?? {
    redactor: new Redactor(),
    streams: new Map<number, RedactionStream>(),
    lines: new Map<number, RedactionLines>()
  }
  opened.set(id, known)
  return known
}

const texts = (request: RedactionRequest): ReadonlyArray<RedactedLine> => {
  if (request.kind === "close") {
    opened.delete(request.redactor)
    return []
  }
  const { lines, redactor, streams } = openedAs(request.redactor)
  switch (request.kind) {
    case "add":
      if (request.addressKey !== undefined) redactor.keyAddresses(request.addressKey)
      redactor.add(request.secrets.map(({ origin, value }) => ({ origin, value: Redacted.make(value) })))
      return []
    case "items":
      return request.items.map((item) => redactor.item(item))
    case "stream": {
      const stream = streams.get(request.stream) ?? redactor.stream()
      if (request.last) streams.delete(request.stream)
      else streams.set(request.stream, stream)
      return [request.last ? stream.end(request.text, true) : stream.push(request.text)]
    }
    case "lines": {
      const stream = lines.get(request.stream) ?? redactor.lines()
      if (request.last) lines.delete(request.stream)
      else lines.set(request.stream, stream)
      const decided = stream.push(request.lines)
      return request.last ? [...decided, ...stream.end()] : decided
    }
  }
}

parentPort?.on("message", (request: RedactionRequest) => {
  try {
    answer({ kind: "texts", id: request.id, texts: texts(request) })
  } catch {
    // Drop the error, because its message may contain a secret.
    answer({ kind: "failed", id: request.id })
  }
})
answer({ kind: "ready" })
