import * as oidc from "openid-client"

/** What the Capsule's Outputs say. */
export interface Settings {
  readonly app_url: string
  readonly issuer_url: string
  readonly client_id: string
  readonly redirect_uri: string
}

/** A browser's visit, before and after the sign-in. */
export interface Session {
  state?: string
  verifier?: string
  tokens?: oidc.TokenEndpointResponse & oidc.TokenEndpointResponseHelpers
}

/** The pages: each answers with text, or with where the browser goes next. */
export const signIn = async ({ app_url, client_id, issuer_url, redirect_uri }: Settings) => {
  // Plain http is for an issuer on this machine: leave out `execute` for any other.
  const options = { execute: [oidc.allowInsecureRequests] }
  const config = await oidc.discovery(new URL(issuer_url), client_id, {}, oidc.None(), options)
  const pages: Record<string, (session: Session, url: URL) => Promise<string | URL>> = {
    "/": async ({ tokens }) => {
      if (tokens === undefined) return `<h1>Notes</h1><a href="/sign-in">Sign in</a>`
      // The issuer is asked at every visit, so that a person who was removed is out at once.
      const info = await oidc.fetchUserInfo(config, tokens.access_token, tokens.claims()?.sub ?? "")
      const name = `${info.name}`.replaceAll(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`)
      return `<h1>Hello, ${name}</h1><a href="/sign-out">Sign out</a>`
    },
    "/sign-in": async (session) => {
      session.state = oidc.randomState()
      session.verifier = oidc.randomPKCECodeVerifier()
      const code_challenge = await oidc.calculatePKCECodeChallenge(session.verifier)
      const proof = { state: session.state, code_challenge, code_challenge_method: "S256" }
      return oidc.buildAuthorizationUrl(config, { ...proof, redirect_uri, scope: "openid profile" })
    },
    "/callback": async (session, url) => {
      const checks = { pkceCodeVerifier: session.verifier ?? "", expectedState: session.state ?? "" }
      session.tokens = await oidc.authorizationCodeGrant(config, url, { ...checks, idTokenExpected: true })
      return new URL(app_url)
    },
    "/sign-out": async (session) => {
      const id_token_hint = session.tokens?.id_token ?? ""
      delete session.tokens
      return oidc.buildEndSessionUrl(config, { id_token_hint, post_logout_redirect_uri: `${app_url}/signed-out` })
    },
    "/signed-out": async () => `<h1>Goodbye</h1><a href="/">Back</a>`
  }
  return pages
}
