import { Effect, Layer } from "effect"
import { authorizeEndpoints } from "./AuthorizeEndpoints.ts"
import { deviceEndpoints } from "./DeviceEndpoints.ts"
import { discoveryEndpoints } from "./DiscoveryEndpoints.ts"
import { grantEndpoints } from "./GrantEndpoints.ts"
import { logoutEndpoints } from "./LogoutEndpoints.ts"
import { tokenEndpoints } from "./TokenEndpoints.ts"

/** The routes of the issuer, as method and path, to distinguish a wrong method from an unknown path. */
export const oidcRouteTable = [
  ["GET", "/.well-known/openid-configuration"],
  ["GET", "/.well-known/oauth-authorization-server"],
  ["GET", "/oauth/jwks"],
  ["GET", "/oauth/authorize"],
  ["POST", "/oauth/authorize"],
  ["POST", "/oauth/consent"],
  ["POST", "/oauth/token"],
  ["GET", "/oauth/userinfo"],
  ["POST", "/oauth/userinfo"],
  ["POST", "/oauth/revoke"],
  ["POST", "/oauth/introspect"],
  ["GET", "/oauth/logout"],
  ["POST", "/oauth/logout"],
  ["POST", "/oauth/logout/decision"],
  ["POST", "/oauth/device_authorization"],
  ["GET", "/oauth/device"],
  ["POST", "/oauth/device"],
  ["GET", "/auth/grants"],
  ["POST", "/auth/grants/:grantId/revoke"]
] as const

/** The OpenID issuer on a router. */
export const oidcRoutes = Layer.effectDiscard(
  Effect.all(
    [discoveryEndpoints, authorizeEndpoints, tokenEndpoints, logoutEndpoints, deviceEndpoints, grantEndpoints],
    { discard: true }
  )
)
