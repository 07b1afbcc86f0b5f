import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { ResourceHistory } from "../../../actors/ledger/state/ResourceHistory.ts"
import { StateResources } from "../../../actors/ledger/state/StateResources.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, StateVersionId } from "../../../schema/records/Ids.ts"
import { cursorOf, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

export const stateResourceHandlers = HttpApiBuilder.group(
  SvcApi,
  "stateResources",
  Effect.fn(function* (handlers) {
    const resources = yield* StateResources
    const histories = yield* ResourceHistory
    return storedAnswers("stateResources", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ params, query }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        const { indexed, stateVersionId, ...page } = yield* resources.list(id, query, yield* pageRequest(query))
        const of = stateVersionId === undefined ? {} : { stateVersionId }
        return { resources: page.items, ...of, indexed, ...cursorOf(page) }
      }),
      history: Effect.fnUntraced(function* ({ params, query }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        const { drift, indexed, ...page } = yield* histories.history(id, query, yield* pageRequest(query))
        return { events: page.items, ...(drift === undefined ? {} : { drift }), indexed, ...cursorOf(page) }
      }),
      difference: Effect.fnUntraced(function* ({ params, query }) {
        const id = yield* pathId(StateVersionId, params.stateVersionId, "StateVersion")
        const { difference, nextCursor } = yield* resources.difference(id, query.from, yield* pageRequest(query))
        return { difference, ...(nextCursor === undefined ? {} : { nextCursor }) }
      })
    })
  })
)
