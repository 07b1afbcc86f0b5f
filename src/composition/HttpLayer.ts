import { Effect, Layer } from "effect"
import { OAuthHelpers } from "../../actors/inputs/connection/OAuthHelpers.ts"
import { authenticatorLayer } from "../accounts/AuthenticatorLayer.ts"
import { Nodes } from "../../actors/base/node/Nodes.ts"
import { AttemptLimits, LimitingServers } from "../accounts/AttemptLimits.ts"
import { KnownDevices } from "../accounts/KnownDevices.ts"
import { approvalHandlers, teamHandlers } from "../http/handlers/ApprovalHandlers.ts"
import { auditHandlers } from "../http/handlers/AuditHandlers.ts"
import { invitationHandlers } from "../http/handlers/InvitationHandlers.ts"
import { memberHandlers } from "../http/handlers/MemberHandlers.ts"
import { noticeHandlers } from "../http/handlers/NoticeHandlers.ts"
import { tokenHandlers } from "../http/handlers/TokenHandlers.ts"
import { UpstreamProvider } from "../accounts/upstream/UpstreamProvider.ts"
import { workspaceHandlers } from "../http/handlers/WorkspaceHandlers.ts"
import { apiMiddleware } from "../http/ApiRoutes.ts"
import { HttpHandler, makeWebHandler } from "../http/HttpApplication.ts"
import { HttpListener } from "../http/HttpListener.ts"
import { HttpSettings, implementedFeatures } from "../http-kit/HttpSettings.ts"
import { type Settings, upstreamProvider } from "../settings/Settings.ts"
import { AuthorityChanges } from "../streams/AuthorityChanges.ts"
import { Draining } from "../streams/Draining.ts"
import { RunFeeds } from "../streams/RunFeeds.ts"
import { WebSockets } from "../streams/WebSockets.ts"
import { version } from "../Version.ts"
import type { AssetSet } from "../dashboard/Assets.ts"
import { EmbeddedDashboard, readEmbeddedDashboard } from "../dashboard/EmbeddedFiles.ts"
import { prebuiltDashboard } from "../dashboard/PrebuiltDashboard.ts"
import { DashboardAssets } from "../http/DashboardRoutes.ts"

const none: AssetSet = new Map()

const isSource = import.meta.url.endsWith(".ts")

/** If bundling fails, log the failure and serve the API without pages. */
const bundle = Effect.gen(function* () {
  // Compiled binaries and packages exclude this module, because they contain the finished bundle.
  const { buildDashboard } = yield* Effect.promise(() => import("../dashboard/Build.ts"))
  return yield* buildDashboard("fast")
}).pipe(
  Effect.catch((error) => Effect.as(Effect.logError("The dashboard is not available", error), none)),
  Effect.withSpan("bundleDashboard")
)

/** In a package, load the files from the separate, optional package that contains the dashboard. */
const installed = Effect.gen(function* () {
  const files = yield* prebuiltDashboard
  if (files.length > 0) return yield* readEmbeddedDashboard(files)
  yield* Effect.logInfo("The dashboard is not installed: the API is served without pages")
  return none
})

/**
 * Files of the dashboard. They are embedded in a compiled binary, in a separate package for a built library, and bundled from
 * source in a checkout. They are prepared when a page is first requested, so they cost nothing if nobody opens the
 * dashboard.
 */
const dashboardFiles = Layer.effect(
  DashboardAssets,
  Effect.gen(function* () {
    const embedded = yield* EmbeddedDashboard
    const files = embedded.length > 0 ? readEmbeddedDashboard(embedded) : isSource ? bundle : installed
    return { assets: yield* Effect.cached(files) }
  })
)

const httpSettings = (settings: Settings) =>
  Layer.effect(
    HttpSettings,
    Effect.map(Effect.all([HttpListener, OAuthHelpers]), ([listener, helpers]) => ({
      baseUrl: settings.baseUrl ?? listener.url,
      version,
      displayName: settings.name,
      features: implementedFeatures,
      hasOAuthHelpers: helpers.length > 0,
      auth: { oidc: upstreamProvider(settings) !== undefined, password: settings.passwordSignIn === "on" },
      oidcClientId: settings.oidcClientId,
      corsOrigins: settings.corsOrigins,
      familiesOff: settings.familiesOff
    }))
  )

/** Mounts the routes on the listener, which then begins to serve requests. */
const mounted = Layer.effect(
  HttpHandler,
  Effect.gen(function* () {
    const listener = yield* HttpListener
    const handler = yield* makeWebHandler
    yield* listener.mount(handler)
    return { handler }
  })
)

const accountGroups = Layer.mergeAll(
  tokenHandlers,
  workspaceHandlers,
  memberHandlers,
  invitationHandlers,
  teamHandlers,
  approvalHandlers,
  auditHandlers,
  noticeHandlers
).pipe(Layer.provide(apiMiddleware))

const upstream = (settings: Settings) => {
  const provider = upstreamProvider(settings)
  return provider === undefined ? UpstreamProvider.none : UpstreamProvider.layer(provider)
}

/** The HTTP API and dashboard on top of actors, accounts and storage. */
export const httpLayer = (settings: Settings) =>
  mounted.pipe(
    Layer.provide(accountGroups),
    Layer.provide(
      Layer.mergeAll(
        authenticatorLayer,
        AttemptLimits.layer.pipe(
          Layer.provide(
            Layer.effect(
              LimitingServers,
              Effect.map(Nodes, ({ count }) => count)
            )
          )
        ),
        KnownDevices.layer,
        dashboardFiles,
        RunFeeds.layer,
        AuthorityChanges.layer
      )
    ),
    Layer.provide(upstream(settings)),
    Layer.provideMerge(httpSettings(settings))
  )

/**
 * Opens the listening socket. The socket is opened first, to reserve the address, and the server responds with 503 until the
 * routes are mounted.
 */
export const listener = (settings: Settings) =>
  HttpListener.layer(settings.listen, {
    drainDelay: `${settings.drainDelay} seconds`,
    trustedProxies: settings.trustedProxies,
    corsOrigins: settings.corsOrigins
  }).pipe(Layer.provideMerge(WebSockets.layer), Layer.provideMerge(Draining.layer))
