import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { FetchHttpClient, HttpClient, HttpClientRequest } from "effect/http"
import { sessionHeader } from "../../schema/api/SessionHeader.ts"
import { ApiTransport, withoutTrailingSlash } from "./ApiTransport.ts"
import { clientGroups, type SvcClientShape } from "./ClientGroups.ts"
import { repeatedWhereSafe } from "./SafeRepeat.ts"
import { UnreadableAnswer } from "./SvcError.ts"

export interface ClientOptions {
  /** Origin of the server, such as `https://svc.example.com`, or the address at which a host application mounts the API. */
  readonly baseUrl: string
  /**
   * A personal access token. A page on the server's own origin does not need a token, because the browser sends its session
   * cookie.
   */
  readonly token?: Redacted.Redacted | undefined
  /** A person's session, for operations that are not allowed with a token. A client has either a token or a session. */
  readonly session?: Redacted.Redacted | undefined
  /**
   * If set, retries requests that never arrived or that the server was too busy to handle, unless repeating them could have
   * a second effect.
   */
  readonly retries?: boolean | undefined
}

/** Adds the credential given in the options to every request. */
export const authenticated =
  ({ session, token }: ClientOptions) =>
  (client: HttpClient.HttpClient): HttpClient.HttpClient => {
    if (token !== undefined) return HttpClient.mapRequest(client, HttpClientRequest.bearerToken(token))
    if (session === undefined) return client
    return HttpClient.mapRequest(client, HttpClientRequest.setHeader(sessionHeader, Redacted.value(session)))
  }

const overClient = (baseUrl: string, httpClient: HttpClient.HttpClient): SvcClientShape =>
  clientGroups({
    baseUrl,
    httpClient,
    transformResponse: Effect.mapError((error) =>
      Schema.isSchemaError(error) ? new UnreadableAnswer(error.issue) : error
    )
  })

/**
 * Creates the typed client of the API, with one method for each route, grouped. Methods fail with `ApiError` if the server
 * refuses the request, and with client errors if the request does not arrive.
 */
export const makeClient = (options: ClientOptions): Effect.Effect<SvcClientShape, never, HttpClient.HttpClient> =>
  Effect.map(HttpClient.HttpClient, (client) =>
    overClient(
      withoutTrailingSlash(options.baseUrl),
      authenticated(options)(options.retries === true ? repeatedWhereSafe(client) : client)
    )
  )

/** The typed client as a service. */
export class SvcClient extends Context.Service<SvcClient, SvcClientShape>()("svc/src/client/SvcClient") {
  /** Uses the `fetch` of the platform (a browser, Bun or Node). */
  static readonly layer = (options: ClientOptions): Layer.Layer<SvcClient> =>
    Layer.effect(SvcClient, makeClient(options)).pipe(Layer.provide(FetchHttpClient.layer))

  /** Sends requests on behalf of the program's `Actor`. */
  static readonly overTransport: Layer.Layer<SvcClient, never, ApiTransport> = Layer.effect(
    SvcClient,
    Effect.map(ApiTransport, ({ baseUrl, client }) => overClient(baseUrl, client))
  )
}
