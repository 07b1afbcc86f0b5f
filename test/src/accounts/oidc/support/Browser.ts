import { Clock, Context, Effect, Schema } from "effect"
import { createHash } from "node:crypto"
import { TestIssuer } from "./IssuerFixture.ts"
import { callback, secret } from "./IssuerFixture.ts"

export const verifier = "a-code-verifier-that-is-long-enough-to-be-one-0123456789"
export const challenge = createHash("sha256").update(verifier).digest("base64url")

export type Fields = Readonly<Record<string, string>>

/** Sends a request to the issuer under test, without following redirects. */
export const send = Effect.fnUntraced(function* (path: string, init: RequestInit = {}) {
  const { handle, issuer } = yield* TestIssuer
  const clock = yield* Clock.Clock
  const request = new Request(path.startsWith("http") ? path : `${issuer}${path}`, { redirect: "manual", ...init })
  return yield* Effect.promise(() => handle(request, Context.make(Clock.Clock, clock)))
})

export const query = (fields: Fields): string => new URLSearchParams(fields).toString()

export const post = (path: string, fields: Fields | string, headers: Record<string, string> = {}) =>
  send(path, {
    method: "POST",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
    body: typeof fields === "string" ? fields : query(fields)
  })

const decodeObject = Schema.decodeUnknownEffect(Schema.Record(Schema.String, Schema.Unknown))

/** Parses a response as a JSON object. */
export const json = (response: Response) =>
  Effect.promise(() => response.json()).pipe(Effect.flatMap(decodeObject), Effect.orDie)

/** Returns the error code of a response. */
export const errorOf = (response: Response) => Effect.map(json(response), (body) => body["error"])

export const bodyText = (response: Response) => Effect.promise(() => response.text())

/** Returns a valid authorization request from the client `basic`. */
export const authorization = (fields: Fields = {}): Record<string, string> => ({
  client_id: "basic",
  redirect_uri: callback,
  response_type: "code",
  scope: "openid",
  state: "the-state",
  nonce: "the-nonce",
  code_challenge: challenge,
  code_challenge_method: "S256",
  ...fields
})

export const visit = (path: string, cookie?: string) => send(path, cookie === undefined ? {} : { headers: { cookie } })

const unescaped = (text: string): string =>
  text.replaceAll("&quot;", '"').replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&amp;", "&")

const hidden = (page: string, name: string): string =>
  unescaped(new RegExp(`name="${name}" value="([^"]*)"`).exec(page)?.[1] ?? "")

/** Returns the next URL that the browser opens, from a redirect or from a page that continues automatically. */
export const onwardOf = Effect.fnUntraced(function* (response: Response) {
  const location = response.headers.get("location")
  if (location !== null) return location
  const page = yield* bodyText(response.clone())
  const link = / id="onward" href="([^"]*)"/.exec(page)?.[1]
  if (link === undefined) return undefined
  yield* mustBe(response.headers.get("refresh"), `0; url=${unescaped(link)}`, "the page continues where its link leads")
  yield* mustBe(response.headers.get("referrer-policy"), "no-referrer", "Referrer-Policy")
  yield* mustBe(response.headers.get("cache-control"), "no-store", "Cache-Control")
  return unescaped(link)
})

export const formFields = (page: string) => ({ request: hidden(page, "request"), token: hidden(page, "token") })

/** Clicks a button on a page, as a browser would. */
export const press = (path: string, fields: Fields, cookie: string) =>
  post(path, fields, { cookie, "sec-fetch-site": "same-origin" })

/**
 * Returns the response parameters at the browser's final destination, or nothing if the browser stays on one of the issuer's
 * pages.
 */
export interface Arrival {
  readonly response: Response
  readonly location: string | undefined
  readonly parameters: URLSearchParams
}

const arrival = Effect.fnUntraced(function* (response: Response) {
  const location = yield* onwardOf(response)
  const at = location?.indexOf("?") ?? -1
  const arrived: Arrival = {
    response,
    location,
    parameters: new URLSearchParams(at < 0 ? "" : location?.slice(at + 1))
  }
  return arrived
})

/** Opens an authorization request and consents if prompted. */
export const authorize = Effect.fnUntraced(function* (fields: Fields | string, cookie?: string) {
  const opened = yield* visit(`/oauth/authorize?${typeof fields === "string" ? fields : query(fields)}`, cookie)
  if (opened.status !== 200 || cookie === undefined) return yield* arrival(opened)
  const page = yield* bodyText(opened)
  return yield* arrival(yield* press("/oauth/consent", { ...formFields(page), decision: "allow" }, cookie))
})

/** Returns the code of a successful authorization, and dies if there is no code. */
export const codeOf = Effect.fnUntraced(function* (fields: Fields, cookie: string) {
  const { location, parameters } = yield* authorize(fields, cookie)
  const code = parameters.get("code")
  return code ?? (yield* Effect.die(new Error(`There is no code in ${location ?? "a page"}`)))
})

export const basicAuth = (id = "basic", password = secret) => ({
  authorization: `Basic ${Buffer.from(`${id}:${password}`).toString("base64")}`
})

/** Exchanges a code issued to the client `basic`. */
export const exchange = (code: string, fields: Fields = {}, headers: Record<string, string> = basicAuth()) =>
  post(
    "/oauth/token",
    { grant_type: "authorization_code", code, redirect_uri: callback, code_verifier: verifier, ...fields },
    headers
  )

export const refresh = (token: string, fields: Fields = {}, headers: Record<string, string> = basicAuth()) =>
  post("/oauth/token", { grant_type: "refresh_token", refresh_token: token, ...fields }, headers)

export const userInfo = (token: string) => send("/oauth/userinfo", { headers: { authorization: `Bearer ${token}` } })

const Tokens = Schema.Struct({
  access_token: Schema.String,
  token_type: Schema.String,
  expires_in: Schema.Int,
  scope: Schema.String,
  id_token: Schema.optionalKey(Schema.String),
  refresh_token: Schema.optionalKey(Schema.String)
})
const decodeTokens = Schema.decodeUnknownEffect(Tokens)

/** Returns the tokens of a successful response, and dies on any other response. */
export const tokensOf = Effect.fnUntraced(function* (response: Response) {
  const body = yield* json(response)
  return yield* decodeTokens(body).pipe(
    Effect.orDie,
    Effect.filterOrElse(
      () => response.status === 200,
      () => Effect.die(new Error(`The token endpoint answered ${response.status}`))
    )
  )
})

/** Signs in to a client and returns its tokens. */
export const signInTo = Effect.fnUntraced(function* (fields: Fields, cookie: string) {
  const code = yield* codeOf(authorization(fields), cookie)
  return yield* tokensOf(yield* exchange(code))
})

/**
 * Dies unless the value is as expected. Unlike `expect`, this function works outside a test, so that a check can be expected
 * to fail on a mutant.
 */
export const must = (holds: boolean, what: string): Effect.Effect<void> =>
  holds ? Effect.void : Effect.die(new Error(what))

export const mustBe = (actual: unknown, wanted: unknown, what: string) =>
  must(Object.is(actual, wanted), `${what}: expected ${String(wanted)}, got ${String(actual)}`)
