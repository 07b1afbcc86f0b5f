import { Effect, Stream } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Sources } from "../../actors/ledger/source/Sources.ts"
import { ApiError } from "../../schema/errors/ApiError.ts"
import { SourceId } from "../../schema/records/Ids.ts"
import { AttemptLimits } from "../accounts/AttemptLimits.ts"
import { deliveryOf } from "./DeliveryHeaders.ts"
import { routeOf } from "../http-kit/DeclaredRoute.ts"
import { Exchange } from "../http-kit/Exchange.ts"
import { pathId } from "./handlers/Commands.ts"
import { arrivingBody } from "../http-kit/RequestBody.ts"
import { SourceHooksApi } from "./SourceHooksApi.ts"

/** Maximum size of a delivery. Forges send payloads of up to 25 MB. */
export const mostDeliveryBytes = 25 * 1024 * 1024
/** Maximum number of deliveries to one Source that may be in transit at the same time. */
export const mostDeliveries = 8

const busy = new ApiError({
  code: "verification_unavailable",
  message: `${mostDeliveries} deliveries to this Source are arriving. Send it again in a moment.`,
  retryAfter: 5
})

/**
 * Serves `POST /hooks/sources/{sourceId}`. Passes the raw bytes and the sender's proof to the Source, which accepts or
 * refuses the delivery. The payload is never interpreted or stored, because a delivery can only request a check of the
 * repository.
 */
export const sourceHooks = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const sources = yield* Sources
    const limits = yield* AttemptLimits
    const arriving = new Map<SourceId, number>()

    /** Refuses a delivery if the maximum number of deliveries to the Source is in transit. The sender repeats it later. */
    const inTurn = <A>(id: SourceId, delivery: Effect.Effect<A, ApiError>) =>
      Effect.suspend(() => {
        const others = arriving.get(id) ?? 0
        if (others >= mostDeliveries) return Effect.fail(busy)
        arriving.set(id, others + 1)
        return Effect.ensuring(
          delivery,
          Effect.sync(() => {
            const left = (arriving.get(id) ?? 1) - 1
            if (left === 0) arriving.delete(id)
            else arriving.set(id, left)
          })
        )
      })

    yield* router.add(
      ...routeOf(SourceHooksApi.endpoints.deliver),
      Effect.gen(function* () {
        const request = yield* HttpServerRequest.HttpServerRequest
        const { sourceId } = yield* HttpRouter.params
        const id = yield* pathId(SourceId, sourceId ?? "", "Source")
        const delivery = deliveryOf(request.headers)
        const { remoteAddress } = yield* Exchange
        yield* limits.consume("delivery", { address: remoteAddress })
        const delivered = sources.hook(id, {
          ...delivery,
          body: Stream.provideService(arrivingBody(mostDeliveryBytes), HttpServerRequest.HttpServerRequest, request)
        })
        const { runIds } = yield* inTurn(id, delivered)
        return HttpServerResponse.jsonUnsafe({ accepted: true, runIds }, { status: delivery.isPing ? 200 : 202 })
      })
    )
  })
)
