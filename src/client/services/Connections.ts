import { Context, Effect, Layer } from "effect"
import { CreateConnection, UpdateConnection } from "../../../schema/api/ConnectionsApi.ts"
import type { Connection } from "../../../schema/records/Connection.ts"
import { everyPage, type Page, pageOf, type PageQuery } from "../Paging.ts"
import { type Plain, requestOf } from "../Plain.ts"
import { SvcClient } from "../SvcClient.ts"
import { type Answer, answered, type Items } from "../SvcError.ts"

export interface ConnectionsShape {
  readonly get: (id: string) => Answer<Connection>
  readonly list: (workspaceId: string) => Items<Connection>
  readonly page: (workspaceId: string, query?: PageQuery) => Answer<Page<Connection>>
  /** Creates a Connection. Its values can be written but never read. */
  readonly create: (request: Plain<CreateConnection>) => Answer<Connection>
  readonly update: (id: string, change: Plain<UpdateConnection>) => Answer<Connection>
  readonly test: (id: string) => Answer<Connection>
  readonly revoke: (id: string) => Answer<Connection>
  /** Removes a Connection. Fails while another record uses it. */
  readonly remove: (id: string) => Answer<void>
}

const newConnection = requestOf(CreateConnection)
const changedConnection = requestOf(UpdateConnection)

const make = Effect.gen(function* () {
  const { connections } = yield* SvcClient
  const page: ConnectionsShape["page"] = (workspaceId, query = {}) =>
    Effect.map(answered(connections.list({ query: { ...query, workspaceId } })), (answer) =>
      pageOf(answer.connections, answer)
    )
  const params = (id: string) => ({ connectionId: id })

  return Connections.of({
    page,
    list: (workspaceId) => everyPage((query) => page(workspaceId, query), {}),
    get: (id) => Effect.map(answered(connections.read({ params: params(id) })), ({ connection }) => connection),
    create: (request) =>
      Effect.flatMap(newConnection(request), (payload) =>
        Effect.map(answered(connections.create({ payload })), ({ connection }) => connection)
      ),
    update: (id, change) =>
      Effect.flatMap(changedConnection(change), (payload) =>
        Effect.map(answered(connections.update({ params: params(id), payload })), ({ connection }) => connection)
      ),
    test: (id) =>
      Effect.map(answered(connections.test({ params: params(id), payload: {} })), ({ connection }) => connection),
    revoke: (id) =>
      Effect.map(answered(connections.revoke({ params: params(id), payload: {} })), ({ connection }) => connection),
    remove: (id) => answered(connections.remove({ params: params(id) }))
  })
})

/** Manages Connections, which contain the credentials that Runs use. */
export class Connections extends Context.Service<Connections, ConnectionsShape>()(
  "svc/src/client/services/Connections"
) {
  static readonly layer: Layer.Layer<Connections, never, SvcClient> = Layer.effect(Connections, make)
}
