import { Context, Effect, Layer, References } from "effect"
import { Operators } from "../../../../actors/access/account/Operators.ts"
import { HttpSettings, implementedFeatures } from "../../../../src/http-kit/HttpSettings.ts"
import { DashboardAssets } from "../../../../src/http/DashboardRoutes.ts"
import { makeWebHandler, type WebHandler } from "../../../../src/http/HttpApplication.ts"
import { AuthorityChanges } from "../../../../src/streams/AuthorityChanges.ts"
import { Draining } from "../../../../src/streams/Draining.ts"
import { RunFeeds } from "../../../../src/streams/RunFeeds.ts"
import { WebSockets } from "../../../../src/streams/WebSockets.ts"
import { checkedAnswers } from "../../../support/description/CheckedAnswers.ts"
import { testDatabase } from "../../../support/Database.ts"
import { fakeActors } from "./FakeActors.ts"
import { fakeRunStreams } from "./FakeRunStreams.ts"
import { remainingGroups } from "./RemainingGroups.ts"
import { seed } from "./World.ts"

export const origin = "http://svc.example.test"

const plainSettings: HttpSettings["Service"] = {
  baseUrl: origin,
  version: "0.0.0",
  displayName: "svc",
  features: implementedFeatures,
  auth: { oidc: false, password: true }
}
export const settings = Layer.succeed(HttpSettings, plainSettings)

const noDashboard = Layer.succeed(DashboardAssets, { assets: Effect.succeed(new Map()) })

/** Live streams backed by in-memory sequences. */
export const live = Layer.mergeAll(WebSockets.layer, RunFeeds.layer, AuthorityChanges.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(fakeRunStreams, Draining.layer))
)

/** The dependencies of the routes: fake services and a real database. */
const serverServicesWith = (more: Partial<HttpSettings["Service"]>) =>
  remainingGroups.pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Layer.succeed(HttpSettings, { ...plainSettings, ...more }),
        noDashboard,
        live,
        fakeActors,
        Operators.layer
      )
    ),
    Layer.provideMerge(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.provideMerge(testDatabase)
  )
export const serverServices = serverServicesWith({})

/** The application as a function, for tests that call it without a socket. */
export class TestApplication extends Context.Service<TestApplication, { readonly handler: WebHandler }>()(
  "test/http/TestApplication"
) {
  /** The real application with fake services and a real database that contains the test data. */
  static readonly layerWith = (more: Partial<HttpSettings["Service"]>) =>
    Layer.effect(
      TestApplication,
      Effect.gen(function* () {
        yield* seed
        return { handler: checkedAnswers(yield* makeWebHandler) }
      })
    ).pipe(Layer.provideMerge(serverServicesWith(more)))
  static readonly layer = TestApplication.layerWith({})
}

/** Builds the same application with a database that the test fills; `instead` and `groups` replace fakes. */
export const applicationWith = <A, E, R, A2, E2, R2>(instead: Layer.Layer<A, E, R>, groups: Layer.Layer<A2, E2, R2>) =>
  Layer.effect(
    TestApplication,
    Effect.map(makeWebHandler, (handler) => ({ handler: checkedAnswers(handler) }))
  ).pipe(
    Layer.provide(groups),
    Layer.provide(Layer.mergeAll(settings, noDashboard, live, fakeActors, Operators.layer, instead))
  )

export const applicationOver = <A, E, R>(instead: Layer.Layer<A, E, R>) => applicationWith(instead, remainingGroups)

/** Sends a request to the application without a socket. */
export const send = Effect.fn("send")(function* (path: string, init: RequestInit = {}) {
  const { handler } = yield* TestApplication
  return yield* Effect.promise(() => handler(new Request(`${origin}${path}`, init)))
})
