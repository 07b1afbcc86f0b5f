// A third-party page with the client, which follows a given Run and reports the received events.
import { Actor, layer, Runs, Workspaces } from "@svc-dev/client"
import { Effect, Layer, Redacted, Stream } from "effect"

declare global {
  interface Window {
    readonly follow: (runId: string, token: string) => Promise<ReadonlyArray<string>>
  }
}

const seen = Effect.fn("seen")(function* (runId: string) {
  const runs = yield* Runs
  const workspaces = yield* Workspaces
  const kinds = yield* Stream.runCollect(Stream.map(runs.events(runId), ({ kind }) => kind))
  const { status } = yield* runs.waitFor(runId)
  const { items } = yield* workspaces.page({ limit: 1 })
  return [`${status} ${items.length}`, ...kinds]
})

Object.assign(globalThis, {
  follow: (runId: string, token: string) =>
    Effect.runPromise(
      seen(runId).pipe(
        Effect.provide(Layer.merge(layer({ baseUrl: globalThis.location.origin }), Actor.token(Redacted.make(token))))
      )
    )
})
