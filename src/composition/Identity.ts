import { Effect, Layer } from "effect"
import { oidcIssuer } from "../accounts/oidc/IssuerRoutes.ts"
import { HttpListener } from "../http/HttpListener.ts"
import type { Settings } from "../settings/Settings.ts"

/**
 * OpenID issuer of the installation, at the installation's public origin. The actors depend on the issuer, because Capsules
 * use its identity.
 */
export const identity = (settings: Settings) =>
  Layer.unwrap(
    Effect.map(HttpListener, ({ url }) =>
      oidcIssuer({
        issuer: settings.baseUrl ?? url,
        refreshReuseGrace: `${settings.oidcRefreshGrace} seconds`,
        clientsFile: settings.oidcClientsFile,
        advertisedClientId: settings.oidcClientId
      })
    )
  )
