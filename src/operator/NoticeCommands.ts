import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { NoticeEndpoints } from "../../actors/access/notice/NoticeEndpoints.ts"
import { NewNoticeEndpoint, NoticeEndpointChange } from "../../schema/api/NoticesApi.ts"
import { serviceContext } from "../../schema/commands/Command.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { NoticeDeliveryId, NoticeEndpointId } from "../../schema/records/Ids.ts"
import { NoticeDelivery, NoticeDeliveryStatus, NoticeEndpoint } from "../../schema/records/NoticeEndpoint.ts"

const endpoint = { id: NoticeEndpointId }

// One member per command, so that a refusal lists only the fields of the given command.
export const NoticeChange = Schema.Union([
  Schema.Struct({ word: Schema.Literal("add"), ...NewNoticeEndpoint.fields }),
  Schema.Struct({ word: Schema.Literal("set"), ...endpoint, ...NoticeEndpointChange.fields }),
  Schema.Struct({ word: Schema.Literal("remove"), ...endpoint }),
  Schema.Struct({ word: Schema.Literal("rotate"), ...endpoint, overlapMinutes: Schema.optionalKey(Schema.Int) }),
  Schema.Struct({ word: Schema.Literal("test"), ...endpoint }),
  Schema.Struct({ word: Schema.Literal("replay"), ...endpoint, deliveryId: NoticeDeliveryId })
])
export type NoticeChange = typeof NoticeChange.Type

/** The server's endpoints after a change, with the secret or the delivery that the change created. */
export const NoticeResult = Schema.Struct({
  endpoints: Schema.Array(NoticeEndpoint),
  secret: Schema.optionalKey(Schema.RedactedFromValue(Schema.String)),
  delivery: Schema.optionalKey(NoticeDelivery)
})
export type NoticeResult = typeof NoticeResult.Type

export const DeliveryRequest = Schema.Struct({ ...endpoint, status: Schema.optionalKey(NoticeDeliveryStatus) })
export type DeliveryRequest = typeof DeliveryRequest.Type

/** Number of newest deliveries to show. */
const shownDeliveries = 50
/** A page limit greater than the maximum number of endpoints, so that one page contains all endpoints. */
const allEndpoints = 100

/** The commands for the server's own notice endpoints, which receive the notices of every Workspace. Each change is audited. */
export class NoticeCommands extends Context.Service<
  NoticeCommands,
  {
    readonly list: Effect.Effect<ReadonlyArray<NoticeEndpoint>, ApiError>
    readonly change: (change: NoticeChange) => Effect.Effect<NoticeResult, ApiError>
    readonly deliveries: (request: DeliveryRequest) => Effect.Effect<ReadonlyArray<NoticeDelivery>, ApiError>
  }
>()("svc/src/operator/NoticeCommands") {
  static readonly layer = Layer.effect(
    NoticeCommands,
    Effect.gen(function* () {
      const endpoints = yield* NoticeEndpoints
      const list = Effect.map(endpoints.list("operator", { limit: allEndpoints }), ({ items }) => items)

      const rotated = Effect.fnUntraced(function* ({ id, overlapMinutes }: Extract<NoticeChange, { word: "rotate" }>) {
        const { secretVersion = 0 } = yield* endpoints.read("operator", id)
        const request = { secretVersion, ...(overlapMinutes === undefined ? {} : { overlapMinutes }) }
        return yield* endpoints.rotate(serviceContext, "operator", id, request)
      })

      const changed = (request: NoticeChange) => {
        switch (request.word) {
          case "add": {
            const { word: _, ...given } = request
            return Effect.map(endpoints.create(serviceContext, "operator", given), ({ value }) => value)
          }
          case "set": {
            const { id, word: _, ...change } = request
            return Effect.as(endpoints.update(serviceContext, "operator", id, change), {})
          }
          case "remove":
            return Effect.as(endpoints.remove(serviceContext, "operator", request.id), {})
          case "rotate":
            return Effect.map(rotated(request), ({ value }) => value)
          case "test":
            return Effect.map(endpoints.test(serviceContext, "operator", request.id), ({ value }) => ({
              delivery: value
            }))
          case "replay":
            return Effect.map(
              endpoints.replay(serviceContext, "operator", request.id, request.deliveryId),
              (delivery) => ({ delivery })
            )
        }
      }

      const change = Effect.fn("NoticeCommands.change")(function* (request: NoticeChange) {
        const done: { readonly secret?: string; readonly delivery?: NoticeDelivery } = yield* changed(request)
        yield* Effect.logInfo(`Done for an operator: svc admin notices ${request.word}`)
        return {
          endpoints: yield* list,
          ...(done.secret === undefined ? {} : { secret: Redacted.make(done.secret) }),
          ...(done.delivery === undefined ? {} : { delivery: done.delivery })
        }
      })

      return NoticeCommands.of({
        list,
        change,
        deliveries: ({ id, status }) =>
          Effect.map(endpoints.deliveries("operator", id, { status }, { limit: shownDeliveries }), ({ items }) => items)
      })
    })
  )
}
