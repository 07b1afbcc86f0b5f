import { Layer } from "effect"
import { AuthorizationCodes } from "../../../actors/identity/AuthorizationCodes.ts"
import { Authorizations } from "../../../actors/identity/Authorizations.ts"
import { CapsuleClients } from "../../../actors/identity/CapsuleClients.ts"
import { Clients } from "../../../actors/identity/Clients.ts"
import { ConnectedApplications } from "../../../actors/identity/ConnectedApplications.ts"
import { Consents } from "../../../actors/identity/Consents.ts"
import { DeviceCodes } from "../../../actors/identity/DeviceCodes.ts"
import { Grants } from "../../../actors/identity/Grants.ts"
import { IdentityCleanup } from "../../../actors/identity/IdentityCleanup.ts"
import { OAuthAuthority } from "../../../actors/identity/OAuthAuthority.ts"
import { RefreshTokens } from "../../../actors/identity/RefreshTokens.ts"
import { SigningKeys } from "../../../actors/identity/SigningKeys.ts"
import { TokenInspection } from "../../../actors/identity/TokenInspection.ts"
import { TokenIssuance } from "../../../actors/identity/TokenIssuance.ts"
import { TokenService } from "../../../actors/identity/TokenService.ts"

const records = Layer.mergeAll(
  AuthorizationCodes.layer,
  Clients.layer,
  Consents.layer,
  DeviceCodes.layer,
  Grants.layer,
  RefreshTokens.layer,
  SigningKeys.layer
)

const decisions = Layer.mergeAll(
  Authorizations.layer,
  CapsuleClients.layer,
  ConnectedApplications.layer,
  IdentityCleanup.layer,
  TokenInspection.layer,
  TokenService.layer.pipe(Layer.provide(TokenIssuance.layer))
)

/** Everything behind the OpenID routes. Needs `IssuerSettings` and `StaticClients` in addition to database, vault and audit. */
export const oidcServices = OAuthAuthority.layer.pipe(Layer.provideMerge(decisions), Layer.provideMerge(records))
