// Entry point of a worker thread, and an additional entry point of a compiled binary.
import { parentPort } from "node:worker_threads"
import { Result } from "effect"
import type { JsonRefusal } from "../../schema/json/JsonRefusal.ts"
import type { DocumentAnswer, DocumentRequest } from "./DocumentMessage.ts"
import { type DocumentPiece, movedWith, piecesOf } from "./DocumentPieces.ts"
import { documentReadings } from "./DocumentReadings.ts"

const answer = (message: DocumentAnswer) =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
  parentPort?.postMessage(message, message.kind === "piece" ? [...movedWith(message.piece)] : [])

let pieces: Iterator<DocumentPiece> | undefined

const next = (): DocumentAnswer => {
  const found = pieces?.next()
  if (found !== undefined && found.done !== true) return { kind: "piece", piece: found.value }
  pieces = undefined
  return { kind: "end" }
}

const answered = (request: DocumentRequest): DocumentAnswer => {
  if (request.kind === "more") return next()
  const read: Result.Result<unknown, JsonRefusal> = documentReadings[request.document](request.bytes, request.limits)
  if (Result.isFailure(read)) {
    const { message, position, reason } = read.failure
    return { kind: "refused", refusal: { reason, message, ...(position === undefined ? {} : { position }) } }
  }
  pieces = piecesOf(read.success)
  return next()
}

parentPort?.on("message", (request: DocumentRequest) => {
  try {
    answer(answered(request))
  } catch {
    // Drop the error, whose message may contain a secret.
    pieces = undefined
    answer({ kind: "failed" })
  }
})
