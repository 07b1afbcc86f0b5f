import { mkdir, open } from "node:fs/promises"
import { dirname } from "node:path"
import { FileSystem, Effect, Layer, Stream } from "effect"
import { HttpClient, HttpBody, HttpClientRequest, HttpClientResponse } from "effect/http"
import { AgentParty } from "../../runner/agent/AgentParty.ts"
import type { SentFile } from "../../runner/agent/SealedFile.ts"
import { FetchRefused, ServerConnection } from "../../runner/agent/ServerConnection.ts"
import type { ReportBatch, RunClaim } from "../../schema/agent/AgentJob.ts"
import { fittingFiles, type InlineFile } from "../../schema/agent/InlineFile.ts"
import { AgentSession } from "./AgentSession.ts"
import { RetryUntilAnswered, type Problem } from "./RetryUntilAnswered.ts"
import { Busy, Gone, Rejected, Unauthorised } from "../../schema/agent/AgentRefusal.ts"
import { agentPath, type BlobKind, StoredBytes } from "../../schema/agent/Blob.ts"

/* Transfers large files over HTTP in parts, so that after a dropped connection only the missing parts are sent again. */

/**
 * Maximum length of the header. The header is different each time a file is sealed, so a transfer that is interrupted within
 * the header starts again.
 */
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

/** Reads a part of a file, either from memory or from disk. */
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

/** Sends one part of a file, starting at the position that the server reported. Returns the server's new position. */
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

/**
 * Uploads a sealed file. If the caller retries after a failure, the upload resumes at the position that the server reports.
 */
const putBlob = Effect.fnUntraced(function* (
  server: string,
  session: AgentSession["Service"],
  claim: RunClaim,
  file: SentFile
) {
  const request = () => session.authorised(HttpClientRequest.put(addressOf(server, claim, file.kind, file.digest)))
  // The upload may start at any position, because the first response contains the server's position and the server skips repeated
  // parts.
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

/** Downloads a file into `target`. Resumes after the part that is already present. */
const getBlob = Effect.fnUntraced(function* (
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
  // The file is already complete; only the server's response was lost.
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

const longestAnswer = "30 seconds"

interface InlineMessage {
  readonly files?: ReadonlyArray<InlineFile>
  readonly lastReport?: ReportBatch
}

const inlineOf = ({ bytes, digest, kind }: SentFile): ReadonlyArray<InlineFile> =>
  bytes === undefined || kind === "snapshot" || kind === "build" || kind === "left_over"
    ? []
    : [{ kind, digest, bytes }]

/** Returns the digests by which a result refers to its files. */
const digestsOf = (files: ReadonlyArray<SentFile>) => {
  const digests = new Map(files.map(({ digest, kind }) => [kind, digest]))
  const [build, planFile, state] = [digests.get("build"), digests.get("plan_file"), digests.get("state")]
  return {
    outcome: digests.get("outcome") ?? "",
    ...(planFile === undefined ? {} : { planFile }),
    ...(state === undefined ? {} : { state }),
    ...(build === undefined ? {} : { build })
  }
}

/** Implements the connection to a server over HTTP. */
export const httpTransport = Layer.effect(
  ServerConnection,
  Effect.gen(function* () {
    const session = yield* AgentSession
    const { until } = yield* RetryUntilAnswered
    const { identity } = yield* AgentParty
    const context = yield* Effect.context<HttpClient.HttpClient | FileSystem.FileSystem>()
    const { calls } = session
    const said = <A, E>(call: Effect.Effect<A, E>) => Effect.timeout(call, longestAnswer)

    const put = (claim: RunClaim, file: SentFile) =>
      Effect.provideContext(putBlob(identity.server, session, claim, file), context)

    /**
     * Sends a message with its files and, if given, the final report. Files that are too large to send inline are uploaded
     * first. Rebuilds the message if the server is replaced by a release that does not accept inline files. After a timeout,
     * retries without inline files: separate uploads have a longer deadline and can resume.
     */
    const withFiles = (
      claim: RunClaim,
      sent: { readonly files: ReadonlyArray<SentFile>; readonly lastReport?: ReportBatch },
      say: (inline: InlineMessage) => Effect.Effect<void, Problem>
    ) => {
      let isSlow = false
      return Effect.suspend(() => {
        const isCarrying = session.takesFiles() && !isSlow
        const { files, lastReport: batch } = sent
        const inline = isCarrying ? fittingFiles(files.flatMap(inlineOf)) : []
        const others = files.filter(({ kind }) => !inline.some((file) => file.kind === kind))
        const report = isCarrying || batch === undefined ? [] : [until(said(calls.Report({ ...claim, batch })))]
        const message: InlineMessage = {
          ...(inline.length === 0 ? {} : { files: inline }),
          ...(isCarrying && batch !== undefined ? { lastReport: batch } : {})
        }
        const isStale = () => isCarrying && !session.takesFiles()
        const before = [...report, ...others.map((file) => until(put(claim, file)))]
        return Effect.all(before, { concurrency: "unbounded", discard: true }).pipe(
          Effect.andThen(
            until(
              Effect.suspend(() => (isStale() ? Effect.succeed(false) : Effect.as(said(say(message)), true))).pipe(
                Effect.catchIf(
                  (problem) => isCarrying && problem._tag === "TimeoutError",
                  () => {
                    isSlow = true
                    return Effect.succeed(false)
                  }
                )
              )
            )
          )
        )
      }).pipe(Effect.repeat({ until: (isSaid) => isSaid }), Effect.asVoid)
    }

    return ServerConnection.of({
      accept: ({ fence, runId }) => until(said(calls.Accept({ runId, fence }))),
      start: ({ fence, runId }) => until(said(calls.Start({ runId, fence }))),
      report: ({ fence, runId }, batch) =>
        until(said(calls.Report({ runId, fence, batch }))).pipe(Effect.map(({ acknowledged }) => acknowledged)),
      checkpoint: (claim, { file, resourceCount, serial }) =>
        withFiles(claim, { files: [file] }, (inline) =>
          calls.Checkpoint({ ...claim, serial, resourceCount, blob: file.digest, ...inline })
        ),
      result: (claim, { lastBatch, ...sent }) =>
        withFiles(claim, sent, (inline) => calls.Result({ ...claim, lastBatch, ...digestsOf(sent.files), ...inline })),
      handIn: (claim, file) =>
        withFiles(claim, { files: [file] }, () => Effect.asVoid(calls.HandIn({ ...claim, leftOver: file.digest }))),
      fetch: (claim, kind, digest, target) =>
        Effect.promise(() => mkdir(dirname(target), { recursive: true, mode: 0o700 })).pipe(
          Effect.andThen(
            until(
              getBlob(identity.server, session, claim, kind, digest, target).pipe(
                Effect.provideContext(context),
                // Return this error as a value, so that it ends the Run but is not retried.
                Effect.as(undefined),
                Effect.catchTag("FetchRefused", (refused) => Effect.succeed(refused))
              )
            )
          ),
          Effect.flatMap((refused: FetchRefused | undefined) => refused ?? Effect.void)
        )
    })
  })
)
