import type { RequestListener } from "node:http"
import { Effect } from "effect"
import { CompactSign, exportJWK, type JWK } from "jose"
import { demoProvider } from "../../../../examples/upstream/Provider.ts"
import { loopback } from "../../../support/LoopbackServer.ts"
import { signingKeyPair } from "./SigningKeyPair.ts"

export const upstreamSecret = "the-secret-of-this-installation-upstream"

const signingKey = (kid: string) =>
  Effect.gen(function* () {
    const { privateKey, publicKey } = yield* signingKeyPair
    const published = yield* Effect.promise(() => exportJWK(publicKey))
    return { kid, privateKey, public: { ...published, alg: "RS256", use: "sig", kid } }
  })
type SigningKey = Effect.Success<ReturnType<typeof signingKey>>

/** Runs the reference OpenID provider, with its own sign-in and consent pages, on loopback until the Scope closes. */
export const referenceProvider = Effect.fn("referenceProvider")(function* (redirectUri: string) {
  let handle: RequestListener = (_, response) => response.end()
  const issuer = yield* loopback((request, response) => handle(request, response))
  const provider = yield* Effect.promise(() => demoProvider(issuer, { secret: upstreamSecret, redirectUri }))
  handle = provider.callback()
  return { issuer }
})

/**
 * Acts as a browser at the provider: follows redirects, signs in as `login`, consents, and stops at the redirect back to
 * svc.
 */
export const throughProvider = Effect.fn("throughProvider")(function* (location: string, login: string) {
  const jar = new Map<string, string>()
  const { origin } = new URL(location)
  let next = location
  let form: string | undefined
  for (let hop = 0; hop < 12; hop++) {
    const response = yield* Effect.promise(() =>
      fetch(next, {
        redirect: "manual",
        headers: {
          cookie: [...jar].map(([name, value]) => `${name}=${value}`).join("; "),
          ...(form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" })
        },
        ...(form === undefined ? {} : { method: "POST", body: form })
      })
    )
    form = undefined
    for (const cookie of response.headers.getSetCookie()) {
      const [pair = ""] = cookie.split(";")
      const [name = "", value = ""] = pair.split("=")
      jar.set(name, value)
    }
    const to = response.headers.get("location")
    if (to !== null) {
      next = new URL(to, next).href
      if (!next.startsWith(origin)) return next
      continue
    }
    const text = yield* Effect.promise(() => response.text())
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1]
    if (prompt === undefined) throw new Error(`The provider answered ${response.status}: ${text.slice(0, 300)}`)
    form = new URLSearchParams({ prompt, ...(prompt === "login" ? { login, password: "x" } : {}) }).toString()
  }
  throw new Error("The provider never came back")
})

/** The contents of the next ID token that the provider under test control issues. */
export interface TokenPlan {
  /** Replaces the usual claims; `undefined` omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>
  readonly header?: { readonly alg?: string; readonly kid?: string }
  /** Signs the token with an unpublished key. */
  readonly foreignKey?: boolean
  readonly unsigned?: boolean
  /** Claims that UserInfo returns in addition to the subject. If there are none, UserInfo responds with 500. */
  readonly userInfo?: Readonly<Record<string, unknown>>
}

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url")

/** Starts a provider that misbehaves on request: it can rotate keys, forge tokens, or never respond. */
export const pliantProvider = Effect.gen(function* () {
  const state: {
    keys: ReadonlyArray<SigningKey>
    plan: TokenPlan
    down: boolean
    nonce: string
    forms: Array<string>
    /** The number of times the keys have been fetched. */
    keysFetched: number
    /** True if the metadata contains a UserInfo endpoint. */
    publishesUserInfo: boolean
  } = {
    keys: [yield* signingKey("first")],
    plan: {},
    down: false,
    nonce: "",
    forms: [],
    keysFetched: 0,
    publishesUserInfo: false
  }
  const foreign = yield* signingKey("first")
  let issuer = ""

  const idToken = async (): Promise<string> => {
    const { claims, foreignKey, header, unsigned } = state.plan
    const at = Math.floor(Date.now() / 1000)
    const payload = {
      iss: issuer,
      aud: "svc",
      sub: "ann-upstream",
      iat: at,
      exp: at + 60,
      nonce: state.nonce,
      email: "ann@example.com",
      email_verified: true,
      ...claims
    }
    if (unsigned === true) return `${base64url({ alg: "none" })}.${base64url(payload)}.`
    const key = foreignKey === true ? foreign : state.keys[0]
    if (key === undefined) throw new Error("The provider has no key")
    return new CompactSign(new TextEncoder().encode(JSON.stringify(payload)))
      .setProtectedHeader({ alg: "RS256", kid: key.kid, ...header })
      .sign(key.privateKey)
  }

  const listener: RequestListener = (request, response) => {
    if (state.down) return response.destroy()
    const json = (value: unknown) => {
      response.setHeader("content-type", "application/json")
      response.end(JSON.stringify(value))
    }
    if (request.url === "/.well-known/openid-configuration") {
      return json({
        issuer,
        authorization_endpoint: `${issuer}/auth`,
        token_endpoint: `${issuer}/token`,
        jwks_uri: `${issuer}/jwks`,
        ...(state.publishesUserInfo ? { userinfo_endpoint: `${issuer}/userinfo` } : {}),
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
        token_endpoint_auth_methods_supported: ["client_secret_post"],
        authorization_response_iss_parameter_supported: true
      })
    }
    if (request.url === "/jwks") {
      state.keysFetched++
      return json({ keys: state.keys.map((key): JWK => key.public) })
    }
    if (request.url === "/userinfo") {
      const { claims, userInfo } = state.plan
      if (userInfo !== undefined) return json({ sub: claims?.["sub"] ?? "ann-upstream", ...userInfo })
      response.statusCode = 500
      return response.end()
    }
    let form = ""
    request.on("data", (chunk) => (form += String(chunk)))
    request.on("end", () => {
      state.forms.push(form)
      void idToken().then((token) => json({ access_token: "a", token_type: "Bearer", expires_in: 60, id_token: token }))
    })
  }
  issuer = yield* loopback(listener)
  return { issuer, state, newKey: signingKey("second"), renamedKey: signingKey("second") }
})
