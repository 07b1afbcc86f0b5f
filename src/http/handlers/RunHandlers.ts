import { Effect, Option, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Capsules } from "../../../actors/commands/capsule/Capsules.ts"
import { estimateCost, Prices } from "../../../actors/ledger/run/CostEstimates.ts"
import { Runs, RunStreams } from "../../../actors/ledger/run/Runs.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { RunGroupId, RunId, StateVersionId } from "../../../schema/records/Ids.ts"
import { Run } from "../../../schema/records/Run.ts"
import { commandContext, maybeIdempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { RunCommands } from "../../../schema/commands/RunCommands.ts"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "../../../schema/api/Middleware.ts"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { Draining } from "../../streams/Draining.ts"
import { subscribe } from "../../streams/LiveSubscription.ts"
import type { RunSequence } from "../../streams/RunFrames.ts"
import { serverSentEvents } from "../../streams/ServerSentEvents.ts"
import { WebSockets } from "../../streams/WebSockets.ts"
import { resumePoint } from "../../streams/LastEventId.ts"
import { Admitted } from "../authorization/Admission.ts"
import { isSameOrigin } from "../../http-kit/CrossSite.ts"
import { Exchange } from "../../http-kit/Exchange.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"

const wantsWebSocket = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["upgrade"]?.toLowerCase() === "websocket"

const wantsEvents = (request: HttpServerRequest.HttpServerRequest) =>
  request.headers["accept"]?.split(",").some((type) => type.trim().startsWith("text/event-stream")) === true

const draining = new ApiError({
  code: "rate_limited",
  message: "The server is restarting. Connect again in a moment.",
  retryAfter: 2
})

const isOwnPage = (request: HttpServerRequest.HttpServerRequest, baseUrl: string) => {
  const origin = new URL(baseUrl).origin
  // Require a matching Origin header, which browsers always send for a WebSocket. Otherwise, a page on another site could
  // use the person's cookie.
  return request.headers["origin"] === origin && isSameOrigin(request.headers, origin)
}

const crossOrigin = new ApiError({
  code: "permission_denied",
  message: "Live streams with a session cookie are for the dashboard's own origin. Other clients send a bearer token."
})

/**
 * If a read of a sequence requests live streaming, responds with a WebSocket or server-sent events, which first replay the
 * entries that follow `after`, and then send new entries. Returns `none` for an ordinary read.
 */
const liveAnswer = Effect.fn("liveAnswer")(function* (
  request: HttpServerRequest.HttpServerRequest,
  runId: RunId,
  sequence: RunSequence,
  after: number | undefined
) {
  const webSocket = wantsWebSocket(request)
  if (!webSocket && !wantsEvents(request)) return Option.none<HttpServerResponse.HttpServerResponse>()
  const admitted = Option.getOrThrow(yield* Admitted)
  const { baseUrl } = yield* HttpSettings
  const caller = yield* Caller
  if (webSocket && admitted.ambient && !isOwnPage(request, baseUrl)) return yield* crossOrigin
  if ((yield* Draining).begun()) return yield* draining
  const subscription = yield* subscribe({
    runId,
    sequence,
    after: webSocket ? (after ?? 0) : yield* resumePoint(request, after),
    subject: caller.subject,
    requestId: caller.requestId,
    recheck: admitted.recheck
  })
  if (!webSocket) return Option.some(yield* serverSentEvents(subscription))
  yield* (yield* WebSockets).admit(caller.subject)
  const { upgrade } = yield* Exchange
  if (upgrade === undefined || !upgrade(subscription)) {
    return yield* invalidRequest("The connection cannot be upgraded to a WebSocket. Use `Accept: text/event-stream`.")
  }
  // A placeholder, which the listener discards because it has already responded with 101.
  return Option.some(HttpServerResponse.empty({ status: 204 }))
})

const defaultSequenceLimit = 500

const applyAnswer = repeatableAnswer(SvcApi.groups.runs.endpoints.apply, Schema.Struct({ run: Run }))
const runOf = (params: { readonly runId: string }) => pathId(RunId, params.runId, "Run")
const groupOf = (params: { readonly runGroupId: string }) => pathId(RunGroupId, params.runGroupId, "Run group")
const stateOf = (params: { readonly stateVersionId: string }) =>
  pathId(StateVersionId, params.stateVersionId, "StateVersion")

export const runHandlers = HttpApiBuilder.group(
  SvcApi,
  "runs",
  Effect.fn(function* (handlers) {
    const runs = yield* Runs
    const runCommands = yield* RunCommands
    const streams = yield* RunStreams
    const capsules = yield* Capsules
    const prices = yield* Prices
    return storedAnswers("runs", handlers).handleAll({
      read: Effect.fnUntraced(function* ({ params }) {
        return { run: yield* runs.read(yield* runOf(params)) }
      }),
      approve: Effect.fnUntraced(function* ({ params, payload }) {
        return { run: yield* runCommands.Approve(yield* runOf(params), { context: yield* commandContext, ...payload }) }
      }),
      apply: Effect.fnUntraced(function* ({ headers, params }) {
        const id = yield* runOf(params)
        const request = yield* maybeIdempotent(headers, { planRunId: id })
        const { replayed, value } = yield* runs.apply(yield* commandContext, id, request)
        return yield* applyAnswer({ run: value }, replayed)
      }),
      cancel: Effect.fnUntraced(function* ({ params, payload }) {
        return {
          run: yield* runCommands.Cancel(yield* runOf(params), {
            context: yield* commandContext,
            ...payload
          })
        }
      }),
      logs: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = yield* runOf(params)
        const live = yield* liveAnswer(request, id, "logs", query.after)
        if (Option.isSome(live)) return live.value
        const page = yield* streams.logs(id, query.after ?? 0, query.limit ?? defaultSequenceLimit)
        return { entries: page.items, nextAfter: page.nextAfter, done: page.done }
      }),
      events: Effect.fnUntraced(function* ({ params, query, request }) {
        const id = yield* runOf(params)
        const live = yield* liveAnswer(request, id, "events", query.after)
        if (Option.isSome(live)) return live.value
        const page = yield* streams.events(id, query.after ?? 0, query.limit ?? defaultSequenceLimit)
        return { events: page.items, nextAfter: page.nextAfter, done: page.done }
      }),
      changeCauses: Effect.fnUntraced(function* ({ params }) {
        return { changeCauses: yield* runs.changeCauses(yield* runOf(params)) }
      }),
      sourceChanges: Effect.fnUntraced(function* ({ params }) {
        return { sourceChanges: yield* runs.sourceChanges(yield* runOf(params)) }
      }),
      cost: Effect.fnUntraced(function* ({ params }) {
        const run = yield* runs.read(yield* runOf(params))
        const planned = run.planRunId === undefined ? run : yield* runs.read(run.planRunId)
        return { cost: { ...estimateCost(prices.table, planned), runId: run.id } }
      }),
      group: Effect.fnUntraced(function* ({ params }) {
        return yield* runs.group(yield* groupOf(params))
      }),
      approveGroup: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* runs.approveGroup(yield* commandContext, yield* groupOf(params), payload)
      }),
      cancelGroup: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* runs.cancelGroup(yield* commandContext, yield* groupOf(params), payload.reason)
      }),
      stateVersion: Effect.fnUntraced(function* ({ params }) {
        return { stateVersion: yield* capsules.stateVersion(yield* stateOf(params)) }
      }),
      rollbackPlan: Effect.fnUntraced(function* ({ params, payload = {} }) {
        return { run: yield* runs.rollbackPlan(yield* commandContext, yield* stateOf(params), payload) }
      })
    })
  })
)
