import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Connections } from "../../../actors/connection/Connections.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { ConnectionId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, cursorOf, notBuilt, pageRequest, pathId } from "./Commands.ts"

const connectionOf = (params: { readonly connectionId: string }) =>
  pathId(ConnectionId, params.connectionId, "Connection")

export const connectionHandlers = HttpApiBuilder.group(
  SvcApi,
  "connections",
  Effect.fn(function* (handlers) {
    const connections = yield* Connections
    return handlers.handleAll({
      list: Effect.fn("connections.list")(function* ({ query }) {
        const page = yield* connections.list(yield* authorisedWorkspace, pageRequest(query))
        return { connections: page.items, ...cursorOf(page) }
      }),
      create: Effect.fn("connections.create")(function* ({ payload }) {
        return { connection: yield* connections.create(yield* commandContext, payload) }
      }),
      test: Effect.fn("connections.test")(function* ({ params }) {
        return { connection: yield* connections.test(yield* commandContext, yield* connectionOf(params)) }
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
      outputShares: notBuilt("Sharing of Outputs"),
      createOutputShare: notBuilt("Sharing of Outputs"),
      approveOutputShare: notBuilt("Sharing of Outputs"),
      revokeOutputShare: notBuilt("Sharing of Outputs")
    })
  })
)
