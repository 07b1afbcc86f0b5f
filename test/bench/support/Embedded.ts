import { Context, Effect, FileSystem, Layer, Option } from "effect"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { platform } from "../../../src/composition/Platform.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { logging } from "../../../src/observability/Logging.ts"
import { makeClient } from "../../../src/client/index.ts"
import { compileSchemas } from "../../../src/SchemaCompilation.ts"

/** Runs the service in this process with these settings, for measurements below the HTTP layer. */
export const embeddedWith = Effect.fn("embedded")(function* (own: Readonly<Record<string, string>>) {
  const files = yield* FileSystem.FileSystem
  const dataDir = yield* files.makeTempDirectoryScoped({ prefix: "svc-bench-" })
  const given = { dataDir, listen: "127.0.0.1:0", log: "error", toolDownload: "off", ...own }
  const settings = yield* loadSettings(new Map(Object.entries(given)), Option.none())
  const logs = logging({ level: "error", format: "pretty" })
  const services = yield* Layer.build(controlPlane(settings).pipe(Layer.provide(platform), Layer.provideMerge(logs)))
  yield* compileSchemas
  const { port, url } = {
    url: Context.get(services, HttpListener).url,
    port: Context.get(services, HttpListener).address.port
  }
  const user = yield* Context.get(services, Users).create(serviceContext, {
    email: "bench@example.com",
    isOperator: true
  })
  const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, user.subject, {
    name: "bench",
    scopes: ["read", "write"]
  })
  const client = yield* makeClient({ baseUrl: url, token: secret })
  const { workspaces } = yield* client.workspaces.list({ query: {} })
  const workspaceId = workspaces[0]?.id ?? (yield* Effect.die(new Error("The account has no Workspace.")))
  return { services, dataDir, url, port, token: secret, client, workspaceId, subject: user.subject }
})

export const embedded = embeddedWith({})
