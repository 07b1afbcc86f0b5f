import { Context, Layer, Redacted } from "effect"
import { HttpClientRequest } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"

/** Adds a credential to requests, to prove on whose behalf they are sent. */
export interface ActorShape {
  readonly sign: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
}

/**
 * The person or program on whose behalf the services act. Every method of a service requires an actor, so no call is
 * anonymous, and one program may act for several people: `Effect.provide(program, Actor.token(...))`. For a control plane in
 * the same process, `ControlPlane.user` and `ControlPlane.service` provide further actors.
 *
 * @effect-leakable-service
 */
export class Actor extends Context.Service<Actor, ActorShape>()("svc/src/client/Actor") {
  /** Acts for the owner of a personal access token, or of an access token from the issuer, within the token's scopes. */
  static readonly token = (token: Redacted.Redacted): Layer.Layer<Actor> =>
    Layer.succeed(Actor, { sign: HttpClientRequest.bearerToken(token) })

  /** Acts for the owner of a session, in operations that are not allowed with tokens. */
  static readonly session = (secret: Redacted.Redacted): Layer.Layer<Actor> =>
    Layer.succeed(Actor, { sign: HttpClientRequest.setHeader(sessionHeader, Redacted.value(secret)) })

  /**
   * Acts for the person who is signed in to the page. Works only on the server's own origin, because the browser sends the
   * cookie only there.
   */
  static readonly browser: Layer.Layer<Actor> = Layer.succeed(Actor, { sign: (request) => request })
}
