import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CapsuleOrphanedStates } from "../../../actors/commands/capsule/CapsuleOrphanedStates.ts"
import { AdoptionRequest } from "../../../schema/api/OrphanedStateAdoption.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId, OrphanedStateId } from "../../../schema/records/Ids.ts"
import { commandContext, cursorOf, idempotent, pageRequest, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

const normalised = Schema.encodeEffect(AdoptionRequest)

const capsuleOf = (params: { readonly capsuleId: string }) => pathId(CapsuleId, params.capsuleId, "Capsule")
const unfinishedApplyOf = (params: { readonly leftOverStateId: string }) =>
  pathId(OrphanedStateId, params.leftOverStateId, "Left-over state")

export const orphanedStateHandlers = HttpApiBuilder.group(
  SvcApi,
  "leftOverStates",
  Effect.fn(function* (handlers) {
    const leftOvers = yield* CapsuleOrphanedStates
    const capsuleCommands = yield* CapsuleCommands
    return storedAnswers("leftOverStates", handlers).handleAll({
      list: Effect.fnUntraced(function* ({ params, query: { runId, ...query } }) {
        const page = yield* leftOvers.list(yield* capsuleOf(params), { runId }, yield* pageRequest(query))
        return { leftOverStates: page.items, ...cursorOf(page) }
      }),
      read: Effect.fnUntraced(function* ({ params }) {
        return { leftOverState: yield* leftOvers.read(yield* capsuleOf(params), yield* unfinishedApplyOf(params)) }
      }),
      adopt: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* capsuleOf(params)
        const leftOverStateId = yield* unfinishedApplyOf(params)
        const body = yield* Effect.orDie(normalised(payload))
        const request = yield* idempotent(headers, { capsuleId: id, leftOverStateId, body })
        const { replayed, value } = yield* capsuleCommands.AdoptOrphanedState(id, {
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
          leftOverState: yield* capsuleCommands.DiscardOrphanedState(id, {
            context: yield* commandContext,
            leftOverStateId: yield* unfinishedApplyOf(params)
          })
        }
      })
    })
  })
)
