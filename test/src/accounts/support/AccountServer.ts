import { Clock, Context, Effect, Layer, Option, type Redacted } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { ApprovalRules } from "../../../../actors/access/approval/ApprovalRules.ts"
import { Sessions } from "../../../../actors/access/account/Sessions.ts"
import { SetupLinks } from "../../../../actors/access/account/SetupLinks.ts"
import { Interfaces } from "../../../../actors/ledger/interface/Interfaces.ts"
import { Teams } from "../../../../actors/access/team/Teams.ts"
import { AttemptLimits } from "../../../../src/accounts/AttemptLimits.ts"
import { authenticatorLayer } from "../../../../src/accounts/AuthenticatorLayer.ts"
import { authRoutes } from "../../../../src/accounts/AuthRoutes.ts"
import { passkeyRoutes } from "../../../../src/accounts/PasskeyRoutes.ts"
import { upstreamRoutes } from "../../../../src/accounts/upstream/UpstreamRoutes.ts"
import { KnownDevices } from "../../../../src/accounts/KnownDevices.ts"
import { approvalHandlers, teamHandlers } from "../../../../src/http/handlers/ApprovalHandlers.ts"
import { auditHandlers } from "../../../../src/http/handlers/AuditHandlers.ts"
import { invitationHandlers } from "../../../../src/http/handlers/InvitationHandlers.ts"
import { memberHandlers } from "../../../../src/http/handlers/MemberHandlers.ts"
import { tokenHandlers } from "../../../../src/http/handlers/TokenHandlers.ts"
import { workspaceHandlers } from "../../../../src/http/handlers/WorkspaceHandlers.ts"
import { apiMiddleware, apiRoutes } from "../../../../src/http/ApiRoutes.ts"
import { Exchange } from "../../../../src/http-kit/Exchange.ts"
import { HttpSettings, implementedFeatures } from "../../../../src/http-kit/HttpSettings.ts"
import { commonHeaders } from "../../../../src/http/CommonHeaders.ts"
import { routerConfig } from "../../../../src/http/UnknownRoutes.ts"
import { AuthorityChanges } from "../../../../src/streams/AuthorityChanges.ts"
import { Draining } from "../../../../src/streams/Draining.ts"
import { RunFeeds } from "../../../../src/streams/RunFeeds.ts"
import { WebSockets } from "../../../../src/streams/WebSockets.ts"
import { checkedAnswers } from "../../../support/description/CheckedAnswers.ts"
import { testAccounts, text } from "../../../support/Accounts.ts"
import { fakeActors } from "../../http/support/FakeActors.ts"
import { fakeNotices } from "../../http/support/RemainingGroups.ts"
import { fakeRunStreams } from "../../http/support/FakeRunStreams.ts"
import type { WorkspaceId } from "../../../../schema/records/Ids.ts"

const live = Layer.mergeAll(WebSockets.layer, RunFeeds.layer, AuthorityChanges.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(fakeRunStreams, Draining.layer))
)

// Accounts and their dependencies are real. The other actors, which these routes do not use, are fake.
const accounts = Layer.mergeAll(authenticatorLayer, AttemptLimits.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(Teams.layer, ApprovalRules.layer)),
  Layer.provideMerge(testAccounts)
)

const routes = Layer.mergeAll(apiRoutes, authRoutes, passkeyRoutes, upstreamRoutes, commonHeaders).pipe(
  Layer.provide([
    tokenHandlers,
    workspaceHandlers,
    memberHandlers,
    invitationHandlers,
    teamHandlers,
    approvalHandlers,
    auditHandlers,
    fakeNotices
  ]),
  Layer.provide(apiMiddleware),
  Layer.provide(HttpServer.layerServices)
)

/** The account, Workspace and sign-in routes behind the real middleware. */
export class AccountServer extends Context.Service<
  AccountServer,
  {
    readonly origin: string
    readonly handle: (request: Request, address: string) => Effect.Effect<Response>
  }
>()("test/accounts/AccountServer") {
  static readonly layerAt = (origin: string) =>
    Layer.effect(
      AccountServer,
      Effect.gen(function* () {
        const services = yield* Effect.context<
          Layer.Success<typeof accounts> | Layer.Success<typeof live> | HttpSettings | KnownDevices
        >()
        const { dispose, handler } = HttpRouter.toWebHandler(
          Layer.provideMerge(
            routes,
            Layer.mergeAll(
              fakeActors,
              // Returns the call's arguments as the next cursor, so that the test can check them.
              Layer.mock(Interfaces)({
                uiSurfaces: (workspaceId, subject, { capsuleId = "any" }, { cursor = "start", limit }) =>
                  Effect.succeed({ items: [], nextCursor: [workspaceId, subject, capsuleId, limit, cursor].join(" ") })
              }),
              Layer.succeedContext(services)
            )
          ),
          { routerConfig, disableLogger: true }
        )
        yield* Effect.addFinalizer(() => Effect.promise(dispose))
        const checked = checkedAnswers(handler)
        return {
          origin,
          handle: (request, remoteAddress) =>
            Effect.flatMap(Clock.Clock, (clock) => {
              const exchange = Context.make(Exchange, { requestId: "", remoteAddress, bodyReceived: () => {} })
              return Effect.promise(() => checked(request, Context.add(exchange, Clock.Clock, clock)))
            })
        }
      })
    ).pipe(
      Layer.provideMerge(
        Layer.mergeAll(
          KnownDevices.layer.pipe(
            Layer.provideMerge(Layer.provideMerge(live, accounts)),
            Layer.provideMerge(
              Layer.succeed(HttpSettings, {
                baseUrl: origin,
                version: "0.0.0",
                displayName: "svc",
                features: implementedFeatures,
                auth: { oidc: false, password: true }
              })
            )
          )
        )
      )
    )
  static readonly layer = AccountServer.layerAt("http://127.0.0.1:8787")
}

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  readonly address?: string
}

/** Sends a request with a JSON body, and parses the JSON response. */
export const call = Effect.fn("call")(function* (path: string, options: Call = {}) {
  const server = yield* AccountServer
  const { address = "192.0.2.1", body, headers = {}, method = body === undefined ? "GET" : "POST" } = options
  const request = new Request(`${server.origin}${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
  })
  const response = yield* server.handle(request, address)
  const raw = yield* Effect.promise(() => response.text())
  const json: unknown = raw === "" ? undefined : JSON.parse(raw)
  return { status: response.status, headers: response.headers, json, raw }
})

/** Headers that a page on our own origin sends, including the session. */
export const fromPage = (secret: Redacted.Redacted) => ({
  cookie: `svc_session=${text(secret)}`,
  "sec-fetch-site": "same-origin"
})

export const bearer = (secret: Redacted.Redacted | string) => ({
  authorization: `Bearer ${typeof secret === "string" ? secret : text(secret)}`
})

export const openSession = Effect.fnUntraced(function* (subject: string, workspaceId?: WorkspaceId) {
  const sessions = yield* Sessions
  return yield* sessions.open({ subject, method: "password", workspaceId })
})

export const setupSecret = Effect.flatMap(SetupLinks, (links) => links.issueFirst).pipe(
  Effect.map((link) => text(Option.getOrThrow(link).secret))
)
