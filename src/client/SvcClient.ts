import { Context, type Effect, Layer, Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"
import { SvcApi } from "../../schema/api/SvcApi.ts"
import { repeatedWhereSafe } from "./SafeRepeat.ts"

export interface ClientOptions {
  /** Origin of the server, e.g. `https://svc.example.com`. */
  readonly baseUrl: string
  /** A personal access token; a browser on the server's own origin needs none, its session cookie does. */
  readonly token?: Redacted.Redacted | undefined
  /** A session of a person, for what tokens may not do. A client has a token or a session. */
  readonly session?: Redacted.Redacted | undefined
  /** Repeats what the server was too busy for, and what did not arrive, where a repetition does nothing twice. */
  readonly retries?: boolean | undefined
}

const transformed =
  ({ retries, session, token }: ClientOptions) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient => {
    const repeated = retries === true ? repeatedWhereSafe(client) : client
    if (token !== undefined) return HttpClient.mapRequest(repeated, HttpClientRequest.bearerToken(token))
    if (session === undefined) return repeated
    return HttpClient.mapRequest(repeated, HttpClientRequest.setHeader(sessionHeader, Redacted.value(session)))
  }

/** The methods of the API by group. Named, so that a hover shows the name instead of every route. */
export interface SvcClientShape extends HttpApiClient.ForApi<typeof SvcApi> {}

/**
 * Creates the typed client of the API: one method per route, by group. Methods fail with `ApiError` for the server's refusals,
 * and with client errors for requests that never arrived.
 */
export const makeClient = (options: ClientOptions): Effect.Effect<SvcClientShape, never, HttpClient.HttpClient> =>
  HttpApiClient.make(SvcApi, { baseUrl: options.baseUrl, transformClient: transformed(options) })

/** The typed client as a service. */
export class SvcClient extends Context.Service<SvcClient, SvcClientShape>()("svc/client/SvcClient") {
  /** Over the platform's `fetch`: browsers, Bun and Node. */
  static readonly layer = (options: ClientOptions) =>
    Layer.effect(SvcClient, makeClient(options)).pipe(Layer.provide(FetchHttpClient.layer))
}
