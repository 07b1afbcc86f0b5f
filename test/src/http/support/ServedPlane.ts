import { Clock, Context, Effect, FileSystem, Layer, Option, Redacted, type Scope } from "effect"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../../actors/access/account/AccessTokens.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { serveRepository } from "../../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../../src/testing/git-server/RepositoryWriter.ts"
import { makeClient } from "../../../../src/client/index.ts"
import { controlPlaneOf } from "../../../../src/Composition.ts"
import { listener } from "../../../../src/composition/HttpLayer.ts"
import { machineWith } from "../../../../src/composition/Machine.ts"
import * as Database from "../../../../src/database/Database.ts"
import { Sandbox } from "../../../../runner/sandbox/Sandbox.ts"
import { HttpListener } from "../../../../src/http/HttpListener.ts"
import { logging } from "../../../../src/observability/Logging.ts"
import { loadSettings } from "../../../../src/settings/Settings.ts"
import { cleanupByHand } from "../../../support/ControlPlane.ts"
import { eventually } from "../../../support/Eventually.ts"
import { placeMigratedDatabase } from "../../../support/MigratedDatabase.ts"

interface Sent {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
}

export interface ServedPlaneOptions {
  readonly files: Readonly<Record<string, string>>
  readonly settings?: Readonly<Record<string, string>>
  /** Starts a proxy between the service and the Git server at this origin, and returns the proxy's origin. */
  readonly gitThrough?: (origin: string) => Effect.Effect<string, never, Scope.Scope>
  /** The service's clock; the machine's clock by default. */
  readonly clock?: Clock.Clock
  /** The schedule of the service's cleanup; never by default. */
  readonly cleanup?: Layer.Layer<never>
  /** Wraps the service's writing database client. */
  readonly writer?: Layer.Layer<SqlClient.SqlClient, never, SqlClient.SqlClient>
}

let keys = 0

/** Returns an unused idempotency key. */
export const freshKey = () => {
  keys += 1
  return { "idempotency-key": `served-plane-${keys}` }
}

/** Serves the whole product on a separate port, with a Git repository, one person, their token and their session. */
export const servedPlane = Effect.fnUntraced(function* ({
  cleanup = cleanupByHand,
  clock,
  files,
  gitThrough = Effect.succeed,
  settings = {},
  writer
}: ServedPlaneOptions) {
  const disk = yield* FileSystem.FileSystem
  const folder = yield* disk.makeTempDirectoryScoped({ prefix: "svc-served-" })
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  const commit = (changed: Readonly<Record<string, string>>) => commitFiles({ gitdir, files: { ...changed } })
  yield* commit(files)
  const served = yield* serveRepository({ gitdir })
  const gitOrigin = yield* gitThrough(served.origin)
  const repositoryUrl = served.url.replace(served.origin, gitOrigin)
  const dataDir = `${folder}/data`
  yield* placeMigratedDatabase(dataDir)
  const loaded = yield* loadSettings(
    new Map(
      Object.entries({
        dataDir,
        listen: "127.0.0.1:0",
        log: "error",
        toolDownload: "off",
        gitAllowOrigins: gitOrigin,
        // Runs share the host's network, because creating a network takes as long as a plan.
        runnerNetwork: "host",
        ...settings
      })
    ),
    Option.none()
  )
  const building = Layer.build(
    controlPlaneOf(loaded, {
      http: listener(loaded),
      database: (writer ?? Layer.empty).pipe(Layer.provideMerge(Database.layer)),
      runner: machineWith(loaded, Sandbox.layer)
    }).pipe(Layer.provide(cleanup), Layer.provideMerge(logging({ level: "error", format: "json" })), Layer.fresh)
  )
  const services = yield* clock === undefined ? building : Effect.provideService(building, Clock.Clock, clock)
  const { url } = Context.get(services, HttpListener)
  const { subject } = yield* Context.get(services, Users).create(serviceContext, {
    email: "ada@example.test",
    isOperator: false
  })
  const newToken = Context.get(services, AccessTokens)
    .create(serviceContext, subject, { name: "test", scopes: ["read", "write"] })
    .pipe(Effect.provideService(Clock.Clock, clock ?? (yield* Clock.Clock)))
  const { secret } = yield* newToken
  const session = yield* Context.get(services, Sessions).open({ subject, method: "password" })
  const asPerson = { cookie: `svc_session=${Redacted.value(session.secret)}`, "sec-fetch-site": "same-origin" }
  const client = yield* makeClient({ baseUrl: url, token: secret })
  const [workspace] = (yield* client.workspaces.list({ query: {} })).workspaces
  const workspaceId = workspace?.id ?? (yield* Effect.die(new Error("There is no Workspace")))

  /** Sends the request unchanged, but adds the person's token unless the request has authentication headers. */
  const call = (method: string, path: string, { body, headers = {} }: Sent = {}) =>
    Effect.promise(async () => {
      const presents = Object.hasOwn(headers, "authorization") || Object.hasOwn(headers, "cookie")
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(presents ? {} : { authorization: `Bearer ${Redacted.value(secret)}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
          ...headers
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, body: text === "" ? undefined : JSON.parse(text) }
    })

  const installed = Effect.fnUntraced(function* (
    name: string,
    more: { readonly variables?: Readonly<Record<string, unknown>>; readonly modulePath?: string } = {}
  ) {
    const { body, status } = yield* call("POST", `/api/v1/workspaces/${workspaceId}/install-plans`, {
      headers: freshKey(),
      body: {
        source: { name, url: repositoryUrl, ref: "main" },
        capsule: { name, environment: "test" },
        options: { modulePath: more.modulePath ?? "." },
        ...(more.variables === undefined ? {} : { variables: more.variables })
      }
    })
    if (status !== 201) return yield* Effect.die(new Error(JSON.stringify(body)))
    const { installPlan } = yield* eventually(
      client.installPlans.read({ params: { installPlanId: body.installPlan.id } }),
      ({ installPlan: { nextAction } }) => nextAction !== "reconcile"
    )
    const { capsuleId, planRunId } = installPlan
    if (capsuleId === undefined || planRunId === undefined) {
      return yield* Effect.die(new Error(JSON.stringify(installPlan.diagnostics)))
    }
    return { installPlan, capsuleId, planRunId }
  })

  const ended = (runId: string) =>
    Effect.map(
      eventually(client.runs.read({ params: { runId } }), ({ run }) => !["queued", "running"].includes(run.status)),
      ({ run }) => run
    )

  /** Approves and applies a plan, and returns the apply once it ends. */
  const applied = Effect.fnUntraced(function* (planRunId: string) {
    const { planDigest } = yield* ended(planRunId)
    yield* client.runs.approve({
      params: { runId: planRunId },
      payload: planDigest === undefined ? {} : { planDigest }
    })
    const { run } = yield* client.runs.apply({ params: { runId: planRunId }, headers: {}, payload: {} })
    return yield* ended(run.id)
  })

  const capsule = (capsuleId: string) =>
    Effect.map(client.capsules.read({ params: { capsuleId } }), ({ capsule: found }) => found)

  return {
    applied,
    asPerson,
    /** A new token for the person, to use after the first token has expired. */
    bearer: Effect.map(newToken, (token) => ({ authorization: `Bearer ${Redacted.value(token.secret)}` })),
    call,
    capsule,
    client,
    commit,
    dataDir,
    ended,
    installed,
    repositoryUrl,
    services,
    sql: Context.get(services, SqlClient.SqlClient),
    subject,
    url,
    workspaceId
  }
})
