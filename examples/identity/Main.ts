// bun examples/identity/Main.ts FOLDER: serves the example at its Capsule's address. FOLDER: see docs/identity-tutorial.md.
import * as oidc from "openid-client"

const folder = process.argv[2]
const { app_url, client_id, issuer_url, redirect_uri } = await Bun.file(`${folder}/outputs.json`).json()
const tls = { key: Bun.file(`${folder}/key.pem`), cert: Bun.file(`${folder}/cert.pem`) }
const local = { execute: [oidc.allowInsecureRequests] } // For an issuer on this machine: leave it out for any other.
const client = await oidc.discovery(new URL(issuer_url), client_id, {}, oidc.None(), local)
const [keep, headers] = [{ secure: true, httpOnly: true }, { "content-type": "text/html; charset=utf-8" }]
const page = (html: string) => new Response(`<!doctype html><html lang="en"><title>Notes</title>${html}`, { headers })
const enter = async ({ cookies }: Bun.BunRequest) => {
  const verifier = oidc.randomPKCECodeVerifier()
  cookies.set("__Host-verifier", verifier, keep)
  const proof = { code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }
  return Response.redirect(oidc.buildAuthorizationUrl(client, { ...proof, redirect_uri, scope: "openid profile" }).href)
}
const admit = async ({ cookies, url }: Bun.BunRequest) => {
  const checks = { pkceCodeVerifier: cookies.get("__Host-verifier") ?? "", idTokenExpected: true }
  const { access_token, id_token = "" } = await oidc.authorizationCodeGrant(client, new URL(url), checks)
  for (const [name, token] of Object.entries({ access_token, id_token })) cookies.set(`__Host-${name}`, token, keep)
  return Response.redirect(app_url)
}
const greet = async ({ cookies }: Bun.BunRequest) => {
  // Queries the issuer on every visit, so that a removed person loses access at once.
  const info = await oidc.fetchUserInfo(client, cookies.get("__Host-access_token") ?? "", oidc.skipSubjectCheck)
  return page(`<h1>Hello, ${Bun.escapeHTML(info.name ?? info.sub)}</h1><a href="/sign-out">Sign out</a>`)
}
const leave = ({ cookies }: Bun.BunRequest) => {
  const back = { id_token_hint: cookies.get("__Host-id_token") ?? "", post_logout_redirect_uri: app_url }
  cookies.set("__Host-access_token", "", { ...keep, maxAge: 0 })
  return Response.redirect(oidc.buildEndSessionUrl(client, back).href)
}
const routes = { "/": greet, "/sign-in": enter, "/callback": admit, "/sign-out": leave, "/favicon.ico": new Response() }
const error = () => page(`<h1>You are signed out</h1><a href="/sign-in">Sign in</a>`)
Bun.serve({ hostname: "localhost", port: new URL(app_url).port, tls, routes, error })
