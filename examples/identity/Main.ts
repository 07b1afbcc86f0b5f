// bun examples/identity/Main.ts FOLDER: serves the example at its Capsule's address. FOLDER: see docs/identity-tutorial.md.
import * as oidc from "openid-client"

const folder = process.argv[2]
const { outputs }: { outputs: Array<{ name: string; value: string }> } = await Bun.file(`${folder}/outputs.json`).json()
const output = (name: string) => outputs.find((each) => each.name === name)?.value ?? ""
const [app, redirect_uri] = [new URL(output("app_url")), output("redirect_uri")]
const local = { execute: [oidc.allowInsecureRequests] } // For an issuer on this machine: leave it out for any other.
const client = await oidc.discovery(new URL(output("issuer_url")), output("client_id"), {}, oidc.None(), local)
const visits = new Map<string | null, Awaited<ReturnType<typeof oidc.authorizationCodeGrant>>>()
const cookie = { secure: true, httpOnly: true, sameSite: "lax", path: "/" } as const
const headers = { "content-type": "text/html; charset=utf-8", "cache-control": "no-store" }
const page = (html: string) =>
  new Response(`<!doctype html><html lang="en"><title>Notes</title><link rel="icon" href="data:,">${html}`, { headers })

const routes: Record<string, (request: Bun.BunRequest) => Response | Promise<Response>> = {
  "/": async ({ cookies }) => {
    const tokens = visits.get(cookies.get("__Host-visit"))
    if (tokens === undefined) return page(`<h1>Notes</h1><a href="/sign-in">Sign in</a>`)
    // The issuer is asked at every visit, so that a person who was removed is out at once.
    const info = await oidc.fetchUserInfo(client, tokens.access_token, tokens.claims()?.sub ?? "")
    return page(`<h1>Hello, ${Bun.escapeHTML(info.name ?? info.sub)}</h1><a href="/sign-out">Sign out</a>`)
  },
  "/sign-in": async ({ cookies }) => {
    const verifier = oidc.randomPKCECodeVerifier()
    cookies.set("__Host-verifier", verifier, cookie)
    const proof = { code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256" }
    const asked = oidc.buildAuthorizationUrl(client, { ...proof, redirect_uri, scope: "openid profile" })
    return Response.redirect(asked.href, 303)
  },
  "/callback": async ({ cookies, url }) => {
    const checks = { pkceCodeVerifier: cookies.get("__Host-verifier") ?? "", idTokenExpected: true }
    const visit = oidc.randomNonce()
    visits.set(visit, await oidc.authorizationCodeGrant(client, new URL(url), checks))
    cookies.set("__Host-visit", visit, cookie)
    return Response.redirect(app.href, 303)
  },
  "/sign-out": ({ cookies }) => {
    const id_token_hint = visits.get(cookies.get("__Host-visit"))?.id_token ?? ""
    visits.delete(cookies.get("__Host-visit"))
    const back = { id_token_hint, post_logout_redirect_uri: new URL("/signed-out", app).href }
    return Response.redirect(oidc.buildEndSessionUrl(client, back).href, 303)
  },
  "/signed-out": () => page(`<h1>Goodbye</h1><a href="/">Back</a>`)
}
const tls = { key: Bun.file(`${folder}/key.pem`), cert: Bun.file(`${folder}/cert.pem`) }
const error = () => page(`<h1>You are not signed in</h1><a href="/sign-in">Sign in</a>`)
Bun.serve({ hostname: "localhost", port: app.port, tls, routes, error })
