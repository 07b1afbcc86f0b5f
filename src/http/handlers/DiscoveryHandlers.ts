import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { helperFamily } from "../../../schema/api/ExtensionFamily.ts"
import { extensions } from "../../../schema/api/Extensions.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { apiVersion, type Discovery } from "../../../schema/records/Discovery.ts"
import { MountedBaseUrl } from "../MountedBaseUrl.ts"
import { HttpSettings } from "../../http-kit/HttpSettings.ts"
import { storedAnswers } from "./StoredAnswers.ts"

/** Lists the addresses of the API for clients that use it at `base`. */
const addressesAt = (base: string, issuer: string) => ({
  apiBaseUrl: `${base}/api/v1`,
  endpoints: {
    api: `${base}/api/v1`,
    capabilities: `${base}/api/v1/capabilities`,
    openapi: `${base}/openapi.json`,
    oidc_issuer: issuer,
    extensions: `${base}/api/v1/extensions`
  }
})

/** This server's discovery document (specification, Discovery document). */
export const discoveryDocument: Effect.Effect<Discovery, never, HttpSettings> = Effect.map(
  HttpSettings,
  (settings) => ({
    product: "svc",
    name: settings.displayName,
    auth: settings.auth,
    api_versions: [apiVersion],
    features: settings.features,
    ...addressesAt(settings.baseUrl, settings.baseUrl),
    ...(settings.oidcClientId === undefined ? {} : { oidcClientId: settings.oidcClientId })
  })
)

export const discoveryHandlers = HttpApiBuilder.group(
  SvcApi,
  "discovery",
  Effect.fn(function* (handlers) {
    const document = yield* discoveryDocument
    const { familiesOff = [], hasOAuthHelpers = false } = yield* HttpSettings
    const off: ReadonlySet<string> = new Set([...familiesOff, ...(hasOAuthHelpers ? [] : [helperFamily])])
    const listed = extensions.map((family) => ({ ...family, enabled: !off.has(family.name) }))
    const seenFromMount = Effect.map(MountedBaseUrl, (mounted) =>
      mounted === undefined ? document : { ...document, ...addressesAt(mounted, document.endpoints.oidc_issuer) }
    )
    return storedAnswers("discovery", handlers).handleAll({
      wellKnown: () => seenFromMount,
      capabilities: () => seenFromMount,
      extensions: () => Effect.succeed({ extensions: listed })
    })
  })
)
