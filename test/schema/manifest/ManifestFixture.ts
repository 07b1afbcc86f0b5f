import { Result, type Schema } from "effect"
import type { ManifestDiagnostic } from "../../../schema/manifest/ManifestDiagnostic.ts"
import { parseRepositoryManifest } from "../../../schema/manifest/ManifestParser.ts"
import type { ManifestVersion } from "../../../schema/manifest/RepositoryManifest.ts"

export type JsonObject = { readonly [key: string]: Schema.Json }

export const label = { ja: "名前", en: "Name" }
export const userInput = (name: string, more: JsonObject = {}): JsonObject => ({
  name,
  source: { kind: "user" },
  label,
  ...more
})
export const secret = (target: string, more: JsonObject = {}): JsonObject => ({
  kind: "secret.generated",
  deliver: { variables: { value: target } },
  ...more
})
export const endpoint = (url = "public_url"): JsonObject => ({ kind: "http.endpoint", deliver: { variables: { url } } })
export const oidcTargets = {
  accountsUrl: "accounts_url",
  issuerUrl: "issuer_url",
  clientId: "client_id",
  redirectUri: "redirect_uri"
}
export const oidc = (more: JsonObject = {}): JsonObject => ({
  kind: "identity.oidc",
  callbackPath: "/auth/callback",
  scopes: ["openid", "profile"],
  deliver: { variables: oidcTargets },
  ...more
})
export const consume = (more: JsonObject = {}): JsonObject => ({
  kind: "interface.consume",
  key: "mail",
  interface: { type: "mail.smtp", version: "v1" },
  permissions: ["mcp.invoke"],
  delivery: { type: "oauth2" },
  ...more
})
export const feature = (id: string, inputs: ReadonlyArray<string>, more: JsonObject = {}): JsonObject => ({
  id,
  optional: true,
  label,
  inputs,
  ...more
})
export const interfaceSpec = (more: JsonObject = {}): JsonObject => ({
  type: "ui.web",
  version: "v1",
  document: { title: "Dashboard" },
  access: { visibility: "workspace" },
  ...more
})
export const iface = (more: JsonObject = {}): JsonObject => ({ key: "ui", name: "Ui", spec: interfaceSpec(), ...more })
export const bindingRequest = (more: JsonObject = {}): JsonObject => ({
  key: "open",
  subject: { source: "installing_principal" },
  permissions: ["ui.open"],
  delivery: { type: "none" },
  ...more
})
export const sourceBuild = (more: JsonObject = {}): JsonObject => ({
  commands: [{ argv: ["npm", "ci"], workingDirectory: "app" }],
  outputs: ["app/dist"],
  ...more
})

/** Returns a manifest with one root module. `install` overrides fields of the manifest's `install`. */
export const manifest = (version: ManifestVersion, module: JsonObject = {}, install: JsonObject = {}): JsonObject => ({
  apiVersion: version,
  kind: "Repository",
  install: { modules: { ".": { inputs: [], ...module } }, ...install }
})

/** A module with every field of the newest version. */
export const fullModule: JsonObject = {
  inputs: [
    userInput("service_name", { role: "service_name", type: "string", required: true, placeholder: "my-service" }),
    userInput("admin_password", { role: "initial_secret", secret: true, format: "password", helper: label }),
    userInput("size", { type: "number", required: false, advanced: true }),
    { name: "slug", source: { kind: "workspace_scoped_capsule_name" }, label },
    { name: "region", source: { kind: "module_default" }, label, required: false }
  ],
  requires: [secret("session_key", { bytes: 48, encoding: "base64url" }), endpoint(), oidc(), consume()],
  features: [feature("sizing", ["size"])],
  interfaces: [
    iface({
      spec: interfaceSpec({
        inputs: {
          url: { source: "output", outputName: "url", outputType: "url" },
          theme: { source: "literal", value: { dark: [true, null, 1.5] } }
        },
        access: { visibility: "workspace", resourceUriInput: "url" }
      }),
      bindingRequests: [bindingRequest()]
    })
  ],
  sourceBuild: sourceBuild()
}

export const bytes = (document: unknown) => new TextEncoder().encode(JSON.stringify(document))

export const parse = (document: unknown) => parseRepositoryManifest(bytes(document))

export const diagnosticsOf = (document: unknown): ReadonlyArray<ManifestDiagnostic> =>
  Result.match(parse(document), { onSuccess: () => [], onFailure: ({ diagnostics }) => diagnostics })

/** Returns "valid", or the code and path of every diagnostic. */
export const verdict = (document: unknown): string => {
  const diagnostics = diagnosticsOf(document)
  return diagnostics.length === 0 ? "valid" : diagnostics.map(({ code, path }) => `${code} ${path}`).join("; ")
}
