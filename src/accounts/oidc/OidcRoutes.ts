import { Effect, Layer } from "effect"
import { authorizeEndpoints } from "./AuthorizeEndpoints.ts"
import { deviceEndpoints } from "./DeviceEndpoints.ts"
import { discoveryEndpoints } from "./DiscoveryEndpoints.ts"
import { grantEndpoints } from "./GrantEndpoints.ts"
import { logoutEndpoints } from "./LogoutEndpoints.ts"
import { tokenEndpoints } from "./TokenEndpoints.ts"

/** Adds the OpenID issuer's routes to a router. */
export const oidcRoutes = Layer.effectDiscard(
  Effect.all(
    [discoveryEndpoints, authorizeEndpoints, tokenEndpoints, logoutEndpoints, deviceEndpoints, grantEndpoints],
    { discard: true }
  )
)
