import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Connections } from "../../../actors/connection/Connections.ts"
import { OutputShares } from "../../../actors/output-share/OutputShares.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ConnectionId, OutputShareId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, notBuilt, pageRequest, pathId } from "./Commands.ts"

const connectionOf = (params: { readonly connectionId: string }) =>
  pathId(ConnectionId, params.connectionId, "Connection")

const shareOf = (params: { readonly shareId: string }) => pathId(OutputShareId, params.shareId, "OutputShare")

export const connectionHandlers = HttpApiBuilder.group(
  SvcApi,
  "connections",
  Effect.fn(function* (handlers) {
    const connections = yield* Connections
    const shares = yield* OutputShares
    return handlers.handleAll({
      list: Effect.fn("connections.list")(function* ({ query }) {
        const page = yield* connections.list(yield* authorisedWorkspace, pageRequest(query))
        return { connections: page.items, ...cursorOf(page) }
      }),
      create: Effect.fn("connections.create")(function* ({ payload }) {
        return { connection: yield* connections.create(yield* commandContext, payload) }
      }),
      test: Effect.fn("connections.test")(function* ({ params }) {
        return yield* connections.test(yield* commandContext, yield* connectionOf(params))
      }),
      read: Effect.fn("connections.read")(function* ({ params }) {
        return { connection: yield* connections.read(yield* connectionOf(params)) }
      }),
      update: Effect.fn("connections.update")(function* ({ params, payload }) {
        return yield* connections.update(yield* commandContext, yield* connectionOf(params), payload)
      }),
      remove: Effect.fn("connections.remove")(function* ({ params }) {
        yield* connections.remove(yield* commandContext, yield* connectionOf(params))
      }),
      confirmOrigins: Effect.fn("connections.confirmOrigins")(function* ({ params, payload }) {
        const id = yield* connectionOf(params)
        return { connection: yield* connections.confirmOrigins(yield* commandContext, id, payload.origins) }
      }),
      revoke: Effect.fn("connections.revoke")(function* ({ params }) {
        return { connection: yield* connections.revoke(yield* commandContext, yield* connectionOf(params)) }
      }),
      startOAuth: notBuilt("A helper for this provider"),
      finishOAuth: notBuilt("A helper for this provider"),
      providerConnections: Effect.fn("connections.providerConnections")(function* ({ query }) {
        const page = yield* connections.list(yield* authorisedWorkspace, pageRequest(query))
        return { providerConnections: page.items.filter(({ kind }) => kind === "provider"), ...cursorOf(page) }
      }),
      recipes: Effect.fn("connections.recipes")(function* () {
        return { credentialRecipes: yield* connections.recipes }
      }),
      outputShares: Effect.fn("connections.outputShares")(function* ({ query }) {
        const page = yield* shares.list(yield* authorisedWorkspace, pageRequest(query))
        return { outputShares: page.items, ...cursorOf(page) }
      }),
      createOutputShare: Effect.fn("connections.createOutputShare")(function* ({ payload }) {
        return { outputShare: yield* shares.create(yield* commandContext, payload) }
      }),
      approveOutputShare: Effect.fn("connections.approveOutputShare")(function* ({ params }) {
        const id = yield* shareOf(params)
        return { outputShare: yield* shares.approve(yield* commandContext, id, yield* authorisedWorkspace) }
      }),
      revokeOutputShare: Effect.fn("connections.revokeOutputShare")(function* ({ params }) {
        const id = yield* shareOf(params)
        return { outputShare: yield* shares.revoke(yield* commandContext, id, yield* authorisedWorkspace) }
      })
    })
  })
)
