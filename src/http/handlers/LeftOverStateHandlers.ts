import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CapsuleLeftOvers } from "../../../actors/commands/capsule/CapsuleLeftOvers.ts"
import { AdoptionRequest } from "../../../schema/api/LeftOverAdoption.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, LeftOverStateId } from "../../../schema/records/Ids.ts"
import { commandContext, cursorOf, idempotent, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

const normalised = Schema.encodeEffect(AdoptionRequest)

const capsuleOf = (params: { readonly capsuleId: string }) => pathId(CapsuleId, params.capsuleId, "Capsule")
const leftOverOf = (params: { readonly leftOverStateId: string }) =>
  pathId(LeftOverStateId, params.leftOverStateId, "LeftOverState")

export const leftOverStateHandlers = HttpApiBuilder.group(
  SvcApi,
  "leftOverStates",
  Effect.fn(function* (handlers) {
    const leftOvers = yield* CapsuleLeftOvers
    const capsuleCommands = yield* CapsuleCommands
    return storedAnswers("leftOverStates", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ params, query: { runId, ...query } }) {
        const page = yield* leftOvers.list(yield* capsuleOf(params), { runId }, yield* pageRequest(query))
        return { leftOverStates: page.items, ...cursorOf(page) }
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { leftOverState: yield* leftOvers.read(yield* capsuleOf(params), yield* leftOverOf(params)) }
      }),
      adopt: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* capsuleOf(params)
        const leftOverStateId = yield* leftOverOf(params)
        const body = yield* Effect.orDie(normalised(payload))
        const request = yield* idempotent(headers, { capsuleId: id, leftOverStateId, body })
        const { replayed, value } = yield* capsuleCommands.AdoptLeftOver(id, {
          context: yield* commandContext,
          leftOverStateId,
          request: payload,
          idempotency: request
        })
        return { replayed, ...value }
      }),
      discard: Effect.fnUntraced(function* ({ params }) {
        const id = yield* capsuleOf(params)
        return {
          leftOverState: yield* capsuleCommands.DiscardLeftOver(id, {
            context: yield* commandContext,
            leftOverStateId: yield* leftOverOf(params)
          })
        }
      })
    })
  })
)
