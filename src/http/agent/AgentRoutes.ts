import { ByteSize, Effect, Layer, Option, Schema, Stream } from "effect"
import { type Headers, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { RpcSerialization, RpcServer } from "effect/rpc"
import { AgentBlobs, type BlobRefused } from "../../../actors/running/agent/AgentBlobs.ts"
import { AgentClaims } from "../../../actors/running/agent/AgentClaims.ts"
import { AgentEvidence } from "../../../actors/running/agent/AgentEvidence.ts"
import { AgentFiles } from "../../../actors/running/agent/AgentFiles.ts"
import { AgentMonitor } from "../../../actors/running/agent/AgentMonitor.ts"
import { AgentOffers } from "../../../actors/running/agent/AgentOffers.ts"
import { AgentReports } from "../../../actors/running/agent/AgentReports.ts"
import { InlineBlobs } from "../../../actors/running/agent/InlineBlobs.ts"
import { AgentSettlement } from "../../../actors/running/agent/AgentSettlement.ts"
import { now } from "../../../actors/base/Identity.ts"
import { type AgentSession, AgentSessions, sessionSeconds } from "../../../actors/running/agent-pool/AgentSessions.ts"
import { Pools } from "../../../actors/running/agent-pool/Pools.ts"
import { RunLedger } from "../../../actors/ledger/run/RunLedger.ts"
import { readDocument } from "../../../runner/document/Documents.ts"
import { agentProtocol } from "../../../schema/agent/AgentIdentity.ts"
import { RunClaim } from "../../../schema/agent/AgentJob.ts"
import { AgentProtocol } from "../../../schema/agent/AgentProtocol.ts"
import { BlobKind, Digest } from "../../../schema/agent/Blob.ts"
import { inlineFilesCapability } from "../../../schema/agent/InlineFile.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import type { JsonLimits } from "../../../schema/json/JsonLimits.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { AuthorityChanges, untilRefused } from "../../streams/AuthorityChanges.ts"
import { AgentApi } from "./AgentApi.ts"
import { routeOf } from "../../http-kit/DeclaredRoute.ts"
import { Exchange } from "../../http-kit/Exchange.ts"
import { readBodyBytes } from "../../http-kit/RequestBody.ts"

/** Interval, in seconds, at which an agent renews its leases. A cancellation reaches the agent within this time. */
const renewSeconds = 1
/** Maximum size of a command's body. The largest command is a batch of reports. */
const mostCommandBytes = 4 * 1024 * 1024
/** Maximum size of a body in a request without a session. The largest body is the greeting of an agent with many Runs. */
export const mostStrangerBytes = 64 * 1024
const commandLimits: JsonLimits = {
  maxBytes: mostCommandBytes,
  maxDepth: 64,
  maxNodes: 500_000,
  maxKeyBytes: 1024,
  maxStringBytes: mostCommandBytes
}

const newline = 0x0a
/** Returns true if the body contains one message. Agents send each message in a separate request. */
const isOneMessage = (body: Uint8Array): boolean => {
  const end = body.indexOf(newline)
  return end === -1 || end === body.length - 1
}
const notOneMessage = new ApiError({
  code: "invalid_request",
  message: "The body is not one message. Send one JSON object, followed by a line break."
})

const noSuchRoute = new ApiError({
  code: "not_found",
  message: "There is no such route. The routes are listed at /openapi.json."
})

const bearerOf = (headers: Headers.Headers): string | undefined =>
  /^bearer (\S+)$/i.exec(headers["authorization"] ?? "")?.[1]

const handlers = AgentProtocol.toLayer(
  Effect.gen(function* () {
    const sessions = yield* AgentSessions
    const claims = yield* AgentClaims
    const offers = yield* AgentOffers
    const reports = yield* AgentReports
    const settlement = yield* AgentSettlement
    const evidence = yield* AgentEvidence
    const monitor = yield* AgentMonitor

    const sessionOf = ({ headers }: { readonly headers: Headers.Headers }) => sessions.of(bearerOf(headers))

    /** Performs the writes of a request. The writes are atomic, so the request may be cut off at any time. */
    const written = <A, E>(
      options: { readonly headers: Headers.Headers },
      write: (session: AgentSession) => Effect.Effect<A, E>
    ) => Effect.uninterruptible(Effect.flatMap(sessionOf(options), write))

    return AgentProtocol.of({
      Challenge: ({ agentId }) => sessions.challenge(agentId),
      Enrol: (enrolment) => sessions.enrol(enrolment),
      Hello: Effect.fnUntraced(function* ({ held, ...greeting }) {
        const { secret, session } = yield* sessions.begin(greeting)
        for (const { stage, ...claim } of held) if (stage === "left") yield* monitor.abandoned(session, claim)
        return {
          session: secret,
          sessionSeconds,
          pool: session.agent.pool,
          protocol: agentProtocol,
          capabilities: [inlineFilesCapability],
          orders: yield* Effect.forEach(held, (claim) => claims.orderOf(session, claim)),
          renewSeconds,
          serverTime: yield* now
        }
      }),
      Next: Effect.fnUntraced(function* (request, options) {
        const session = yield* sessionOf(options)
        yield* sessions.mayTakeRuns(session)
        const offer = yield* offers.next(session, request)
        return {
          ...(Option.isSome(offer) ? { offer: offer.value } : {}),
          drain: session.agent.drain_requested_at !== null
        }
      }),
      Accept: (claim, options) => written(options, (session) => offers.accept(session, claim)),
      Decline: ({ reason, ...claim }, options) => written(options, (session) => offers.decline(session, claim, reason)),
      Start: (claim, options) => written(options, (session) => offers.start(session, claim)),
      Renew: Effect.fnUntraced(function* ({ held, leaving = false, unansweredSeconds, ...said }, options) {
        const session = yield* sessionOf(options)
        yield* sessions.described(session, said)
        const renewed = yield* reports.renew(session, held, unansweredSeconds)
        if (leaving) yield* sessions.leave(session)
        return { ...renewed, drain: session.agent.drain_requested_at !== null }
      }),
      Report: ({ batch, ...claim }, options) => written(options, (session) => reports.report(session, claim, batch)),
      Checkpoint: (checkpoint, options) => written(options, (session) => reports.checkpoint(session, checkpoint)),
      Result: (result, options) =>
        written(options, (session) =>
          // Run this step even for a blob that is already stored, because an earlier request may have failed before this
          // step.
          Effect.andThen(
            reports.result(session, result),
            settlement.begin({ runId: result.runId, fence: result.fence })
          )
        ),
      HandIn: (left, options) => written(options, (session) => evidence.handIn(session, left))
    })
  })
)

const refusals: Readonly<Record<BlobRefused["reason"], number>> = {
  too_large: 413,
  wrong_digest: 422,
  damaged: 422,
  missing: 404,
  storage: 503
}

const sessionOver = new ApiError({ code: "unauthenticated", message: "The session is over. Begin another." })

const said = (status: number, message: string) => HttpServerResponse.jsonUnsafe({ message }, { status })

const Address = Schema.Struct({
  runId: RunClaim.fields.runId,
  fence: Schema.FiniteFromString.check(Schema.isInt()),
  kind: BlobKind,
  digest: Digest
})

/** Parses `bytes A-B/T`, or `bytes * /T` (without the space), which queries the stored size. */
const rangeOf = (text: string | undefined): { readonly from: number; readonly total: number } | undefined => {
  const [, from, to, total] = /^bytes (?:(\d{1,15})-(\d{1,15})|\*)\/(\d{1,15})$/.exec(text ?? "") ?? []
  if (total === undefined) return undefined
  if (from === undefined || to === undefined) return { from: 0, total: Number(total) }
  return Number(from) <= Number(to) && Number(to) < Number(total)
    ? { from: Number(from), total: Number(total) }
    : undefined
}

const blobRoutes = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const pools = yield* Pools
    const sessions = yield* AgentSessions
    const claims = yield* AgentClaims
    const ledger = yield* RunLedger
    const files = yield* AgentFiles
    const blobs = yield* AgentBlobs
    const inline = yield* InlineBlobs
    const authority = yield* AuthorityChanges

    /** Ends a transfer as soon as the session ends, because the transfer could otherwise continue for a long time. */
    const untilOver = (session: AgentSession) =>
      untilRefused(
        authority,
        Effect.flatMap(sessions.stands(session), (stands) => (stands ? Effect.void : sessionOver))
      )

    const asked = Effect.gen(function* () {
      if (!(yield* pools.exist)) return yield* noSuchRoute
      const request = yield* HttpServerRequest.HttpServerRequest
      const session = yield* sessions
        .of(bearerOf(request.headers))
        .pipe(Effect.mapError(({ message }) => new ApiError({ code: "unauthenticated", message })))
      const address = yield* Schema.decodeUnknownEffect(Address)(yield* HttpRouter.params).pipe(
        Effect.mapError(() => noSuchRoute)
      )
      return { request, session, ...address }
    })

    yield* router.add(
      ...routeOf(AgentApi.endpoints.fetchBlob),
      Effect.gen(function* () {
        const { digest, fence, kind, request, runId, session } = yield* asked
        const found = yield* Effect.option(files.find(session, { runId, fence }, kind, digest))
        if (Option.isNone(found)) return said(410, "The Run is not this agent's any more.")
        if (Option.isNone(found.value)) return said(404, `The Run has no ${kind} with this digest.`)
        const { bytes, totalBytes } = found.value.value
        const [, text] = /^bytes=(\d{1,15})-$/.exec(request.headers["range"] ?? "") ?? []
        const from = text === undefined ? 0 : Number(text)
        if (from > totalBytes) return said(416, "The range begins after the end.")
        return HttpServerResponse.stream(Stream.haltWhen(bytes(from), untilOver(session)), {
          status: text === undefined ? 200 : 206,
          contentType: "application/octet-stream",
          contentLength: totalBytes - from,
          headers: {
            etag: `"${digest}"`,
            "accept-ranges": "bytes",
            "cache-control": "no-store",
            ...(text === undefined ? {} : { "content-range": `bytes ${from}-${totalBytes - 1}/${totalBytes}` })
          }
        })
      })
    )

    yield* router.add(
      ...routeOf(AgentApi.endpoints.storeBlob),
      Effect.gen(function* () {
        const { digest, fence, kind, request, runId, session } = yield* asked
        const claim = { runId, fence }
        const range = rangeOf(request.headers["content-range"])
        if (kind === "snapshot" || range === undefined) return said(400, "Send `Content-Range: bytes A-B/T`.")
        const row = Option.getOrUndefined(yield* claims.find(session, claim))
        const isHeld = (yield* ledger.held({ ...claim, owner: session.agent.id })) !== undefined
        const isOpen =
          row !== undefined &&
          // After the result has arrived, accept only parts of blobs that are already stored, so that a repeated part is
          // acknowledged.
          (row.result !== null
            ? (yield* blobs.isComplete(claim, kind, digest)) || (yield* inline.isStored(claim, kind, digest))
            : // The report of an apply's left-over state may arrive after the Run's end, because that is its purpose.
              kind === "left_over"
              ? row.kind === "apply"
              : isHeld)
        if (!isOpen) return said(410, "The Run is not this agent's any more.")
        const exchange = yield* Exchange
        return yield* blobs.put(claim, kind, digest, { ...range, bytes: request.stream }).pipe(
          Effect.raceFirst(untilOver(session)),
          Effect.tap(() => Effect.sync(exchange.bodyReceived)),
          Effect.map((stored) => HttpServerResponse.jsonUnsafe(stored)),
          Effect.catchTag("BlobRefused", ({ message, reason }) => Effect.succeed(said(refusals[reason], message))),
          Effect.catchTag("HttpServerError", () => Effect.succeed(said(400, "The body did not arrive whole.")))
        )
      })
    )
  })
)

/**
 * Creates a serialization for a protocol whose messages have already been read: each request contains a key that refers to
 * the message, instead of the message itself. The protocol's own parser has no limits, and would read a message of any
 * length on the thread that handles requests.
 */
const readMessages = () => {
  const messages = new Map<string, unknown>()
  let count = 0
  const serialization = RpcSerialization.RpcSerialization.of({
    ...RpcSerialization.ndjson,
    makeUnsafe: () => ({
      ...RpcSerialization.ndjson.makeUnsafe(),
      decode: (name) => (typeof name === "string" && messages.has(name) ? [messages.get(name)] : [])
    })
  })
  /** Runs the effect for a request that contains this message. */
  const withMessage = <A, E, R>(message: unknown, effect: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
        count += 1
        const name = String(count)
        messages.set(name, message)
        const named: HttpServerRequest.HttpServerRequest = Object.create(request, {
          text: { value: Effect.succeed(name) }
        })
        return { name, named }
      }),
      ({ named }) => Effect.provideService(effect, HttpServerRequest.HttpServerRequest, named),
      ({ name }) => Effect.sync(() => messages.delete(name))
    )
  return { serialization, withMessage }
}

const commandRoute = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const pools = yield* Pools
    const sessions = yield* AgentSessions
    const limits = yield* AttemptLimits
    const { serialization, withMessage } = readMessages()
    const answer = yield* RpcServer.toHttpEffect(AgentProtocol, {
      disableFatalDefects: true,
      disableTracing: true
    }).pipe(Effect.provideService(RpcSerialization.RpcSerialization, serialization))
    yield* router.add(
      ...routeOf(AgentApi.endpoints.command),
      Effect.gen(function* () {
        if (!(yield* pools.exist)) return yield* noSuchRoute
        const request = yield* HttpServerRequest.HttpServerRequest
        const isKnown = Option.isSome(yield* Effect.option(sessions.of(bearerOf(request.headers))))
        const { remoteAddress } = yield* Exchange
        if (!isKnown) yield* limits.consume("agent", { address: remoteAddress })
        const body = yield* isKnown ? readBodyBytes(mostCommandBytes, "5 minutes") : readBodyBytes(mostStrangerBytes)
        if (!isOneMessage(body)) return yield* notOneMessage
        const message = yield* Effect.mapError(readDocument("json", body, commandLimits), () => notOneMessage)
        return yield* withMessage(message, answer)
      }).pipe(Effect.provideService(HttpServerRequest.MaxBodySize, ByteSize.bytes(mostCommandBytes)))
    )
  })
).pipe(Layer.provide(handlers))

/** Routes for agents. The paths exist only if the server has a pool. */
export const agentRoutes = Layer.mergeAll(commandRoute, blobRoutes)
