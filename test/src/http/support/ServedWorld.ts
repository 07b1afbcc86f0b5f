import { Effect, Layer, Option, Redacted } from "effect"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { controlPlaneOf } from "../../../../src/Composition.ts"
import { listener } from "../../../../src/composition/HttpLayer.ts"
import { machineWith } from "../../../../src/composition/Machine.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import * as Database from "../../../../src/database/Database.ts"
import { HttpHandler } from "../../../../src/http/HttpApplication.ts"
import { logging } from "../../../../src/observability/Logging.ts"
import { loadSettings } from "../../../../src/settings/Settings.ts"
import { cleanupByHand } from "../../../support/ControlPlane.ts"
import { beforeTransaction } from "../../../support/BeforeTransaction.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"
import type { Route } from "./RouteRequests.ts"
import { TestApplication } from "./TestApplication.ts"
import { seed, world } from "./World.ts"

/**
 * Builds the complete service from real implementations, with the test data. Also lets a test commit changes just before one
 * of the service's transactions.
 */
export const servedWorld = () => {
  const { interruptedRequest, layer: writer } = beforeTransaction()
  const service = Layer.unwrap(
    Effect.gen(function* () {
      const dataDir = yield* migratedFolder
      const settings = yield* loadSettings(
        new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "none", toolDownload: "off" })),
        Option.none()
      )
      return controlPlaneOf(settings, {
        http: listener(settings),
        database: writer.pipe(Layer.provideMerge(Database.layer)),
        runner: machineWith(settings, Sandbox.layer)
      })
    })
  )
  const served = Layer.effect(
    TestApplication,
    Effect.gen(function* () {
      yield* seed
      return { handler: (yield* HttpHandler).handler }
    })
  ).pipe(
    Layer.provideMerge(service),
    // The records in the test data are old enough to be removed.
    Layer.provide(cleanupByHand),
    Layer.provideMerge(logging({ level: "error", format: "json" })),
    Layer.provideMerge(platform),
    Layer.orDie
  )
  return { interruptedRequest, served }
}

const wantsSession = ({ rule }: Route) =>
  (rule.kind === "account" && rule.credential === "session") ||
  (rule.kind === "workspace" && (rule.session === true || rule.confirmed === true))

/**
 * Returns the credential that the owner of Workspace A presents to a route: a token where tokens are accepted, otherwise a
 * session.
 */
export const ownersCredential = Effect.gen(function* () {
  const session = yield* (yield* Sessions).open({ subject: world.ada, method: "password" })
  const token = yield* (yield* AccessTokens).create(serviceContext, world.ada, {
    name: "served world",
    scopes: ["read", "write"]
  })
  const bySession = { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" }
  const byToken = { authorization: `Bearer ${Redacted.value(token.secret)}` }
  return (route: Route): Readonly<Record<string, string>> => (wantsSession(route) ? bySession : byToken)
})
