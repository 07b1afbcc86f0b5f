import { Context, Effect, Layer, Option } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, HttpClientResponse } from "effect/http"
import { Accounts } from "../../actors/access/account/Accounts.ts"
import { ExtensionScopes, scopeCatalog, scopeRefusal } from "../../actors/access/account/ScopeCatalog.ts"
import type { ApiError } from "../../schema/errors/ApiError.ts"
import { Actor, type ActorShape } from "../client/Actor.ts"
import { ApiTransport } from "../client/ApiTransport.ts"
import { repeatedWhereSafe } from "../client/SafeRepeat.ts"
import { AmbientIdentity, type HostIdentity } from "../http-kit/HostIdentity.ts"
import { HttpHandler, type WebHandler } from "../http/HttpApplication.ts"
import { HttpSettings } from "../http-kit/HttpSettings.ts"
import { makeRequestGate } from "../http/RequestGate.ts"
import { placeOf } from "./Place.ts"

/** Permissions of a program that acts for a person, the same as the permissions of a token with these scopes. */
export interface ActingFor {
  /**
   * Defaults to `read` and `write`. `project:<id>` and `environment:<name>` confine the program and require `workspaceId`, as for
   * tokens.
   */
  readonly scopes?: ReadonlyArray<string>
  /** Confines the program to one Workspace. */
  readonly workspaceId?: string
}

export interface ControlPlaneShape {
  /** The public origin. */
  readonly baseUrl: string
  /** Handles a request to the origin. Responds with 503 once the control plane is closing. */
  readonly handle: WebHandler
  readonly actAs: (identity: HostIdentity) => Effect.Effect<ActorShape, ApiError>
}

const service: HostIdentity = { kind: "service" }
const ordinaryScopes: ReadonlyArray<string> = ["read", "write"]

/** A control plane in this process. */
export class ControlPlane extends Context.Service<ControlPlane, ControlPlaneShape>()("svc/src/embedding/ControlPlane") {
  /**
   * Acts for a person whom the host has authenticated and who has an account on this control plane. The same roles, teams
   * and rules apply as over HTTP. Fails if the account is not open. Requests are refused after the account is disabled.
   */
  static readonly user = (subject: string, options: ActingFor = {}): Layer.Layer<Actor, ApiError, ControlPlane> =>
    Layer.effect(
      Actor,
      Effect.gen(function* () {
        const { actAs } = yield* ControlPlane
        const { workspaceId } = yield* placeOf(options)
        return yield* actAs({ kind: "user", subject, scopes: options.scopes ?? ordinaryScopes, workspaceId })
      })
    )

  /**
   * Acts as svc itself, just as scheduled work does: in every Workspace, and not on behalf of a person. Requests that need
   * an account or a person are refused.
   */
  static readonly service: Layer.Layer<Actor, never, ControlPlane> = Layer.effect(
    Actor,
    Effect.flatMap(ControlPlane, ({ actAs }) => Effect.orDie(actAs(service)))
  )
}

const unsigned = (request: HttpClientRequest.HttpClientRequest) => request

/** Sends calls from this process to the handler for network requests, with an identity that no network request can have. */
const callsTo = (handle: WebHandler, identities: WeakMap<ActorShape, HostIdentity>): HttpClient.HttpClient =>
  HttpClient.make((request, _url, signal, fiber) => {
    const actor = Option.getOrUndefined(Context.getOption(fiber.context, Actor))
    const signed = actor === undefined ? request : actor.sign(request)
    const identity = actor === undefined ? undefined : identities.get(actor)
    return HttpClientRequest.toWeb(signed, { signal }).pipe(
      Effect.mapError((cause) => new HttpClientError.HttpClientError({ reason: invalidUrl(request, cause) })),
      Effect.flatMap((web) => Effect.promise(() => handle(web, Context.make(AmbientIdentity, identity)))),
      Effect.map((response) => HttpClientResponse.fromWeb(request, response))
    )
  })

const invalidUrl = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  new HttpClientError.InvalidUrlError({ request, cause })

/** Provides the control plane, and the transport of the in-process services. */
export const inProcess: Layer.Layer<ControlPlane | ApiTransport, never, Accounts | HttpHandler | HttpSettings> =
  Layer.effectContext(
    Effect.gen(function* () {
      const { handler } = yield* HttpHandler
      const { baseUrl, corsOrigins = [] } = yield* HttpSettings
      const accounts = yield* Accounts
      const scopes = scopeCatalog(yield* ExtensionScopes)
      const identities = new WeakMap<ActorShape, HostIdentity>()
      const gate = yield* makeRequestGate(corsOrigins)
      yield* Effect.acquireRelease(gate.open(handler), () => Effect.andThen(gate.close, gate.settled))
      const plane = ControlPlane.of({
        baseUrl,
        handle: gate.handle,
        actAs: (identity) => {
          // The object reference itself is the credential, because no other code can create an object that this control
          // plane accepts.
          const actor: ActorShape = { sign: unsigned }
          const known = Effect.sync(() => {
            identities.set(actor, identity)
            return actor
          })
          if (identity.kind === "service") return known
          const refusal = scopeRefusal(scopes, identity.scopes, identity.workspaceId !== undefined)
          return refusal === undefined
            ? Effect.andThen(accounts.requireOpen(identity.subject), known)
            : Effect.fail(refusal)
        }
      })
      const transport = ApiTransport.of({
        baseUrl,
        client: repeatedWhereSafe(callsTo(gate.handle, identities)),
        returns: false
      })
      return Context.make(ControlPlane, plane).pipe(Context.add(ApiTransport, transport))
    })
  )
