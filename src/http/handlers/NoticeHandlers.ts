import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { NoticeEndpoints } from "../../../actors/access/notice/NoticeEndpoints.ts"
import { NoticeMailChoices } from "../../../actors/base/notice/NoticeMailChoices.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { CreatedNoticeEndpoint } from "../../../schema/api/NoticesApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { NoticeDeliveryId, NoticeEndpointId } from "../../../schema/records/Ids.ts"
import { NoticeDelivery } from "../../../schema/records/NoticeEndpoint.ts"
import {
  authorisedWorkspace,
  commandContext,
  cursorOf,
  maybeIdempotent,
  pageRequest,
  pathId,
  repeatableAnswer
} from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const { createEndpoint, rotateSecret, testEndpoint } = SvcApi.groups.notices.endpoints
const createdAnswer = repeatableAnswer(createEndpoint, CreatedNoticeEndpoint)
const rotatedAnswer = repeatableAnswer(rotateSecret, CreatedNoticeEndpoint)
const testedAnswer = repeatableAnswer(testEndpoint, Schema.Struct({ delivery: NoticeDelivery }))

const scope = Effect.gen(function* () {
  const { subject } = yield* Caller
  return { workspaceId: yield* authorisedWorkspace, subject }
})

const endpointOf = ({ endpointId }: { readonly endpointId: string }) =>
  pathId(NoticeEndpointId, endpointId, "Notice endpoint")
const deliveryOf = ({ deliveryId }: { readonly deliveryId: string }) => pathId(NoticeDeliveryId, deliveryId, "Delivery")

/** Handlers for notice endpoints, their deliveries, and a person's email preferences. */
export const noticeHandlers = HttpApiBuilder.group(
  SvcApi,
  "notices",
  Effect.fn(function* (handlers) {
    const endpoints = yield* NoticeEndpoints
    const mails = yield* NoticeMailChoices
    return storedAnswers("notices", handlers).handleAll({
      endpoints: Effect.fnUntraced(function* ({ query }) {
        const page = yield* endpoints.list(yield* scope, yield* pageRequest(query))
        return { endpoints: page.items, ...cursorOf(page) }
      }),
      createEndpoint: Effect.fnUntraced(function* ({ headers, payload }) {
        const own = yield* scope
        const { filter, ...given } = payload
        const request = yield* maybeIdempotent(headers, { ...own, ...given, filter: { ...filter } })
        const { replayed, value } = yield* endpoints.create(yield* commandContext, own, payload, request)
        return yield* createdAnswer(value, replayed)
      }),
      readEndpoint: Effect.fnUntraced(function* ({ params }) {
        return { endpoint: yield* endpoints.read(yield* scope, yield* endpointOf(params)) }
      }),
      updateEndpoint: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* endpointOf(params)
        return { endpoint: yield* endpoints.update(yield* commandContext, yield* scope, id, payload) }
      }),
      removeEndpoint: Effect.fnUntraced(function* ({ params }) {
        yield* endpoints.remove(yield* commandContext, yield* scope, yield* endpointOf(params))
      }),
      rotateSecret: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* endpointOf(params)
        const request = yield* maybeIdempotent(headers, { endpointId: id, ...payload })
        const { replayed, value } = yield* endpoints.rotate(yield* commandContext, yield* scope, id, payload, request)
        return yield* rotatedAnswer(value, replayed)
      }),
      testEndpoint: Effect.fnUntraced(function* ({ headers, params }) {
        const id = yield* endpointOf(params)
        const request = yield* maybeIdempotent(headers, { endpointId: id })
        const { replayed, value } = yield* endpoints.test(yield* commandContext, yield* scope, id, request)
        return yield* testedAnswer({ delivery: value }, replayed)
      }),
      deliveries: Effect.fnUntraced(function* ({ params, query }) {
        const id = yield* endpointOf(params)
        const page = yield* endpoints.deliveries(yield* scope, id, query, yield* pageRequest(query))
        return { deliveries: page.items, ...cursorOf(page) }
      }),
      readDelivery: Effect.fnUntraced(function* ({ params }) {
        const id = yield* endpointOf(params)
        return { delivery: yield* endpoints.delivery(yield* scope, id, yield* deliveryOf(params)) }
      }),
      replayDelivery: Effect.fnUntraced(function* ({ params }) {
        const id = yield* endpointOf(params)
        const deliveryId = yield* deliveryOf(params)
        return { delivery: yield* endpoints.replay(yield* commandContext, yield* scope, id, deliveryId) }
      }),
      mails: Effect.fnUntraced(function* () {
        return { noticeMails: yield* mails.read((yield* Caller).subject) }
      }),
      chooseMails: Effect.fnUntraced(function* ({ payload }) {
        const { subject } = yield* Caller
        return { noticeMails: yield* mails.choose(yield* commandContext, subject, payload.kinds) }
      })
    })
  })
)
