import { Effect, Redacted, Schema } from "effect"
import { createPrivateKey } from "node:crypto"
import type { GitHubAppForm, GitHubAppManifest } from "../../schema/records/GitHubApp.ts"
import type { ForgeFailure } from "./Forge.ts"
import type { GitPolicy } from "../git/GitPolicy.ts"
import { answered, apiAddress, askForge, failure } from "./ForgeRequest.ts"

/** Maximum length of an App's name at GitHub. */
const longestName = 34

/** The minimum permissions that svc needs. The App has no webhook: svc registers webhooks with each repository instead. */
const permissions = {
  contents: "read",
  pull_requests: "write",
  checks: "write",
  metadata: "read"
} satisfies GitHubAppManifest["default_permissions"]

/** Where to register a new GitHub App, and the details to register. */
export interface AppRegistration {
  /** Address of GitHub's website. */
  readonly address: string
  readonly organization?: string | undefined
  readonly state: Redacted.Redacted
  /** Name of the App, which a person can change at GitHub. */
  readonly name: string
  readonly homepage: string
  readonly redirectUri: string
}

/** Returns the form that a browser sends to GitHub. GitHub asks the person before it creates the App. */
export const appForm = (registration: AppRegistration): typeof GitHubAppForm.Type => {
  const { address, homepage, name, organization, redirectUri, state } = registration
  const place = organization === undefined ? "/settings" : `/organizations/${encodeURIComponent(organization)}/settings`
  const query = new URLSearchParams({ state: Redacted.value(state) })
  return {
    formAction: `${address.replace(/\/$/, "")}${place}/apps/new?${query.toString()}`,
    manifest: {
      name: name.slice(0, longestName),
      url: homepage,
      redirect_url: redirectUri,
      // Only the owner can install a private App, so it has at most one installation.
      public: false,
      default_permissions: permissions,
      default_events: []
    }
  }
}

const Converted = Schema.Struct({ id: Schema.Int, pem: Schema.String })

/** A GitHub App that was just created, with the only copy of its private key. */
export interface CreatedApp {
  readonly appId: string
  readonly privateKey: Redacted.Redacted
}

const isRsaKey = (pem: string) =>
  Effect.try({
    try: () => createPrivateKey(pem).asymmetricKeyType === "rsa",
    catch: () => failure("unreadable", "The App's private key is not an RSA key in PEM form.")
  })

/**
 * Exchanges the code that GitHub gave to the browser for the App's id and private key. GitHub accepts each code only once,
 * and requires no credential. Drops the App's other secrets, because svc has no use for them.
 */
export const createdApp = Effect.fn("GitHub.createdApp")(function* (
  address: string,
  code: Redacted.Redacted
): Effect.fn.Return<CreatedApp, ForgeFailure, GitPolicy> {
  const base = apiAddress({ kind: "github", address })
  if (base === undefined) return yield* failure("refused", "The address of the forge is not valid.")
  const path = `/app-manifests/${encodeURIComponent(Redacted.value(code))}/conversions`
  const { id, pem } = yield* askForge("github", { base }, { method: "POST", path }).pipe(
    Effect.flatMap(answered(Converted, base.host)),
    Effect.catchTag("ForgeMoved", () => failure("missing", `${base.host} redirects the request elsewhere.`))
  )
  if (!(yield* isRsaKey(pem))) return yield* failure("unreadable", "The App's private key is not an RSA key.")
  return { appId: String(id), privateKey: Redacted.make(pem) }
})
