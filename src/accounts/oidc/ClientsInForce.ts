import { Context, Effect, FileSystem, Layer } from "effect"
import { StaticClientsRefused } from "../../../actors/access/issuer/StaticClientConfig.ts"
import { type Replacement, StaticClients } from "../../../actors/access/issuer/StaticClients.ts"
import { readStaticClients } from "./StaticClientFile.ts"

export interface ClientSettings {
  /** Path of the file with clients and resource servers. See docs/oidc.md. */
  readonly clientsFile?: string | undefined
  /** Client that discovery advertises to mobile applications. */
  readonly advertisedClientId?: string | undefined
}

/** Provides the operator's current clients, and a method that reloads them from their file. */
export class ClientsInForce extends Context.Service<
  ClientsInForce,
  {
    /**
     * Reads the file and returns a replacement for the current clients. The replacement changes nothing until it is applied.
     * Returns `undefined` if there is no file. Fails with `StaticClientsRefused` if the file breaks a rule.
     */
    readonly reload: Effect.Effect<Replacement | undefined, StaticClientsRefused>
  }
>()("svc/src/accounts/oidc/ClientsInForce") {
  /**
   * Loads the clients. Fails with `StaticClientsRefused` if the file breaks a rule, or if discovery would advertise a client that
   * does not exist.
   */
  static readonly layer = ({ advertisedClientId, clientsFile }: ClientSettings) =>
    Layer.effect(
      ClientsInForce,
      Effect.gen(function* () {
        const files = yield* FileSystem.FileSystem
        const registered = yield* StaticClients
        const requireAdvertised = Effect.fnUntraced(function* ({ clients }: Pick<StaticClients["Service"], "clients">) {
          if (advertisedClientId === undefined || clients.has(advertisedClientId)) return
          return yield* new StaticClientsRefused({
            message: `SVC_OIDC_CLIENT_ID names ${advertisedClientId}, which the file of SVC_OIDC_CLIENTS_FILE does not have.`
          })
        })
        yield* requireAdvertised(registered)
        const reload = Effect.gen(function* () {
          if (clientsFile === undefined) return undefined
          const replacement = yield* registered.replacement(yield* readStaticClients(clientsFile))
          yield* requireAdvertised(replacement.after)
          return replacement
        }).pipe(Effect.provideService(FileSystem.FileSystem, files), Effect.withSpan("ClientsInForce.reload"))
        return ClientsInForce.of({ reload })
      })
    )
}
