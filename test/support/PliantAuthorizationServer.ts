import { createHash } from "node:crypto"
import { Effect } from "effect"
import { loopback } from "./LoopbackServer.ts"

/** The next failure of the token endpoint. */
export type Misbehaviour = "lost" | "redirect" | "huge" | "error" | "plain text"

/**
 * Starts an authorization server that a test controls. The server checks codes, PKCE and the client, rotates refresh tokens,
 * and treats a reused refresh token as stolen. The test acts as the browser and the person.
 */
export const pliantServer = Effect.gen(function* () {
  const state = {
    metadata: {} as Readonly<Record<string, unknown>>,
    misbehaves: undefined as Misbehaviour | undefined,
    refusesRefresh: false,
    refusesRevocation: false,
    rotates: true,
    expiresIn: 3600 as number | undefined,
    refreshable: true,
    tokenType: "Bearer",
    /** Forms that the token endpoint has received. */
    forms: [] as Array<URLSearchParams>,
    revoked: [] as Array<string>,
    reads: 0
  }
  const codes = new Map<string, { readonly challenge: string; readonly redirectUri: string }>()
  const live = new Map<string, string>()
  const spent = new Set<string>()
  let given = 0

  const issue = (grant: string) => {
    given++
    const access = `access-token-${given}-of-the-pliant-server`
    const refresh = `refresh-token-${given}-of-the-pliant-server`
    if (state.refreshable) live.set(refresh, grant)
    return {
      access_token: access,
      token_type: state.tokenType,
      ...(state.expiresIn === undefined ? {} : { expires_in: state.expiresIn }),
      ...(state.refreshable && state.rotates ? { refresh_token: refresh } : {})
    }
  }
  const redeemed = (form: URLSearchParams) => {
    const code = form.get("code") ?? ""
    const known = codes.get(code)
    codes.delete(code)
    const challenge = createHash("sha256")
      .update(form.get("code_verifier") ?? "")
      .digest("base64url")
    if (known === undefined || known.challenge !== challenge || known.redirectUri !== form.get("redirect_uri")) {
      return undefined
    }
    const tokens = issue(code)
    return state.refreshable ? { refresh_token: `refresh-token-${given}-of-the-pliant-server`, ...tokens } : tokens
  }
  const refreshed = (form: URLSearchParams) => {
    const token = form.get("refresh_token") ?? ""
    const grant = live.get(token)
    if (spent.has(token)) {
      // Any reuse of a refresh token revokes the whole grant.
      live.clear()
      return undefined
    }
    if (grant === undefined || state.refusesRefresh) return undefined
    if (state.rotates) {
      live.delete(token)
      spent.add(token)
    }
    return issue(grant)
  }

  let issuer = ""
  issuer = yield* loopback((request, response) => {
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { "content-type": "application/json" })
      response.end(JSON.stringify(value))
    }
    if (request.url === "/.well-known/oauth-authorization-server") {
      state.reads++
      return json({
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        revocation_endpoint: `${issuer}/revoke`,
        response_types_supported: ["code"],
        code_challenge_methods_supported: ["S256"],
        token_endpoint_auth_methods_supported: ["client_secret_basic"],
        authorization_response_iss_parameter_supported: true,
        ...state.metadata
      })
    }
    let body = ""
    request.on("data", (chunk) => (body += String(chunk)))
    request.on("end", () => {
      const form = new URLSearchParams(body)
      if (request.url === "/revoke") {
        if (state.refusesRevocation) return json({ error: "temporarily_unavailable" }, 503)
        state.revoked.push(form.get("token") ?? "")
        return json({})
      }
      state.forms.push(form)
      const tokens = form.get("grant_type") === "refresh_token" ? refreshed(form) : redeemed(form)
      const misbehaves = state.misbehaves
      state.misbehaves = undefined
      if (misbehaves === "lost") return response.destroy()
      if (misbehaves === "error") return json({ error: "server_error" }, 500)
      if (misbehaves === "huge") return json({ ...tokens, padding: "x".repeat(1024 * 1024) })
      if (misbehaves === "plain text") return response.end("access_token=nothing")
      if (misbehaves === "redirect") {
        response.writeHead(302, { location: `${issuer}/elsewhere` })
        return response.end()
      }
      return tokens === undefined ? json({ error: "invalid_grant" }, 400) : json(tokens)
    })
  })
  /**
   * Returns the parameters with which the server redirects the browser back after the person has agreed to the request at
   * this address.
   */
  const agreed = (authorizationUrl: string): URLSearchParams => {
    const asked = new URL(authorizationUrl).searchParams
    const code = `code-${codes.size + state.forms.length}-${crypto.randomUUID()}`
    codes.set(code, { challenge: asked.get("code_challenge") ?? "", redirectUri: asked.get("redirect_uri") ?? "" })
    return new URLSearchParams({ code, state: asked.get("state") ?? "", iss: issuer })
  }
  return { issuer, state, agreed }
})
export type PliantServer = Effect.Success<typeof pliantServer>
