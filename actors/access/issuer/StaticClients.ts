import { Context, Effect, Layer } from "effect"
import { IssuerSettings } from "./IssuerSettings.ts"
import type { StaticClientDocument, StaticClientsRefused } from "./StaticClientConfig.ts"
import { registryOf, type StaticRegistry } from "./StaticRegistry.ts"

/**
 * The clients in the operator's configuration, and the client of svc's command line. Read them on each use, because a reload
 * can replace them.
 */
export class StaticClients extends Context.Service<
  StaticClients,
  StaticRegistry & {
    /**
     * Validates a document. Returns the steps that apply the document and that undo the change. Fails with
     * `StaticClientsRefused` if the document is invalid.
     */
    readonly replacement: (document: StaticClientDocument) => Effect.Effect<Replacement, StaticClientsRefused>
  }
>()("svc/actors/access/issuer/StaticClients") {
  /** Provides the service with the clients in a document. Fails with `StaticClientsRefused` if the document is invalid. */
  static readonly layer = (document: StaticClientDocument) =>
    Layer.effect(
      StaticClients,
      Effect.gen(function* () {
        const { issuer } = yield* IssuerSettings
        const judged = (next: StaticClientDocument) =>
          Effect.fromResult(registryOf(next, issuer)).pipe(
            Effect.tap(({ warnings }) =>
              Effect.forEach(warnings, (text) => Effect.logWarning(text), { discard: true })
            ),
            Effect.map(({ registry }) => registry)
          )
        let current = yield* judged(document)
        const put = (registry: StaticRegistry) =>
          Effect.sync(() => {
            current = registry
          })
        return {
          get clients() {
            return current.clients
          },
          get resourceServers() {
            return current.resourceServers
          },
          replacement: Effect.fn("StaticClients.replacement")(function* (next) {
            const before = current
            const after = yield* judged(next)
            return { before, after, apply: put(after), undo: put(before) }
          })
        }
      })
    )
}

/** A validated set of clients, ready to apply. */
export interface Replacement {
  readonly before: StaticRegistry
  readonly after: StaticRegistry
  readonly apply: Effect.Effect<void>
  readonly undo: Effect.Effect<void>
}
