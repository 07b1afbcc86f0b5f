import { Context, Effect, FileSystem, Layer, Option, Redacted } from "effect"
import ReferenceProvider from "oidc-provider"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { controlPlane } from "../../../../src/Composition.ts"
import { platform } from "../../../../src/composition/Platform.ts"
import { Users } from "../../../../actors/access/account/Users.ts"
import { serviceContext } from "../../../../schema/commands/Command.ts"
import { HttpListener } from "../../../../src/http/HttpListener.ts"
import { loadSettings } from "../../../../src/settings/Settings.ts"
import { logging } from "../../../../src/observability/Logging.ts"
import { loopback } from "../../../support/LoopbackServer.ts"
import { type PliantServer, pliantServer } from "../../../support/PliantAuthorizationServer.ts"
import { migratedFolder } from "../../../support/MigratedDatabase.ts"

export const origin = "https://svc.example.com"
export const callbackOf = (helperId: string) => `/api/v1/connections/oauth/${helperId}/callback`
const secret = "the-client-secret-of-the-installation-under-test"

const connection = (name: string) => ({ provider: "example.test/acme/cloud", accessToken: name })

/** Runs the independent server, with its own sign-in, consent, rotation and revocation. */
const referenceServer = Effect.gen(function* () {
  let handle: Parameters<typeof loopback>[0] = (_, response) => response.end()
  const issuer = yield* loopback((request, response) => handle(request, response))
  const provider = new ReferenceProvider(issuer, {
    clients: [
      {
        client_id: "svc",
        client_secret: secret,
        redirect_uris: [`${origin}${callbackOf("reference")}`],
        grant_types: ["authorization_code", "refresh_token"]
      }
    ],
    cookies: { keys: ["only-for-this-test"] },
    features: { revocation: { enabled: true } },
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    findAccount: (_: unknown, sub: string) => ({ accountId: sub, claims: () => ({ sub }) })
  })
  handle = provider.callback()
  return issuer
})

/** Starts a server with these settings and an empty database. */
export const serve = Effect.fnUntraced(function* (settings: Readonly<Record<string, string>>) {
  const dataDir = yield* migratedFolder
  const loaded = yield* loadSettings(
    new Map(Object.entries({ dataDir, listen: "127.0.0.1:0", toolDownload: "off", log: "error", ...settings })),
    Option.none()
  )
  const services = yield* Layer.build(
    Layer.fresh(controlPlane(loaded)).pipe(Layer.provideMerge(logging({ level: "error", format: "json" })))
  )
  return { dataDir, services, url: Context.get(services, HttpListener).url }
})
export type Served = Effect.Success<ReturnType<typeof serve>>

/** Creates a person whose browser is signed in to the server. */
export const visitor = Effect.fnUntraced(function* ({ services, url }: Served, name: string, cookieName: string) {
  const user = yield* Context.get(services, Users).create(serviceContext, {
    email: `${name}@example.com`,
    isOperator: false
  })
  const signIn = Effect.map(
    Context.get(services, Sessions).open({ subject: user.subject, method: "password" }),
    (session) => ({ cookie: `${cookieName}=${Redacted.value(session.secret)}` })
  )
  const browser = yield* signIn
  const send = (path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}) =>
    Effect.promise(async () => {
      const response = await fetch(`${url}${path}`, {
        redirect: "manual",
        ...init,
        headers: { ...browser, origin, ...init.headers }
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, json: () => JSON.parse(text) }
    })
  const post = (path: string, body: unknown) =>
    send(path, { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } })
  return { subject: user.subject, send, post, signIn }
})
export type Person = Effect.Success<ReturnType<typeof visitor>>

/** A server with helpers for four authorization servers, and the people who use that server. */
export class OAuthWorld extends Context.Service<
  OAuthWorld,
  {
    readonly served: Served
    readonly owner: Person
    readonly workspaceId: string
    readonly handle: string
    readonly pliant: PliantServer
    readonly other: PliantServer
    readonly reference: string
    /** Runs another installation of this service as an authorization server. */
    readonly ours: Served
  }
>()("test/http/OAuthWorld") {
  static readonly layer = Layer.effect(
    OAuthWorld,
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-oauth-" })
      const pliant = yield* pliantServer
      const other = yield* pliantServer
      const reference = yield* referenceServer
      const clients = `${folder}/clients.json`
      const client = {
        client_id: "svc",
        client_name: "svc",
        client_secret: secret,
        redirect_uris: [`${origin}${callbackOf("ours")}`],
        scope: "openid offline_access",
        consent: "trusted"
      }
      yield* files.writeFileString(clients, JSON.stringify({ clients: [client] }))
      const ours = yield* serve({ oidcClientsFile: clients })
      yield* files.writeFileString(`${folder}/secret`, `${secret}\n`)
      const declared = { client: { id: "svc", secretFile: `${folder}/secret` }, scopes: ["cloud.write"] }
      const oauthHelpers = [
        {
          ...declared,
          id: "pliant",
          displayName: "Pliant",
          issuer: pliant.issuer,
          connection: connection("CLOUD_TOKEN")
        },
        {
          ...declared,
          id: "other",
          displayName: "Other",
          issuer: other.issuer,
          endpoints: { authorization: `${other.issuer}/authorize`, token: `${other.issuer}/token` },
          parameters: { audience: "cloud" },
          connection: {
            provider: "git",
            kind: "git_https",
            recipeId: "git-https-token",
            accessToken: "token",
            values: { username: "oauth2" },
            origins: ["https://git.example.com/team/"]
          }
        },
        {
          ...declared,
          id: "reference",
          displayName: "Reference",
          issuer: reference,
          metadata: "oidc",
          scopes: ["openid", "offline_access"],
          parameters: { prompt: "consent" },
          connection: connection("CLOUD_TOKEN")
        },
        {
          ...declared,
          id: "ours",
          displayName: "Ours",
          issuer: ours.url,
          scopes: ["openid", "offline_access"],
          connection: connection("CLOUD_TOKEN")
        }
      ]
      yield* files.writeFileString(`${folder}/policy.json`, JSON.stringify({ oauthHelpers }))
      const served = yield* serve({
        baseUrl: origin,
        policyFile: `${folder}/policy.json`,
        gitAllowOrigins: [pliant.issuer, other.issuer, reference, ours.url].join(",")
      })
      const owner = yield* visitor(served, "owner", "__Host-svc_session")
      const boot = (yield* owner.send("/api/v1/dashboard/bootstrap")).json()
      const [workspace] = boot.workspaces
      return { served, owner, workspaceId: workspace.id, handle: workspace.handle, pliant, other, reference, ours }
    })
  ).pipe(Layer.provideMerge(platform))
}

/** Starts an authorization with a helper, and returns the address to which the browser is redirected. */
export const begun = Effect.fnUntraced(function* (helperId: string, more: Readonly<Record<string, unknown>> = {}) {
  const { owner, workspaceId } = yield* OAuthWorld
  const started = yield* owner.post(`/api/v1/connections/oauth/${helperId}/start`, { workspaceId, ...more })
  if (started.status !== 200) throw new Error(`${helperId} did not start: ${started.text}`)
  const { authorizationUrl, connectionId } = started.json()
  return { authorizationUrl: String(authorizationUrl), connectionId: String(connectionId) }
})

/** Delivers the authorization server's response through a person's browser. */
export const returned = (person: Person, helperId: string, answer: URLSearchParams, accept = "application/json") =>
  person.send(`${callbackOf(helperId)}?${answer.toString()}`, { headers: { accept, "sec-fetch-site": "cross-site" } })
