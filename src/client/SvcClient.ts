import { Context, type Effect, Layer, type Redacted } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { SvcApi } from "../../schema/api/SvcApi.ts"

export interface ClientOptions {
  /** Origin of the server, e.g. `https://svc.example.com`. */
  readonly baseUrl: string
  /** A personal access token; a browser on the server's own origin needs none, its session cookie does. */
  readonly token?: Redacted.Redacted | undefined
}

const authenticated = ({ token }: ClientOptions) =>
  token === undefined
    ? (client: HttpClient.HttpClient) => client
    : HttpClient.mapRequest(HttpClientRequest.bearerToken(token))

/**
 * Creates the typed client of the API: one method per route, by group. Methods fail with `ApiError` for the server's refusals,
 * and with client errors for requests that never arrived.
 */
export const makeClient = (options: ClientOptions) =>
  HttpApiClient.make(SvcApi, { baseUrl: options.baseUrl, transformClient: authenticated(options) })

/** The typed client as a service. */
export class SvcClient extends Context.Service<SvcClient, Effect.Success<ReturnType<typeof makeClient>>>()(
  "svc/client/SvcClient"
) {
  /** Over the platform's `fetch`: browsers, Bun and Node. */
  static readonly layer = (options: ClientOptions) =>
    Layer.effect(SvcClient, makeClient(options)).pipe(Layer.provide(FetchHttpClient.layer))
}
