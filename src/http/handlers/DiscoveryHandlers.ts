import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { extensions } from "../../../schema/api/Extensions.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { apiVersion, type Discovery } from "../../../schema/records/Discovery.ts"
import { HttpSettings } from "../HttpSettings.ts"
import { storedAnswers } from "./StoredAnswers.ts"

/** The discovery document of this server (specification, Discovery document). */
export const discoveryDocument: Effect.Effect<Discovery, never, HttpSettings> = Effect.map(
  HttpSettings,
  (settings) => ({
    product: "svc",
    name: settings.displayName,
    auth: settings.auth,
    apiBaseUrl: `${settings.baseUrl}/api/v1`,
    api_versions: [apiVersion],
    features: settings.features,
    endpoints: {
      api: `${settings.baseUrl}/api/v1`,
      capabilities: `${settings.baseUrl}/api/v1/capabilities`,
      openapi: `${settings.baseUrl}/openapi.json`,
      oidc_issuer: settings.baseUrl,
      extensions: `${settings.baseUrl}/api/v1/extensions`
    },
    ...(settings.oidcClientId === undefined ? {} : { oidcClientId: settings.oidcClientId })
  })
)

export const discoveryHandlers = HttpApiBuilder.group(
  SvcApi,
  "discovery",
  Effect.fn(function* (handlers) {
    const document = yield* discoveryDocument
    const { familiesOff = [] } = yield* HttpSettings
    const off: ReadonlySet<string> = new Set(familiesOff)
    const listed = extensions.map((family) => ({ ...family, enabled: !off.has(family.name) }))
    return storedAnswers("discovery", handlers).handleAll({
      wellKnown: () => Effect.succeed(document),
      capabilities: () => Effect.succeed(document),
      extensions: () => Effect.succeed({ extensions: listed })
    })
  })
)
