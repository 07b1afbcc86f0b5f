import { authorization, challenge, query } from "./Browser.ts"
import { callback, secret } from "./IssuerFixture.ts"

/** A malformed request. If svc's response deliberately differs from the reference, the entry describes the difference. */
export interface MalformedRequest {
  readonly name: string
  readonly path: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
  /** The reason why svc's response differs, if it does. */
  readonly wanted?: string
}

const authorize = (
  name: string,
  fields: Readonly<Record<string, string | undefined>>,
  options: { readonly extra?: string; readonly wanted?: string } = {}
): MalformedRequest => {
  const kept = Object.entries({ ...authorization({ client_id: "spa" }), ...fields }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const]
  )
  const { extra = "", wanted } = options
  return {
    name: `authorize: ${name}`,
    path: `/oauth/authorize?${query(Object.fromEntries(kept))}${extra}`,
    ...(wanted === undefined ? {} : { wanted })
  }
}

const basic = { authorization: `Basic ${Buffer.from(`basic:${secret}`).toString("base64")}` }
const form = { "content-type": "application/x-www-form-urlencoded" }

const post = (
  name: string,
  path: string,
  body: string,
  options: { readonly headers?: Readonly<Record<string, string>>; readonly wanted?: string } = {}
): MalformedRequest => ({
  name: `${path.slice("/oauth/".length)}: ${name}`,
  path,
  body,
  headers: options.headers ?? { ...form, ...basic },
  ...(options.wanted === undefined ? {} : { wanted: options.wanted })
})

const token = (name: string, body: string, options?: Parameters<typeof post>[3]) =>
  post(name, "/oauth/token", body, options)

const code = `grant_type=authorization_code&code=unknown&redirect_uri=${encodeURIComponent(callback)}`

const challenged = "RFC 6749 asks for a challenge beside a 401; ours always comes with one."
const unauthenticated = "No readable client authentication is invalid_client (RFC 6749 5.2)."
const unstored = "No answer of these endpoints is ever stored."

export const malformedRequests: ReadonlyArray<MalformedRequest> = [
  authorize("nothing wrong, nobody signed in", {}),
  authorize("prompt=none, nobody signed in", { prompt: "none" }),
  authorize("prompt=none with another", { prompt: "none login" }),
  authorize("an unknown prompt", { prompt: "dance" }),
  authorize("no client_id", { client_id: undefined }),
  authorize("an unknown client", { client_id: "nobody" }),
  authorize("client_id twice", {}, { extra: "&client_id=spa" }),
  authorize("redirect_uri with a slash more", { redirect_uri: `${callback}/` }),
  authorize("redirect_uri with a query more", { redirect_uri: `${callback}?a=1` }),
  authorize("redirect_uri in capitals", { redirect_uri: "https://RP.example.com/cb" }),
  authorize("redirect_uri with the default port", { redirect_uri: "https://rp.example.com:443/cb" }),
  authorize("redirect_uri with a dot segment", { redirect_uri: "https://rp.example.com/./cb" }),
  authorize("redirect_uri with a fragment", { redirect_uri: `${callback}#x` }),
  authorize("redirect_uri elsewhere", { redirect_uri: "https://evil.example.com/cb" }),
  authorize("redirect_uri is no URI", { redirect_uri: "not a uri" }),
  authorize(
    "redirect_uri twice",
    {},
    {
      extra: `&redirect_uri=${encodeURIComponent(callback)}`,
      wanted: "An ambiguous address is no address: nothing is sent there."
    }
  ),
  authorize(
    "no redirect_uri",
    { redirect_uri: undefined },
    { wanted: "OpenID Connect requires it; nothing is guessed." }
  ),
  authorize("no response_type", { response_type: undefined }),
  authorize("response_type=token", { response_type: "token" }),
  authorize(
    "response_type=id_token",
    { response_type: "id_token" },
    { wanted: "Unsupported is what it is; the reference looks at the challenge first." }
  ),
  authorize("response_type=code token", { response_type: "code token" }),
  authorize(
    "response_type=none",
    { response_type: "none" },
    { wanted: "Unsupported is what it is; the reference looks at the challenge first." }
  ),
  authorize("response_type twice", {}, { extra: "&response_type=code" }),
  authorize(
    "an unknown response_mode",
    { response_mode: "carrier_pigeon" },
    { wanted: "unsupported_response_mode is in no registry of OAuth errors." }
  ),
  authorize("state twice", {}, { extra: "&state=again" }),
  authorize("scope twice", {}, { extra: "&scope=openid" }),
  authorize("nonce twice", {}, { extra: "&nonce=again" }),
  authorize("an unknown scope beside a good one", { scope: "openid something" }),
  authorize("no PKCE from a public client", { code_challenge: undefined, code_challenge_method: undefined }),
  authorize("code_challenge_method=plain", { code_challenge_method: "plain" }),
  authorize("an unknown code_challenge_method", { code_challenge_method: "S512" }),
  authorize("a challenge without a method", { code_challenge_method: undefined }),
  authorize("a method without a challenge", { code_challenge: undefined }),
  authorize("a challenge that is too short", { code_challenge: "short" }),
  authorize("a challenge with characters of no base64url", { code_challenge: `${challenge.slice(0, -1)}!` }),
  authorize("a request object", { request: "a.b.c" }),
  authorize("a request_uri", { request_uri: "https://rp.example.com/r" }),
  authorize("a registration", { registration: "{}" }),
  authorize("max_age that is no number", { max_age: "soon" }),
  authorize("max_age below zero", { max_age: "-1" }),
  authorize("a claims parameter that is no JSON", { claims: "{" }),
  authorize("a claims parameter that is no object", { claims: "[]" }),
  authorize("an id_token_hint that is no token", { id_token_hint: "nonsense" }),
  authorize("an unknown display", { display: "tv" }),
  authorize("a native client on another port", { client_id: "desktop", redirect_uri: "http://127.0.0.1:5123/cb" }),
  authorize("a native client on localhost", { client_id: "desktop", redirect_uri: "http://localhost:5123/cb" }),
  authorize("a native client on another path", { client_id: "desktop", redirect_uri: "http://127.0.0.1:5123/x" }),
  token("an unknown code", code),
  token("no grant_type", "code=x"),
  token("no code", `grant_type=authorization_code&redirect_uri=${encodeURIComponent(callback)}`),
  token("the password grant", "grant_type=password&username=a&password=b"),
  token("the implicit grant", "grant_type=implicit"),
  token("client_credentials", "grant_type=client_credentials"),
  token("grant_type twice", `${code}&grant_type=authorization_code`),
  token("code twice", `${code}&code=again`),
  token("an unknown client", `${code}&client_id=nobody`, { headers: form, wanted: challenged }),
  token("no client", code, { headers: form, wanted: unauthenticated }),
  token("a wrong secret", code, { headers: { ...form, authorization: `Basic ${btoa("basic:wrong")}` } }),
  token("a Basic that is no base64", code, {
    headers: { ...form, authorization: "Basic ???" },
    wanted: unauthenticated
  }),
  token("two ways to authenticate", `${code}&client_secret=${secret}`),
  token("a secret in the form that is wrong", `${code}&client_id=basic&client_secret=wrong`, {
    headers: form,
    wanted: challenged
  }),
  token("a public client without PKCE verifier", `${code}&client_id=spa`, { headers: form }),
  token("a JSON body", '{"grant_type":"authorization_code"}', {
    headers: { ...basic, "content-type": "application/json" }
  }),
  token("an unknown refresh token", "grant_type=refresh_token&refresh_token=unknown"),
  token("no refresh token", "grant_type=refresh_token"),
  token(
    "an unknown device code",
    "grant_type=urn:ietf:params:oauth:grant-type:device_code&device_code=x&client_id=svc-cli",
    {
      headers: form
    }
  ),
  post("an unknown token", "/oauth/revoke", "token=unknown", { wanted: unstored }),
  post("no token", "/oauth/revoke", "x=y", { wanted: unstored }),
  post("no client", "/oauth/revoke", "token=unknown", { headers: form, wanted: unauthenticated }),
  post("an unknown token", "/oauth/introspect", "token=unknown"),
  post("no token", "/oauth/introspect", "x=y"),
  post("no client", "/oauth/introspect", "token=unknown", { headers: form, wanted: unauthenticated }),
  post("an unknown client", "/oauth/device_authorization", "client_id=nobody", { headers: form, wanted: challenged }),
  post("a client without the flow", "/oauth/device_authorization", "client_id=spa&scope=openid", {
    headers: form,
    wanted: "unauthorized_client is the code for a flow that the client may not use."
  }),
  { name: "userinfo: a bad bearer", path: "/oauth/userinfo", headers: { authorization: "Bearer nonsense" } },
  { name: "userinfo: no bearer", path: "/oauth/userinfo" },
  {
    name: "userinfo: a Basic",
    path: "/oauth/userinfo",
    headers: basic,
    wanted: "Another scheme is no credential: 401 tells clients to fetch a token."
  },
  { name: "logout: a hint that is not a token", path: "/oauth/logout?id_token_hint=nonsense" },
  {
    name: "logout: an address without a client",
    path: "/oauth/logout?post_logout_redirect_uri=https%3A%2F%2Fevil.example.com",
    wanted: "The reference forgets the address and asks; we say that it is not registered."
  },
  {
    name: "logout: an address that is not registered",
    path: "/oauth/logout?client_id=basic&post_logout_redirect_uri=https%3A%2F%2Fevil.example.com"
  }
]
