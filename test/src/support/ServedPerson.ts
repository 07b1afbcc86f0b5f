import { Context, Effect, Layer, Option, Redacted } from "effect"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { logging } from "../../../src/observability/Logging.ts"
import { migratedFolder } from "../../support/MigratedDatabase.ts"

/** Runs the real server on a separate data folder, in this process, with one signed-in person. */
export const servedPerson = Effect.gen(function* () {
  const dataDir = yield* migratedFolder
  const settings = yield* loadSettings(
    new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", log: "error" })),
    Option.none()
  )
  const services = yield* Layer.build(
    controlPlane(settings).pipe(Layer.provideMerge(logging({ level: "error", format: "json" })))
  )
  const person = { email: "ada@example.com", isOperator: true }
  const { subject } = yield* Context.get(services, Users).create(serviceContext, person)
  const { secret } = yield* Context.get(services, Sessions).open({ subject, method: "password" })
  const { url } = Context.get(services, HttpListener)
  return { cookie: `svc_session=${Redacted.value(secret)}`, dataDir, services, subject, url }
})
