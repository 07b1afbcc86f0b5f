import { open } from "node:fs/promises"
import { Effect, FileSystem, Stream } from "effect"
import { HttpBody, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import type { RunClaim } from "../../schema/agent/AgentJob.ts"
import { Busy, Gone, Rejected, Unauthorised } from "../../schema/agent/AgentRefusal.ts"
import { agentPath, type BlobKind, StoredBytes } from "../../schema/agent/Blob.ts"
import { FetchRefused } from "../../runner/agent/ServerLine.ts"
import type { SentFile } from "../../runner/agent/SealedFile.ts"
import type { AgentSession } from "./AgentSession.ts"

/* Large files over plain HTTP, in parts: parts that arrived before the connection dropped are not sent again. */

/** The header of a sealed file is different each time: a transfer interrupted within it starts again. */
const longestHead = 8 * 1024
const partBytes = 4 * 1024 * 1024
const longestPart = "10 minutes"

const addressOf = (server: string, { fence, runId }: RunClaim, kind: BlobKind, digest: string) =>
  `${server}${agentPath}/runs/${runId}/${fence}/${kind}/${digest}`

const statuses = { partial: 206, unauthorised: 401, forbidden: 403, missing: 404, gone: 410, range: 416 } as const
const firstServerError = 500
const firstRefusal = 400

const refusedBy = (status: number) => {
  if (status === statuses.unauthorised) return new Unauthorised({ message: "The session is over.", retry: true })
  if (status === statuses.gone) return new Gone({ message: "The Run is not this agent's any more." })
  if (status >= firstServerError) return new Busy({ message: `The server answered ${status}.`, retryAfterSeconds: 1 })
  return new Rejected({ message: `The server answered ${status} to a file.` })
}

/** Part of a file, read from memory if it is there. */
const partOf = ({ bytes, path, sizeBytes }: SentFile, from: number) =>
  bytes === undefined
    ? Effect.acquireUseRelease(
        Effect.promise(() => open(path, "r")),
        (handle) =>
          Effect.promise(() => {
            const part = Buffer.alloc(Math.min(partBytes, sizeBytes - from))
            return handle.read(part, 0, part.length, from).then(() => new Uint8Array(part))
          }),
        (handle) => Effect.promise(() => handle.close())
      )
    : Effect.succeed(bytes.subarray(from, from + partBytes))

/** Sends one part of a file, starting at the server's position. Returns the server's new position. */
const putPart = (request: HttpClientRequest.HttpClientRequest, file: SentFile, from: number) =>
  Effect.gen(function* () {
    const client = yield* HttpClient.HttpClient
    const bytes = yield* partOf(file, from)
    const response = yield* client
      .execute(
        request.pipe(
          HttpClientRequest.setHeader("content-range", `bytes ${from}-${from + bytes.length - 1}/${file.sizeBytes}`),
          HttpClientRequest.setBody(HttpBody.uint8Array(bytes, "application/octet-stream"))
        )
      )
      .pipe(Effect.timeout(longestPart))
    if (response.status >= firstRefusal) return yield* refusedBy(response.status)
    return yield* HttpClientResponse.schemaBodyJson(StoredBytes)(response).pipe(
      Effect.catchTag("SchemaError", () => new Busy({ message: "The answer is not understood.", retryAfterSeconds: 5 }))
    )
  })

/** Uploads a sealed file. The caller retries after a failure, and the upload resumes at the server's position. */
export const putBlob = Effect.fnUntraced(function* (
  server: string,
  session: AgentSession["Service"],
  claim: RunClaim,
  file: SentFile
) {
  const request = () => session.authorised(HttpClientRequest.put(addressOf(server, claim, file.kind, file.digest)))
  // The first response contains the server's position; the server skips a repeated part.
  let from = 0
  for (;;) {
    const stored = yield* putPart(request(), file, from)
    if (stored.complete) return
    if (stored.storedBytes === from && from > 0) {
      return yield* new Busy({ message: "The server took nothing of a part.", retryAfterSeconds: 1 })
    }
    from = Math.min(stored.storedBytes, file.sizeBytes - 1)
  }
})

/** Downloads a file into `target`, resuming after the part that is already there. */
export const getBlob = Effect.fnUntraced(function* (
  server: string,
  session: AgentSession["Service"],
  claim: RunClaim,
  kind: BlobKind,
  digest: string,
  target: string
) {
  const client = yield* HttpClient.HttpClient
  const files = yield* FileSystem.FileSystem
  const present = yield* files.stat(target).pipe(
    Effect.map(({ size }) => (Number(size) > longestHead ? Number(size) : 0)),
    Effect.orElseSucceed(() => 0)
  )
  const request = session.authorised(HttpClientRequest.get(addressOf(server, claim, kind, digest)))
  const response = yield* client
    .execute(present === 0 ? request : HttpClientRequest.setHeader(request, "range", `bytes=${present}-`))
    .pipe(Effect.timeout(longestPart))
  // The file is already complete: the response was lost.
  if (response.status === statuses.range && present > 0) return
  if (response.status === statuses.missing || response.status === statuses.forbidden) {
    return yield* new FetchRefused({
      message: `A file of this Run (${kind.replaceAll("_", " ")}) is not at the server.`
    })
  }
  if (response.status >= firstRefusal) return yield* refusedBy(response.status)
  const flag = response.status === statuses.partial ? "a" : "w"
  yield* Stream.run(response.stream, files.sink(target, { flag, mode: 0o600 })).pipe(
    Effect.catchTag("PlatformError", ({ message }) => new Busy({ message, retryAfterSeconds: 5 }))
  )
})
