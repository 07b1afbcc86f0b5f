import { Context, Effect, Option, Redacted, Result } from "effect"
import { HttpRouter, HttpServerRequest } from "effect/http"
import { ActionConfirmations } from "../../../actors/access/account/ActionConfirmations.ts"
import { type Principal, requireConfirmed } from "../../../actors/base/credential/Principal.ts"
import { ReadSnapshot } from "../../../actors/base/database/ReadSnapshot.ts"
import { storageFull } from "../../../schema/errors/StorageFull.ts"
import { archivedWorkspace } from "../../../actors/ledger/workspace/Projects.ts"
import type { AccessRule, WorkspaceAccess, WorkspaceLocator } from "../../../schema/api/Access.ts"
import type { CallerShape } from "../../../schema/api/Middleware.ts"
import { ApiError, invalidRequest } from "../../../schema/errors/ApiError.ts"
import { confirmationHeader } from "../../../schema/records/ActionConfirmation.ts"
import type { AuditActor } from "../../../schema/records/AuditEvent.ts"
import { AttemptLimits } from "../../accounts/AttemptLimits.ts"
import { StorageSpace } from "../../database/StorageSpace.ts"
import { Exchange, type ExchangeShape, noteRenewal } from "../../http-kit/Exchange.ts"
import { HttpSettings, sessionCookieName } from "../../http-kit/HttpSettings.ts"
import { bodyLimitsOf, readJsonBody } from "../../http-kit/RequestBody.ts"
import { Authenticator } from "../../http-kit/Authenticator.ts"
import { type PresentedCredential, presentedCredential } from "../../http-kit/Credentials.ts"
import { crossSiteRefusal } from "../../http-kit/CrossSite.ts"
import { credentialRefusal, isToken, type GrantedWorkspace, grantedWorkspace, scopeRefusal } from "./Permission.ts"
import { namedRecords } from "./NamedRecords.ts"
import { confinements } from "./TokenConfinement.ts"
import { AmbientIdentity, type HostIdentity } from "../../http-kit/HostIdentity.ts"
import { locateWorkspaces } from "./WorkspaceLocation.ts"

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined

const maxLocatorLength = 200

/** The parts of a request that may identify its Workspace. */
type LocatedIn = HttpServerRequest.HttpServerRequest | HttpServerRequest.ParsedSearchParams | HttpRouter.RouteContext

/**
 * Returns the id with which the route identifies the Workspace. Checks only that the id is present, because a malformed id
 * is treated as unknown.
 */
const locatorValue = (locator: WorkspaceLocator, endpoint: string) => {
  const [place = "", name = ""] = locator.split(".")
  const limits = bodyLimitsOf(endpoint)
  const given: Effect.Effect<unknown, ApiError, LocatedIn> =
    place === "path"
      ? Effect.map(HttpRouter.params, (params) => params[name])
      : place === "query"
        ? Effect.map(HttpServerRequest.ParsedSearchParams, (query) => query[name])
        : Effect.map(readJsonBody(limits), (body) => fieldOf(body, name))
  const missing = invalidRequest(
    `The request does not name its Workspace. Give \`${name}\` in the ${place}, exactly once.`
  )
  return Effect.flatMap(given, (raw) =>
    typeof raw === "string" && raw !== "" && raw.length <= maxLocatorLength ? Effect.succeed(raw) : Effect.fail(missing)
  )
}

const auditActor = ({ credential, credentialId, subject }: Principal): AuditActor => {
  if (credential === "service") return { kind: "service" }
  return credential === "session" || credential === "host"
    ? { kind: "user", subject }
    : { kind: "token", subject, tokenId: credentialId }
}

/** The rule for a route that requires authentication. */
export type AdmittedRule = Exclude<AccessRule, { readonly kind: "public" | "token" }>

/** A request with a valid credential. */
interface Authenticated {
  readonly request: HttpServerRequest.HttpServerRequest
  readonly exchange: ExchangeShape
  /** True if the browser sent the credential automatically, as it does with cookies. */
  readonly ambient: boolean
  readonly principal: Principal
}

const readMethods: ReadonlySet<string> = new Set(["GET", "HEAD"])

/**
 * Admits the current request under a route's rule. The checks run in the order of the specification: authentication (401), origin
 * and scope (403), the Workspace (404), the caller's role in it (403), a recent confirmation of identity or of this action (403),
 * an archived Workspace (409), and disk space for writes (503). The query and the body have not been validated yet.
 */
export const admissions = Effect.gen(function* () {
  const { baseUrl } = yield* HttpSettings
  const authenticator = yield* Authenticator
  const limits = yield* AttemptLimits
  const storage = yield* StorageSpace
  const locate = yield* locateWorkspaces
  const confinement = yield* confinements
  const naming = yield* namedRecords
  const snapshot = yield* ReadSnapshot
  const confirmations = yield* ActionConfirmations
  const sessionCookie = sessionCookieName(baseUrl)
  const { origin } = new URL(baseUrl)

  /** Refuses a write before it begins if the disk is almost full. */
  const roomy = <A>(admission: Effect.Effect<A>): Effect.Effect<A, ApiError> =>
    Effect.flatMap(storage.isFull, (isFull) => (isFull ? Effect.fail(new ApiError(storageFull)) : admission))

  const authenticated = (presented: PresentedCredential | HostIdentity) => {
    switch (presented.kind) {
      case "bearer":
        return authenticator.bearer(presented.secret)
      case "session":
        return authenticator.session(presented.secret)
      default:
        return authenticator.host(presented)
    }
  }

  const grantingBy = (rule: WorkspaceAccess, endpoint: string) => {
    const value = locatorValue(rule.locate, endpoint)
    const located = locate(rule.locate)
    const confine = confinement(rule)
    const confineBody = naming(rule, readJsonBody(bodyLimitsOf(endpoint)))
    return (principal: Principal) =>
      Effect.flatMap(value, (id) => {
        const granted = Effect.flatMap(located(id, principal.subject), (places) =>
          Effect.fromResult(grantedWorkspace(principal, rule.role, places))
        )
        const { limits } = principal
        return limits === undefined
          ? granted
          : Effect.tap(granted, () => Effect.andThen(confine(limits, id), confineBody(limits, id)))
      })
  }

  /**
   * Refuses a sensitive action that the person has not confirmed. In a session, the person confirms their identity; for a
   * token, they confirm the action in the browser.
   */
  const confirming = (rule: AdmittedRule, endpoint: string) => {
    if (rule.kind !== "workspace" || rule.confirmed !== true) return () => Effect.void
    const { action, locate } = rule
    const target = locatorValue(locate, endpoint)
    return ({ exchange, principal, request }: Authenticated, isRepeated: boolean) => {
      if (action === undefined || !isToken(principal)) return requireConfirmed(principal)
      const header = request.headers[confirmationHeader]
      const code = header === undefined ? undefined : Redacted.make(header)
      return Effect.flatMap(target, (targetId) =>
        isRepeated
          ? confirmations.use(principal, code, { action, targetId }, exchange.requestId)
          : confirmations.require(principal, code, { action, targetId })
      )
    }
  }

  return (rule: AdmittedRule, endpoint: string) => {
    const granting = rule.kind === "workspace" ? grantingBy(rule, endpoint) : undefined
    const confirmed = confirming(rule, endpoint)

    /** Performs the checks that require the Workspace to be known. */
    const admitted = (own: Authenticated, isRepeated: boolean, granted?: GrantedWorkspace) => {
      const { ambient, exchange, principal, request } = own
      const refusal = credentialRefusal(principal, rule)
      if (refusal !== undefined) return refusal
      const caller: CallerShape = {
        subject: principal.subject,
        credential: principal.credential,
        credentialId: principal.credentialId,
        grantId: principal.grantId,
        boundWorkspaceId: principal.boundWorkspaceId,
        scopes: principal.scopes,
        limits: principal.limits,
        workspaceId: granted?.workspaceId,
        role: granted?.role,
        actor: auditActor(principal),
        requestId: exchange.requestId
      }
      const admission = Effect.succeed({ caller, ambient })
      const present = confirmed(own, isRepeated)
      if (readMethods.has(request.method)) return Effect.andThen(present, admission)
      if (granted?.archived === true && rule.kind === "workspace" && rule.archived !== "open") {
        return Effect.andThen(present, archivedWorkspace())
      }
      const counted =
        principal.credential === "service" || isRepeated
          ? roomy(admission)
          : Effect.andThen(limits.consume("mutation", { subject: principal.subject }), roomy(admission))
      return Effect.andThen(present, counted)
    }

    // Performs all checks. No step repeats the work of an earlier step, because the checks run for every request.
    const admission = (isRepeated: boolean) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const exchange = Context.get(context, Exchange)
        const host = Context.get(context, AmbientIdentity)
        const found: Result.Result<PresentedCredential | HostIdentity, ApiError> =
          host === undefined ? presentedCredential(request.headers, sessionCookie) : Result.succeed(host)
        if (Result.isFailure(found)) return Effect.fail(found.failure)
        const presented = found.success
        return Effect.flatMap(authenticated(presented), (principal) => {
          const cookie = "ambient" in presented && presented.ambient ? presented : undefined
          if (cookie !== undefined) {
            const crossSite = crossSiteRefusal(request.method, request.headers, origin)
            if (crossSite !== undefined) return crossSite
            noteRenewal(exchange, cookie, principal)
          }
          const unscoped = scopeRefusal(principal, request.method)
          if (unscoped !== undefined) return unscoped
          const own = { exchange, ambient: cookie !== undefined, principal, request }
          return granting === undefined
            ? admitted(own, isRepeated)
            : Effect.flatMap(granting(principal), (granted) => admitted(own, isRepeated, granted))
        })
      })

    return {
      first: admission(false),
      /** Repeats every check, but does not count the request again. */
      again: Effect.andThen(Effect.sync(snapshot.renew), admission(true))
    }
  }
})

/**
 * The credential and authority that admitted the current request. A live stream outlives its request, so it checks repeatedly
 * whether it may continue. A command checks again in its transaction (`Readmission`).
 */
export interface AdmittedShape {
  /** True if the credential was a cookie. In that case, a WebSocket needs a separate origin check. */
  readonly ambient: boolean
  readonly recheck: Effect.Effect<void, ApiError>
}

export const Admitted = Context.Reference<Option.Option<AdmittedShape>>("svc/src/http/authorization/Admitted", {
  defaultValue: () => Option.none()
})
