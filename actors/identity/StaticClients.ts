import { createHash } from "node:crypto"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { type Client, grantTypes } from "./Client.ts"
import { redirectUriFault } from "./RedirectUris.ts"
import { standardScopes } from "./Scopes.ts"

/** Another server that takes access tokens of this issuer, by its resource identifier (RFC 8707). */
export const ResourceServer = Schema.Struct({ resource: Schema.String, scopes: Schema.Array(Schema.String) })
export type ResourceServer = typeof ResourceServer.Type

const Identifier = Schema.String.check(
  Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._:-]{0,127}$/, { description: "1 to 128 of letters, digits and . _ : -" })
)
const Uri = Schema.String.check(Schema.isMaxLength(2048))
const minSecretLength = 32

/** One client as written by the operator. */
export const StaticClientConfig = Schema.Struct({
  client_id: Identifier,
  client_name: Schema.String.check(Schema.isMinLength(1), Schema.isMaxLength(80)),
  /** Given: a confidential client. Absent: a public one. */
  client_secret: Schema.optionalKey(
    Schema.RedactedFromValue(Schema.String.check(Schema.isMinLength(minSecretLength), Schema.isMaxLength(256)))
  ),
  application_type: Schema.optionalKey(Schema.Literals(["web", "native"])),
  redirect_uris: Schema.Array(Uri),
  post_logout_redirect_uris: Schema.optionalKey(Schema.Array(Uri)),
  grant_types: Schema.optionalKey(Schema.Array(Schema.Literals(grantTypes))),
  scope: Schema.optionalKey(Schema.String),
  pkce: Schema.optionalKey(Schema.Literals(["required", "optional"])),
  consent: Schema.optionalKey(Schema.Literals(["ask", "trusted"])),
  id_token_signed_response_alg: Schema.optionalKey(Schema.Literals(["RS256", "ES256"])),
  resources: Schema.optionalKey(Schema.Array(Uri)),
  interfaces: Schema.optionalKey(Schema.Boolean),
  guards: Schema.optionalKey(Schema.Array(Uri))
})
export type StaticClientConfig = typeof StaticClientConfig.Type

/** The document of static clients. */
export const StaticClientDocument = Schema.Struct({
  clients: Schema.Array(StaticClientConfig),
  resource_servers: Schema.optionalKey(Schema.Array(ResourceServer))
})
export type StaticClientDocument = typeof StaticClientDocument.Type

/** The configured clients break the rules; `message` names the client and the field. */
export class StaticClientsRefused extends Schema.TaggedError<StaticClientsRefused>()("StaticClientsRefused", {
  message: Schema.String
}) {}

/** The command line of this product: signs in by the device flow. */
export const cliClientId = "svc-cli"

const commandLine: Client = {
  id: cliClientId,
  name: "svc CLI",
  applicationType: "native",
  redirectUris: [],
  postLogoutRedirectUris: [],
  grantTypes: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  scopes: standardScopes,
  secretHash: undefined,
  pkceRequired: true,
  consent: "ask",
  idTokenAlgorithm: "RS256",
  resources: [],
  interfaces: false,
  guards: [],
  owner: undefined
}

const isResource = (text: string) => URL.canParse(text) && !text.includes("#")

const faultOf = (config: StaticClientConfig, servers: ReadonlyArray<ResourceServer>): string | undefined => {
  const type = config.application_type ?? "web"
  const grants = config.grant_types ?? ["authorization_code", "refresh_token"]
  if (config.client_id === cliClientId || config.client_id.startsWith("oidc_")) return "client_id: is reserved"
  if (grants.includes("authorization_code") && config.redirect_uris.length === 0) {
    return "redirect_uris: authorization_code needs at least one"
  }
  for (const uri of [...config.redirect_uris, ...(config.post_logout_redirect_uris ?? [])]) {
    const fault = redirectUriFault(uri, type)
    if (fault !== undefined) return `redirect_uris: ${uri} ${fault}`
  }
  if (config.pkce === "optional" && config.client_secret === undefined) {
    return "pkce: only a client with a client_secret may go without"
  }
  for (const resource of config.resources ?? []) {
    if (!servers.some((server) => server.resource === resource)) return `resources: ${resource} is no resource server`
  }
  if ((config.guards?.length ?? 0) > 0 && config.client_secret === undefined) {
    return "guards: only a client with a client_secret may introspect"
  }
  return undefined
}

const toClient = (config: StaticClientConfig): Client => ({
  id: config.client_id,
  name: config.client_name,
  applicationType: config.application_type ?? "web",
  redirectUris: config.redirect_uris,
  postLogoutRedirectUris: config.post_logout_redirect_uris ?? [],
  grantTypes: config.grant_types ?? ["authorization_code", "refresh_token"],
  scopes: config.scope?.split(" ").filter((scope) => scope !== "") ?? ["openid", "profile", "email", "offline_access"],
  secretHash:
    config.client_secret === undefined
      ? undefined
      : Redacted.make(createHash("sha256").update(Redacted.value(config.client_secret)).digest("hex")),
  pkceRequired: config.pkce !== "optional",
  consent: config.consent ?? "ask",
  idTokenAlgorithm: config.id_token_signed_response_alg ?? "RS256",
  resources: config.resources ?? [],
  interfaces: config.interfaces ?? false,
  guards: config.guards ?? [],
  owner: undefined
})

/** The clients that the operator's configuration names, and the product's own command line. */
export class StaticClients extends Context.Service<
  StaticClients,
  {
    readonly clients: ReadonlyMap<string, Client>
    /** A resource server named by the operator is never an Interface. */
    readonly resourceServers: ReadonlyMap<string, ResourceServer>
  }
>()("svc/identity/StaticClients") {
  /** Fails with `StaticClientsRefused` for a document that breaks a rule. */
  static readonly layer = (document: StaticClientDocument) =>
    Layer.effect(
      StaticClients,
      Effect.gen(function* () {
        const servers = document.resource_servers ?? []
        for (const { resource } of servers) {
          if (!isResource(resource)) {
            return yield* new StaticClientsRefused({
              message: `resource_servers: ${resource} is no absolute URI without a fragment.`
            })
          }
        }
        const clients = new Map<string, Client>([[commandLine.id, commandLine]])
        for (const config of document.clients) {
          const fault = clients.has(config.client_id) ? "client_id: is taken" : faultOf(config, servers)
          if (fault !== undefined) {
            return yield* new StaticClientsRefused({ message: `OpenID client ${config.client_id}: ${fault}.` })
          }
          if (config.pkce === "optional") {
            yield* Effect.logWarning(`OpenID client ${config.client_id} may sign in without PKCE, by configuration.`)
          }
          clients.set(config.client_id, toClient(config))
        }
        return { clients, resourceServers: new Map(servers.map((server) => [server.resource, server])) }
      })
    )
}
