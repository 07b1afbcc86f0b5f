import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  Configuration,
  type CustomFetch,
  customFetch,
  discovery,
  None,
  refreshTokenGrant,
  ResponseBodyError,
  type ServerMetadata,
  type TokenEndpointResponse,
  tokenRevocation,
  WWWAuthenticateChallengeError
} from "openid-client"
import { pinnedAddresses } from "../git/GitEndpoint.ts"
import { GitPolicy } from "../git/GitPolicy.ts"
import {
  type AuthorizationAsked,
  type AuthorizationServer,
  type GrantedTokens,
  OAuthFailure
} from "./AuthorizationServer.ts"
import { secretAuthentication } from "./SecretAuthentication.ts"
import { outsideTransaction } from "../thread/OutsideTransaction.ts"
import type { IncomingMessage } from "node:http"
import { pinnedRequest } from "../git/PinnedRequest.ts"

/** Maximum size of a response from an authorization server. Documents and tokens are small. */
const maxAnswerBytes = 256 * 1024

/** The response is larger than the limit. */
class AnswerTooLong extends Error {
  override readonly name = "AnswerTooLong"
}

const bodyOf = async (response: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> => {
  const parts: Array<Uint8Array> = []
  let received = 0
  try {
    for await (const chunk of response) {
      received += chunk.length
      if (received > maxAnswerBytes) throw new AnswerTooLong(`more than ${maxAnswerBytes} bytes`)
      parts.push(chunk)
    }
    if (!response.complete) throw new Error("the answer ended too early")
  } finally {
    response.destroy()
  }
  return new Uint8Array(Buffer.concat(parts))
}

const encoded = (body: Parameters<CustomFetch>[1]["body"]): Buffer | undefined => {
  if (body === undefined || body === null) return undefined
  if (typeof body === "string" || body instanceof URLSearchParams) return Buffer.from(body.toString())
  if (body instanceof ArrayBuffer) return Buffer.from(body)
  if (body instanceof Uint8Array) return Buffer.from(body)
  throw new Error("a body of this kind is never sent")
}

/**
 * Returns true if the request was certainly never sent. Otherwise the server may have received it, and a token request must not
 * be repeated.
 */
const neverConnected = (error: unknown): boolean =>
  error instanceof Error &&
  "code" in error &&
  ["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"].includes(String(error.code))

/**
 * Creates a fetch function for the library. The function connects only to one origin, at its checked addresses, limits the
 * size of responses, and aborts when the signal is triggered. It returns a redirect like any other response; the library
 * then refuses the redirect.
 */
const pinnedFetch =
  (origin: string, addresses: ReadonlyArray<string>): CustomFetch =>
  async (address, { body, headers, method, signal }) => {
    const url = new URL(address)
    if (url.origin !== origin) throw new Error("the address has a different origin than the checked address")
    const sent = encoded(body)
    const outgoing = {
      url,
      method,
      headers: {
        ...headers,
        "accept-encoding": "identity",
        ...(sent === undefined ? {} : { "content-length": String(sent.length) })
      },
      body: sent,
      signal: signal ?? AbortSignal.timeout(30_000)
    }
    let failure: unknown = new Error("the host has no address")
    for (const candidate of addresses) {
      const response = await pinnedRequest(outgoing, candidate).catch((error: unknown) => {
        failure = error
        return undefined
      })
      if (response === undefined) {
        if (method === "GET" || neverConnected(failure)) continue
        break
      }
      const status = response.statusCode ?? 0
      const answered = new Headers()
      for (const name of ["content-type", "www-authenticate", "location", "date"]) {
        const value = response.headers[name]
        if (typeof value === "string") answered.set(name, value)
      }
      const bytes = await bodyOf(response)
      const empty = status === 204 || status === 205 || status === 304
      return new Response(empty ? null : bytes, { status, headers: answered })
    }
    throw failure
  }

const outside = outsideTransaction("An authorization server is asked")

const requestSeconds = 10
// Lifetime of cached metadata. A server's endpoints rarely change.
const metadataGoodFor = Duration.hours(1)

const printable = (text: string, max: number) => text.replaceAll(/[^\x20-\x7e]/g, " ").slice(0, max)

/** Returns the text if it is a valid RFC 6749 error code, and a placeholder otherwise. */
const errorCode = (text: string): string => (/^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/.test(text) ? text : "an unknown error")

const failure = (reason: OAuthFailure["reason"], message: string, error?: string) =>
  new OAuthFailure({ reason, message, ...(error === undefined ? {} : { error }) })

const hostOf = ({ issuer }: AuthorizationServer) => new URL(issuer).host

// Codes for a response that the library cannot read: a redirect, an unexpected status, or a body that is not JSON.
const unreadableCodes: ReadonlySet<string> = new Set([
  "OAUTH_RESPONSE_IS_NOT_CONFORM",
  "OAUTH_PARSE_ERROR",
  "OAUTH_RESPONSE_IS_NOT_JSON"
])
const lostCodes: ReadonlySet<string> = new Set(["OAUTH_TIMEOUT", "OAUTH_ABORT"])
const unsentCodes: ReadonlySet<string> = new Set(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EADDRNOTAVAIL"])

/** Returns the first error code in a chain of causes. */
const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return ""
  return "code" in error && typeof error.code === "string" ? error.code : codeOf(error.cause)
}

/** Explains why the library failed. Does not use the library's own messages and causes, which may contain request data. */
const explained = (server: AuthorizationServer, doing: string, sent: boolean) => (cause: unknown) => {
  const host = hostOf(server)
  if (cause instanceof AuthorizationResponseError) {
    const words = cause.error_description === undefined ? "" : ` (${printable(cause.error_description, 200)})`
    return failure("denied", `${host} answered ${errorCode(cause.error)}${words}.`, errorCode(cause.error))
  }
  if (cause instanceof ResponseBodyError) {
    const error = errorCode(cause.error)
    const temporary = cause.status >= 500 || cause.status === 429
    return failure(temporary ? "unanswered" : "refused", `${host} refused ${doing}: ${error}.`, error)
  }
  if (cause instanceof WWWAuthenticateChallengeError) {
    return failure("refused", `${host} refused ${doing}: invalid_client.`, "invalid_client")
  }
  const code = codeOf(cause)
  if (code.startsWith("OAUTH_") && !lostCodes.has(code)) {
    if (unreadableCodes.has(code)) {
      return failure(sent ? "unanswered" : "unusable", `${host} gave no answer to ${doing} that could be read.`)
    }
    return failure(sent ? "invalid" : "unusable", `The answer of ${host} does not hold.`)
  }
  return failure(
    sent && !unsentCodes.has(code) ? "unanswered" : "unreachable",
    `${host} did not answer ${doing}. Try again later.`
  )
}

const declaredMetadata = ({ endpoints, issuer }: AuthorizationServer): ServerMetadata | undefined =>
  endpoints === undefined
    ? undefined
    : {
        issuer,
        authorization_endpoint: endpoints.authorization,
        token_endpoint: endpoints.token,
        ...(endpoints.revocation === undefined ? {} : { revocation_endpoint: endpoints.revocation }),
        authorization_response_iss_parameter_supported: endpoints.namesItself
      }

const authentication = ({ clientSecret, secretMethod }: AuthorizationServer) =>
  clientSecret === undefined ? None() : secretAuthentication(clientSecret, secretMethod)

const configured = (server: AuthorizationServer, metadata: ServerMetadata, fetch?: CustomFetch) => {
  const configuration = new Configuration(metadata, server.clientId, undefined, authentication(server))
  configuration.timeout = requestSeconds
  if (fetch !== undefined) configuration[customFetch] = fetch
  // Allow plain http here, because the address policy has already checked whether this server may use it.
  allowInsecureRequests(configuration)
  return configuration
}

const grantedTokens = (tokens: TokenEndpointResponse): GrantedTokens => ({
  accessToken: Redacted.make(tokens.access_token),
  refreshToken: tokens.refresh_token === undefined ? undefined : Redacted.make(tokens.refresh_token),
  expiresIn: tokens.expires_in,
  scopes: tokens.scope?.split(" ").filter((scope) => scope !== "")
})

/**
 * Acts as a client of authorization servers: authorization code flow with PKCE, refresh and revocation. Sends requests only to
 * public addresses over https, or to origins that the operator allows, and never follows a redirect.
 */
export class OAuthClient extends Context.Service<
  OAuthClient,
  {
    /** Returns the URL at which a person's browser starts the authorization. */
    readonly authorizationUrl: (
      server: AuthorizationServer,
      asked: AuthorizationAsked
    ) => Effect.Effect<string, OAuthFailure>
    /** Redeems the response that arrived at the redirect URI. `search` is the query as received. */
    readonly redeem: (
      server: AuthorizationServer,
      asked: Pick<AuthorizationAsked, "redirectUri" | "state" | "codeVerifier">,
      search: string
    ) => Effect.Effect<GrantedTokens, OAuthFailure>
    readonly refresh: (
      server: AuthorizationServer,
      refreshToken: Redacted.Redacted
    ) => Effect.Effect<GrantedTokens, OAuthFailure>
    /** Revokes a token (RFC 7009). Fails if the server has no revocation endpoint. */
    readonly revoke: (
      server: AuthorizationServer,
      token: Redacted.Redacted,
      kind: "access_token" | "refresh_token"
    ) => Effect.Effect<"revoked" | "unsupported", OAuthFailure>
  }
>()("svc/runner/oauth/OAuthClient") {
  static readonly layer = Layer.effect(
    OAuthClient,
    Effect.gen(function* () {
      const policy = yield* GitPolicy

      /** Opens a connection to one endpoint of a server, at one of its checked addresses. */
      const wayTo = Effect.fnUntraced(function* (server: AuthorizationServer, endpoint: string) {
        const url = URL.parse(endpoint)
        const allowed = url !== null && (url.protocol === "https:" || policy.allowOrigins.includes(url.origin))
        if (url === null || !allowed || url.username !== "" || url.hash !== "") {
          return yield* failure("unusable", `An endpoint of ${hostOf(server)} is no https address that is allowed.`)
        }
        const addresses = yield* pinnedAddresses(url, "of the authorization server").pipe(
          Effect.provideService(GitPolicy, policy),
          Effect.mapError(({ _tag, message }) =>
            failure(_tag === "GitAddressRefused" ? "unusable" : "unreachable", message)
          )
        )
        return pinnedFetch(url.origin, addresses)
      })

      const discovered = Effect.fn("OAuthClient.discover")(function* (server: AuthorizationServer) {
        const declared = declaredMetadata(server)
        if (declared !== undefined) return declared
        const fetch = yield* wayTo(server, server.issuer)
        const found = yield* Effect.tryPromise({
          try: () =>
            discovery(new URL(server.issuer), server.clientId, undefined, authentication(server), {
              algorithm: server.metadata,
              timeout: requestSeconds,
              [customFetch]: fetch,
              execute: [allowInsecureRequests]
            }),
          catch: explained(server, "the request for its metadata", false)
        }).pipe(outside)
        const metadata: ServerMetadata = found.serverMetadata()
        // Require exactly the declared issuer, because the library tolerates some vendors' issuers.
        if (new URL(metadata.issuer).href !== new URL(server.issuer).href) {
          return yield* failure("unusable", `${hostOf(server)} publishes the metadata of another issuer.`)
        }
        if (server.pkce === "advertised" && metadata.code_challenge_methods_supported?.includes("S256") !== true) {
          return yield* failure(
            "unusable",
            `${hostOf(server)} does not say that it supports PKCE with S256 (code_challenge_methods_supported).`
          )
        }
        return metadata
      })

      interface Known {
        readonly metadata: ServerMetadata
        readonly until: number
      }
      const known = new Map<string, Known>()
      const metadataOf = Effect.fnUntraced(function* (server: AuthorizationServer) {
        const at = yield* Clock.currentTimeMillis
        const key = JSON.stringify([server.issuer, server.metadata, server.pkce, server.endpoints])
        const found = known.get(key)
        if (found !== undefined && found.until > at) return found.metadata
        const metadata = yield* discovered(server)
        // Do not overwrite the result of a newer request.
        if (known.get(key) === found) known.set(key, { metadata, until: at + Duration.toMillis(metadataGoodFor) })
        return metadata
      })

      const atTokenEndpoint = Effect.fnUntraced(function* (
        server: AuthorizationServer,
        doing: string,
        request: (configuration: Configuration) => Promise<TokenEndpointResponse>
      ) {
        const metadata = yield* metadataOf(server)
        const fetch = yield* wayTo(server, metadata.token_endpoint ?? "")
        const tokens = yield* Effect.tryPromise({
          try: () => request(configured(server, metadata, fetch)),
          catch: explained(server, doing, true)
        }).pipe(outside)
        if (tokens.token_type !== "bearer") {
          return yield* failure("invalid", `${hostOf(server)} gave tokens of another type than bearer.`)
        }
        return grantedTokens(tokens)
      })

      return OAuthClient.of({
        authorizationUrl: Effect.fn("OAuthClient.authorizationUrl")(function* (server, asked) {
          const metadata = yield* metadataOf(server)
          const endpoint = URL.parse(metadata.authorization_endpoint ?? "")
          // Require https to protect the content of the request. The address policy does not apply to this URL, because the
          // person's browser opens it.
          if (endpoint === null || !(endpoint.protocol === "https:" || policy.allowOrigins.includes(endpoint.origin))) {
            return yield* failure("unusable", `The authorization endpoint of ${hostOf(server)} is no https address.`)
          }
          const challenge = yield* Effect.promise(() => calculatePKCECodeChallenge(Redacted.value(asked.codeVerifier)))
          return buildAuthorizationUrl(configured(server, metadata), {
            ...asked.parameters,
            redirect_uri: asked.redirectUri,
            response_type: "code",
            ...(asked.scopes.length === 0 ? {} : { scope: asked.scopes.join(" ") }),
            state: asked.state,
            code_challenge: challenge,
            code_challenge_method: "S256"
          }).href
        }),
        redeem: Effect.fn("OAuthClient.redeem")((server, asked, search) =>
          atTokenEndpoint(server, "the authorization code", (configuration) =>
            authorizationCodeGrant(configuration, new URL(`${asked.redirectUri}${search}`), {
              expectedState: asked.state,
              pkceCodeVerifier: Redacted.value(asked.codeVerifier)
            })
          )
        ),
        refresh: Effect.fn("OAuthClient.refresh")((server, refreshToken) =>
          atTokenEndpoint(server, "to renew the access token", (configuration) =>
            refreshTokenGrant(configuration, Redacted.value(refreshToken))
          )
        ),
        revoke: Effect.fn("OAuthClient.revoke")(function* (server, token, kind) {
          const metadata = yield* metadataOf(server)
          if (metadata.revocation_endpoint === undefined) return "unsupported"
          const fetch = yield* wayTo(server, metadata.revocation_endpoint)
          yield* Effect.tryPromise({
            try: () =>
              tokenRevocation(configured(server, metadata, fetch), Redacted.value(token), { token_type_hint: kind }),
            catch: explained(server, "to revoke a token", true)
          }).pipe(outside)
          return "revoked"
        })
      })
    })
  )
}
