import { Context, Effect, Layer, Option } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { Actor } from "./Actor.ts"
import { repeatedWhereSafe } from "./SafeRepeat.ts"

/** The address of the API, and the transport for its requests. */
export interface ApiTransportShape {
  /** Origin of the server, or the address at which a host mounts the API, without a trailing slash. */
  readonly baseUrl: string
  /** Signs on behalf of the actor. */
  readonly client: HttpClient.HttpClient
  /** True if a server may come back, in which case live streams should be resumed. */
  readonly returns: boolean
}

/** Signs requests on behalf of the program's `Actor`, if it has one. */
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

/** The only difference between an in-process control plane and a server over HTTP. */
export class ApiTransport extends Context.Service<ApiTransport, ApiTransportShape>()("svc/src/client/ApiTransport") {
  /**
   * Uses the platform's `fetch`. A request that the server was too busy to handle is retried if repeating it has no second
   * effect.
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
