import { Context, Effect, Layer, Option } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { Actor } from "./Actor.ts"
import { repeatedWhereSafe } from "./SafeRepeat.ts"

/** Address of the API, and the transport for its requests. */
export interface ApiTransportShape {
  /** Origin of the server, or the address at which a host application mounts the API, without a trailing slash. */
  readonly baseUrl: string
  /** Adds the actor's credential to requests. */
  readonly client: HttpClient.HttpClient
  /** True if an unreachable server may become reachable again, which means that live streams should be resumed. */
  readonly returns: boolean
}

/** Adds the credential of the program's `Actor` to requests, if the program has an actor. */
export const signed = (client: HttpClient.HttpClient): HttpClient.HttpClient =>
  HttpClient.mapRequestEffect(client, (request) =>
    Effect.map(
      Effect.serviceOption(Actor),
      Option.match({ onNone: () => request, onSome: ({ sign }) => sign(request) })
    )
  )

export const withoutTrailingSlash = (url: string): string => {
  let end = url.length
  while (url[end - 1] === "/") end--
  return url.slice(0, end)
}

/**
 * The transport for requests. It is the only difference between a control plane in the same process and a server that is
 * reached over HTTP.
 */
export class ApiTransport extends Context.Service<ApiTransport, ApiTransportShape>()("svc/src/client/ApiTransport") {
  /**
   * Uses the platform's `fetch`. Retries a request that the server was too busy to handle, if repeating it has no second effect.
   */
  static readonly overFetch = (baseUrl: string): Layer.Layer<ApiTransport> =>
    Layer.effect(
      ApiTransport,
      Effect.map(HttpClient.HttpClient, (client) => ({
        baseUrl: withoutTrailingSlash(baseUrl),
        client: signed(repeatedWhereSafe(client)),
        returns: true
      }))
    ).pipe(Layer.provide(FetchHttpClient.layer))
}
