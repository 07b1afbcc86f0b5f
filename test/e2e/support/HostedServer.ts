import { Context, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { SqlClient } from "effect/sql"
import { AccessTokens } from "../../../actors/access/account/AccessTokens.ts"
import { transaction } from "../../../actors/base/database/Transaction.ts"
import { Pools } from "../../../actors/running/agent-pool/Pools.ts"
import { Passwords } from "../../../actors/access/account/Passwords.ts"
import { Sessions } from "../../../actors/access/account/Sessions.ts"
import { serveRepository } from "../../../src/testing/git-server/GitServer.ts"
import { commitFiles, createRepository } from "../../../src/testing/git-server/RepositoryWriter.ts"
import { defaultSandboxSettings, SandboxSettings } from "../../../runner/sandbox/SandboxSettings.ts"
import { makeClient } from "../../../src/client/index.ts"
import { controlPlane } from "../../../src/Composition.ts"
import { sessionHeader } from "../../../schema/api/SessionHeader.ts"
import { sessionCookieName } from "../../../src/http-kit/HttpSettings.ts"
import { Users } from "../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../schema/commands/Command.ts"
import { HttpListener } from "../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../src/settings/Settings.ts"
import { providerMirror } from "../../support/ProviderMirror.ts"
import { placeMigratedDatabase } from "../../support/MigratedDatabase.ts"

/** The server's public address in links. Tests connect over loopback. */
export const publicOrigin = "https://svc.example.test"
export const appOrigin = "https://app.example.test"
/** Password of the person on a {@link hostedServer}. */
export const personPassword = "correct horse battery staple"

const policy = {
  repositoryInstallUx: { allowedOidcScopes: ["openid"] },
  endpoints: [{ workspace: "acme", capsule: "app", environment: "test", url: appOrigin }]
}

/** Serves the entire product over HTTP, with an operator policy, a Git repository, a provider mirror and one person. */
export const hostedServer = Effect.fnUntraced(function* (
  repositoryFiles: Readonly<Record<string, string>>,
  moreSettings: Readonly<Record<string, string>> = {}
) {
  const files = yield* FileSystem.FileSystem
  const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-hosted-" })
  const gitdir = `${folder}/repository.git`
  yield* createRepository({ gitdir })
  yield* commitFiles({ gitdir, files: { ...repositoryFiles } })
  const repository = yield* serveRepository({ gitdir })
  const mirror = yield* providerMirror
  const policyFile = `${folder}/policy.json`
  yield* files.writeFileString(policyFile, JSON.stringify(policy))
  const dataDir = `${folder}/data`
  yield* placeMigratedDatabase(dataDir)
  const settings = yield* loadSettings(
    new Map(
      Object.entries({
        dataDir,
        listen: "127.0.0.1:0",
        baseUrl: publicOrigin,
        log: "error",
        policyFile,
        gitAllowOrigins: repository.origin,
        providerMirror: mirror.path,
        providerMirrorRequired: "true",
        // Runs share the host's network, because creating a network takes as long as a plan.
        runnerNetwork: "host",
        ...moreSettings
      })
    ),
    Option.none()
  )
  const sandboxed = Layer.succeed(SandboxSettings, {
    ...defaultSandboxSettings,
    extraReadOnly: [mirror.interpreter],
    extraWritable: [mirror.notesDir]
  })
  const services = yield* Layer.build(Layer.fresh(controlPlane(settings)).pipe(Layer.provide(sandboxed)))
  const { url } = Context.get(services, HttpListener)
  const { subject } = yield* Context.get(services, Users).create(serviceContext, {
    email: "ada@example.test",
    isOperator: false,
    passwordHash: yield* Context.get(services, Passwords).hash(Redacted.make(personPassword))
  })
  const open = Context.get(services, Sessions).open({ subject, method: "password" })
  const session = yield* open
  const { secret } = yield* Context.get(services, AccessTokens).create(serviceContext, subject, {
    name: "test",
    scopes: ["read", "write"]
  })
  const cookieOf = ({ secret: held }: { readonly secret: Redacted.Redacted }) =>
    `${sessionCookieName(publicOrigin)}=${Redacted.value(held)}`
  const cookie = cookieOf(session)
  /** Sends a request as the dashboard does: with the cookie, from the service's origin. */
  const browse = (path: string, init: { readonly body?: unknown; readonly headers?: Record<string, string> } = {}) =>
    Effect.promise(async () => {
      const body = init.body === undefined ? {} : { method: "POST", body: JSON.stringify(init.body) }
      const headers = { cookie, origin: publicOrigin, "content-type": "application/json", ...init.headers }
      const response = await fetch(`${url}${path}`, { ...body, headers, redirect: "manual" })
      return { status: response.status, headers: response.headers, text: await response.text() }
    })
  const pools = Context.get(services, Pools)
  /** Creates an agent pool with these credentials, and lets a Workspace use these credentials, as an operator would. */
  const providing = (pool: string, credentials: string, workspace: string) =>
    Effect.gen(function* () {
      yield* pools.create(pool, {})
      yield* pools.assign(pool, workspace)
      yield* pools.provide(pool, credentials, workspace)
    }).pipe(transaction(Context.get(services, SqlClient.SqlClient)))
  return {
    browse,
    providing,
    cookie,
    /** Opens another browser for the same person. */
    anotherCookie: Effect.map(open, cookieOf),
    url,
    repositoryUrl: repository.url,
    commit: (changed: Readonly<Record<string, string>>, branch = "main") =>
      commitFiles({ gitdir, files: { ...changed }, branch }),
    /** Removes the repository from the Git server. */
    loseRepository: files.remove(gitdir, { recursive: true }),
    notesDir: mirror.notesDir,
    sql: Context.get(services, SqlClient.SqlClient),
    subject,
    token: secret,
    /** Creates a token for an existing account. */
    tokenOf: Effect.fnUntraced(function* (email: string) {
      const { subject: other } = yield* Effect.fromOption(yield* Context.get(services, Users).findByEmail(email))
      const scopes = ["read", "write"]
      const made = yield* Context.get(services, AccessTokens).create(serviceContext, other, { name: "test", scopes })
      return Redacted.value(made.secret)
    }),
    client: yield* makeClient({ baseUrl: url, token: secret }),
    /** Opens a session for the person, for actions that tokens may not perform. */
    inPerson: yield* makeClient({ baseUrl: url }).pipe(
      Effect.updateService(
        HttpClient.HttpClient,
        HttpClient.mapRequest(HttpClientRequest.setHeader(sessionHeader, Redacted.value(session.secret)))
      )
    )
  }
})
