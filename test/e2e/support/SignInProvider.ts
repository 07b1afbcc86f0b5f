import { createHash, randomBytes } from "node:crypto"
import type { RequestListener, ServerResponse } from "node:http"
import { Effect } from "effect"
import { CompactSign, exportJWK, exportSPKI } from "jose"
import { signingKeyPair } from "../../src/accounts/support/SigningKeyPair.ts"
import { loopback } from "../../support/LoopbackServer.ts"

export const providerSecret = "the-secret-of-this-installation-upstream"
export const providerClient = "svc"

/** The provider's misbehaviour, until the test resets it. Responses without an entry are correct. */
export interface Lie {
  /** Replaces claims of the ID token; `undefined` omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: Readonly<Record<string, unknown>>
  /** Replaces the provider's ID token. */
  readonly idToken?: (claims: Readonly<Record<string, unknown>>) => Promise<string> | string
  readonly userInfo?: Readonly<Record<string, unknown>>
  /** Responds instead of the provider. Returns false to leave a request to the provider. */
  readonly answer?: (path: string, response: ServerResponse) => boolean
}

const base64url = (text: string) => Buffer.from(text).toString("base64url")

const newKey = (kid: string) =>
  Effect.gen(function* () {
    const { privateKey, publicKey } = yield* signingKeyPair
    const jwk = yield* Effect.promise(() => exportJWK(publicKey))
    const pem = yield* Effect.promise(() => exportSPKI(publicKey))
    return { kid, privateKey, pem, jwk: { ...jwk, alg: "RS256", use: "sig", kid } }
  })
export type ProviderKey = Effect.Success<ReturnType<typeof newKey>>

interface Issued {
  readonly nonce: string | null
  readonly challenge: string | null
  readonly redirectUri: string | null
  readonly claims: Readonly<Record<string, unknown>>
}

/**
 * Runs an OpenID provider with its own keys on loopback until the Scope closes. Each code works once, for the client that has the
 * secret, with the PKCE verifier and redirect address of its request. `lie` makes the provider misbehave.
 */
export const signInProvider = Effect.fn("signInProvider")(function* (kid: string) {
  const first = yield* newKey(kid)
  const state: { keys: ReadonlyArray<ProviderKey>; signer: ProviderKey; lie: Lie; requests: Array<string> } = {
    keys: [first],
    signer: first,
    lie: {},
    requests: []
  }
  const codes = new Map<string, Issued>()
  const tokens = new Map<string, Readonly<Record<string, unknown>>>()
  let issuer = ""

  const idToken = async ({ claims, nonce }: Issued): Promise<string> => {
    const at = Math.floor(Date.now() / 1000)
    const stated = { iss: issuer, aud: providerClient, iat: at, exp: at + 60, nonce, ...claims, ...state.lie.claims }
    if (state.lie.idToken !== undefined) return state.lie.idToken(stated)
    return new CompactSign(new TextEncoder().encode(JSON.stringify(stated)))
      .setProtectedHeader({ alg: "RS256", kid: state.signer.kid, ...state.lie.header })
      .sign(state.signer.privateKey)
  }

  const json = (response: ServerResponse, value: unknown, status = 200) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.end(JSON.stringify(value))
  }

  const exchange = async (response: ServerResponse, form: URLSearchParams) => {
    const code = codes.get(form.get("code") ?? "")
    codes.delete(form.get("code") ?? "")
    const verifier = form.get("code_verifier") ?? ""
    const holds =
      code !== undefined &&
      form.get("client_id") === providerClient &&
      form.get("client_secret") === providerSecret &&
      form.get("redirect_uri") === code.redirectUri &&
      createHash("sha256").update(verifier).digest("base64url") === code.challenge
    if (!holds) return json(response, { error: "invalid_grant" }, 400)
    const accessToken = randomBytes(16).toString("hex")
    tokens.set(accessToken, code.claims)
    json(response, {
      access_token: accessToken,
      token_type: "Bearer",
      expires_in: 60,
      id_token: await idToken(code)
    })
  }

  const listener: RequestListener = (request, response) => {
    const { pathname: path } = new URL(request.url ?? "/", "http://provider")
    state.requests.push(path)
    if (state.lie.answer?.(path, response) === true) return
    switch (path) {
      case "/.well-known/openid-configuration":
        return json(response, {
          issuer,
          authorization_endpoint: `${issuer}/auth`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/userinfo`,
          response_types_supported: ["code"],
          subject_types_supported: ["public"],
          id_token_signing_alg_values_supported: ["RS256"],
          token_endpoint_auth_methods_supported: ["client_secret_post"],
          authorization_response_iss_parameter_supported: true
        })
      case "/jwks":
        return json(response, { keys: state.keys.map(({ jwk }) => jwk) })
      case "/userinfo": {
        const claims = tokens.get(request.headers.authorization?.replace(/^Bearer /, "") ?? "")
        if (claims === undefined) return json(response, { error: "invalid_token" }, 401)
        return json(response, { sub: claims["sub"], ...state.lie.userInfo })
      }
    }
    let form = ""
    request.on("data", (chunk) => (form += String(chunk)))
    request.on("end", () => void exchange(response, new URLSearchParams(form)))
  }
  issuer = yield* loopback(listener)

  return {
    issuer,
    state,
    newKey,
    /** Signs a person in, and returns the query that the browser carries back. */
    authorize: (location: string, claims: Readonly<Record<string, unknown>>): URLSearchParams => {
      const asked = new URL(location).searchParams
      const code = randomBytes(16).toString("hex")
      codes.set(code, {
        nonce: asked.get("nonce"),
        challenge: asked.get("code_challenge"),
        redirectUri: asked.get("redirect_uri"),
        claims
      })
      return new URLSearchParams({ code, state: asked.get("state") ?? "", iss: issuer })
    },
    /** Signs claims into a valid token of this provider. */
    sign: (claims: Readonly<Record<string, unknown>>) =>
      new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
        .setProtectedHeader({ alg: "RS256", kid: state.signer.kid })
        .sign(state.signer.privateKey)
  }
})
export type SignInProvider = Effect.Success<ReturnType<typeof signInProvider>>

/** Builds a token without a signature. */
export const unsigned = (claims: Readonly<Record<string, unknown>>, alg = "none"): string =>
  `${base64url(JSON.stringify({ alg }))}.${base64url(JSON.stringify(claims))}.`
