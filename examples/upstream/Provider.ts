// A sign-in provider for trying docs/upstream.md. Run `node scripts/bun.mjs examples/upstream/Provider.ts` in a checkout with its
// development packages. Every login gets the verified address <name>@example.com and the group `staff`.
import { createServer } from "node:http"
import { exportJWK, generateKeyPair } from "jose"
import ReferenceProvider from "oidc-provider"

export interface DemoClient {
  readonly secret: string
  readonly redirectUri: string
  /** Called on every sign-in. By default, everybody is in `staff`. */
  readonly groupsOf?: (login: string) => ReadonlyArray<string>
}

/** An OpenID provider at `issuer` with one client, and its own pages for sign-in and consent. */
export const demoProvider = async (issuer: string, { groupsOf = () => ["staff"], redirectUri, secret }: DemoClient) => {
  const { privateKey } = await generateKeyPair("RS256", { extractable: true })
  return new ReferenceProvider(issuer, {
    clients: [{ client_id: "svc", client_secret: secret, redirect_uris: [redirectUri] }],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), alg: "RS256", use: "sig", kid: "demo" }] },
    cookies: { keys: ["for-trying-it-only"] },
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name", "groups"] },
    pkce: { required: () => true },
    findAccount: (_: unknown, sub: string) => ({
      accountId: sub,
      claims: () => ({ sub, email: `${sub}@example.com`, email_verified: true, groups: groupsOf(sub) })
    })
  })
}

if (import.meta.main) {
  const provider = await demoProvider("http://127.0.0.1:9080", {
    secret: "demo-secret-of-the-provider",
    redirectUri: "http://127.0.0.1:8787/auth/upstream/callback"
  })
  createServer(provider.callback()).listen(9080, "127.0.0.1", () => process.stdout.write("http://127.0.0.1:9080\n"))
}
