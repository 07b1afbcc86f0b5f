import { Context, Duration, Effect, Layer, Logger, Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { Sessions } from "../../../../../actors/access/account/Sessions.ts"
import { IssuerSettings } from "../../../../../actors/access/issuer/IssuerSettings.ts"
import type { StaticClientDocument } from "../../../../../actors/access/issuer/StaticClientConfig.ts"
import { StaticClients } from "../../../../../actors/access/issuer/StaticClients.ts"
import { InstallPolicy } from "../../../../../actors/ledger/configuration/InstallConfigCompilation.ts"
import { defaultOperatorPolicy } from "../../../../../schema/manifest/OperatorPolicy.ts"
import { checkedAnswers } from "../../../../support/description/CheckedAnswers.ts"
import { unlimitedAttempts } from "../../../../support/Attempts.ts"
import type { AttemptLimits } from "../../../../../src/accounts/AttemptLimits.ts"
import { oidcRoutes } from "../../../../../src/accounts/oidc/OidcRoutes.ts"
import { oidcServices } from "../../../../../src/accounts/oidc/OidcServices.ts"
import { HttpSettings, implementedFeatures } from "../../../../../src/http-kit/HttpSettings.ts"
import { commonHeaders } from "../../../../../src/http/CommonHeaders.ts"
import { routerConfig } from "../../../../../src/http/UnknownRoutes.ts"
import { testTime } from "./TestTime.ts"
import { newPerson, testAccounts, text } from "../../../../support/Accounts.ts"

export const secret = "a-client-secret-of-at-least-32-characters"
export const resource = "https://api.example.com/v1"
/** The protected address of an Interface, which is not one of the operator's resource servers. */
export const interfaceResource = "https://tools.example.com/mcp"
export const callback = "https://rp.example.com/cb"

/** The clients used by all suites. `origin` is the address on which a real client listens, if the client needs one. */
export const clientDocument = (origin = "http://127.0.0.1:1"): StaticClientDocument => ({
  clients: [
    {
      client_id: "basic",
      client_name: "Basic",
      client_secret: Redacted.make(secret),
      redirect_uris: [callback, `${callback}?tenant=1`],
      post_logout_redirect_uris: ["https://rp.example.com/bye"],
      pkce: "optional",
      scope: "openid profile email groups offline_access workspaces api.use read",
      resources: [resource]
    },
    {
      client_id: "second",
      client_name: "Second",
      client_secret: Redacted.make(`${secret}-second`),
      redirect_uris: [callback],
      guards: [resource, interfaceResource]
    },
    {
      client_id: "spa",
      client_name: "Single page <app>",
      redirect_uris: [callback, `${origin}/auth/callback/svc`],
      post_logout_redirect_uris: ["https://rp.example.com/bye"],
      id_token_signed_response_alg: "ES256"
    },
    {
      client_id: "desktop",
      client_name: "Desktop",
      application_type: "native",
      redirect_uris: ["http://127.0.0.1/cb", "com.example.app:/cb"]
    },
    {
      client_id: "mcp",
      client_name: "Tools",
      redirect_uris: [callback],
      scope: "openid offline_access",
      interfaces: true
    },
    {
      client_id: "mcp-device",
      redirect_uris: [],
      client_name: "Tools on a device",
      grant_types: ["urn:ietf:params:oauth:grant-type:device_code"],
      scope: "openid",
      interfaces: true
    },
    { client_id: "ours", client_name: "Ours", redirect_uris: [callback], consent: "trusted" }
  ],
  resource_servers: [{ resource, scopes: ["api.use"] }]
})

export const testPolicy = {
  policy: { ...defaultOperatorPolicy, allowedOidcScopes: ["openid", "profile", "email", "offline_access"] }
}

/** Provides the folders and settings for an issuer under test. */
export const issuerSettings = (
  issuer: string,
  document: StaticClientDocument,
  graceSeconds = 0,
  limits: Layer.Layer<AttemptLimits> = unlimitedAttempts
) =>
  Layer.mergeAll(
    StaticClients.layer(document),
    Layer.succeed(InstallPolicy, testPolicy),
    Layer.succeed(HttpSettings, {
      baseUrl: issuer,
      version: "0.0.0",
      displayName: "svc",
      features: implementedFeatures,
      auth: { oidc: false, password: true }
    }),
    limits
  ).pipe(
    Layer.provideMerge(Layer.succeed(IssuerSettings, { issuer, refreshReuseGrace: Duration.seconds(graceSeconds) }))
  )

type Handler = (request: Request, context?: Context.Context<never>) => Promise<Response>

/** The issuer as a function from request to response. */
export class TestIssuer extends Context.Service<TestIssuer, { readonly issuer: string; readonly handle: Handler }>()(
  "test/oidc/TestIssuer"
) {}

type Marker = HttpRouter.Request<"Requires" | "Error" | "GlobalRequires" | "GlobalError", unknown>
type Needs = Exclude<Layer.Services<typeof oidcRoutes>, HttpRouter.HttpRouter | Marker>

/** Mounts the routes as the real server does. */
export const mounted = (issuer: string, routes: typeof oidcRoutes) =>
  Layer.effect(
    TestIssuer,
    Effect.gen(function* () {
      const services = yield* Effect.context<Needs>()
      const application = Layer.mergeAll(routes, commonHeaders).pipe(
        Layer.provide(HttpServer.layerServices),
        Layer.provideMerge(Layer.succeedContext(services))
      )
      const { dispose, handler } = HttpRouter.toWebHandler(application, { routerConfig, disableLogger: true })
      yield* Effect.addFinalizer(() => Effect.promise(dispose))
      const handle: Handler = checkedAnswers(handler)
      return { issuer, handle }
    })
  )

export const defaultIssuer = "https://svc.example.test"

/** Builds the complete issuer over a temporary database. */
export const issuerLayer = (
  options: {
    readonly issuer?: string
    readonly graceSeconds?: number
    readonly limits?: Layer.Layer<AttemptLimits>
    readonly routes?: typeof oidcRoutes
  } = {}
) => {
  const issuer = options.issuer ?? defaultIssuer
  return mounted(issuer, options.routes ?? oidcRoutes).pipe(
    Layer.provideMerge(oidcServices),
    Layer.provideMerge(issuerSettings(issuer, clientDocument(), options.graceSeconds, options.limits)),
    Layer.provideMerge(testAccounts),
    Layer.provideMerge(testTime),
    // Silences the log, because svc logs every failure to read an authority in full, and these suites cause many of these
    // failures.
    Layer.provideMerge(Logger.layer([]))
  )
}

/** Creates a person with an open session; `cookie` is the header their browser sends. */
export const signedInPerson = Effect.fnUntraced(function* (name: string) {
  const { subject } = yield* newPerson(name)
  return { subject, cookie: yield* signIn(subject) }
})

/** Signs a person in again, with a session that starts now. */
export const signIn = Effect.fnUntraced(function* (subject: string) {
  const sessions = yield* Sessions
  const { issuer } = yield* IssuerSettings
  const { secret: session } = yield* sessions.open({ subject, method: "password" })
  return `${issuer.startsWith("https:") ? "__Host-svc_session" : "svc_session"}=${text(session)}`
})
