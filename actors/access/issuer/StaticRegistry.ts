import { createHash } from "node:crypto"
import { Redacted, Result } from "effect"
import { cliClientId } from "../../../schema/records/CommandLineClient.ts"
import type { Client } from "./Client.ts"
import { isLocalhost, isLoopbackAddress, redirectUriFault } from "./RedirectUris.ts"
import { standardScopes } from "./Scopes.ts"
import {
  type ResourceServer,
  type StaticClientConfig,
  type StaticClientDocument,
  StaticClientsRefused
} from "./StaticClientConfig.ts"

const commandLine: Client = {
  id: cliClientId,
  name: "svc CLI",
  applicationType: "native",
  redirectUris: [],
  postLogoutRedirectUris: [],
  grantTypes: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"],
  scopes: standardScopes,
  secretHash: undefined,
  introspectionHash: undefined,
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
  introspectionHash: undefined,
  pkceRequired: config.pkce !== "optional",
  consent: config.consent ?? "ask",
  idTokenAlgorithm: config.id_token_signed_response_alg ?? "RS256",
  resources: config.resources ?? [],
  interfaces: config.interfaces ?? false,
  guards: config.guards ?? [],
  owner: undefined
})

/** Everything that a document registers. */
export interface StaticRegistry {
  readonly clients: ReadonlyMap<string, Client>
  /** Resource servers that the operator declares. They are never Interfaces. */
  readonly resourceServers: ReadonlyMap<string, ResourceServer>
}

/** Formats a client for comparison. Includes the digest of its secret, which JSON would redact. */
const comparable = (client: Client | undefined): string | undefined =>
  client &&
  JSON.stringify([
    { ...client, secretHash: undefined },
    client.secretHash === undefined ? null : Redacted.value(client.secretHash)
  ])

/** Returns the sorted ids of the clients that differ, and `resource_servers` if the resource servers differ. */
export const changedClients = (before: StaticRegistry, after: StaticRegistry): ReadonlyArray<string> => {
  const ids = [...new Set([...before.clients.keys(), ...after.clients.keys()])].toSorted()
  const servers = ({ resourceServers }: StaticRegistry) => JSON.stringify([...resourceServers.values()])
  return [
    ...ids.filter((id) => comparable(before.clients.get(id)) !== comparable(after.clients.get(id))),
    ...(servers(before) === servers(after) ? [] : ["resource_servers"])
  ]
}

const warningsOf = (config: StaticClientConfig, issuer: string): ReadonlyArray<string> => {
  const of = `OpenID client ${config.client_id}`
  const local = isLoopbackAddress(issuer) ? [] : config.redirect_uris.filter(isLocalhost)
  return [
    ...(config.pkce === "optional" ? [`${of} may sign in without PKCE, by configuration.`] : []),
    ...local.map(
      (uri) =>
        `${of} has the redirect address ${uri}: any program on the machine of a person who signs in can receive the code. Use it for development only.`
    )
  ]
}

/** Validates a document. Returns warnings for settings that are allowed but dangerous. */
export const registryOf = (
  document: StaticClientDocument,
  issuer: string
): Result.Result<
  { readonly registry: StaticRegistry; readonly warnings: ReadonlyArray<string> },
  StaticClientsRefused
> => {
  const refused = (message: string) => Result.fail(new StaticClientsRefused({ message }))
  const servers = document.resource_servers ?? []
  for (const { resource } of servers) {
    if (!isResource(resource)) return refused(`resource_servers: ${resource} is no absolute URI without a fragment.`)
  }
  const clients = new Map<string, Client>([[commandLine.id, commandLine]])
  for (const config of document.clients) {
    const fault = clients.has(config.client_id) ? "client_id: is taken" : faultOf(config, servers)
    if (fault !== undefined) return refused(`OpenID client ${config.client_id}: ${fault}.`)
    clients.set(config.client_id, toClient(config))
  }
  return Result.succeed({
    registry: { clients, resourceServers: new Map(servers.map((server) => [server.resource, server])) },
    warnings: document.clients.flatMap((config) => warningsOf(config, issuer))
  })
}
