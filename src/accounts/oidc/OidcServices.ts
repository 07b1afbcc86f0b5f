import { Layer } from "effect"
import { AuthorizationCodes } from "../../../actors/access/issuer/AuthorizationCodes.ts"
import { Authorizations } from "../../../actors/access/issuer/Authorizations.ts"
import { CapsuleClients } from "../../../actors/access/issuer/CapsuleClients.ts"
import { Clients } from "../../../actors/access/issuer/Clients.ts"
import { ConnectedApplications } from "../../../actors/access/issuer/ConnectedApplications.ts"
import { Consents } from "../../../actors/access/issuer/Consents.ts"
import { DeviceCodes } from "../../../actors/access/issuer/DeviceCodes.ts"
import { Grants } from "../../../actors/access/issuer/Grants.ts"
import { IdentityCleanup } from "../../../actors/access/issuer/IdentityCleanup.ts"
import { OAuthAuthority } from "../../../actors/access/issuer/OAuthAuthority.ts"
import { RefreshTokens } from "../../../actors/access/issuer/RefreshTokens.ts"
import { SigningKeys } from "../../../actors/access/issuer/SigningKeys.ts"
import { TokenInspection } from "../../../actors/access/issuer/TokenInspection.ts"
import { TokenIssuance } from "../../../actors/access/issuer/TokenIssuance.ts"
import { TokenService } from "../../../actors/access/issuer/TokenService.ts"

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

/**
 * Services behind the OpenID routes. They require `IssuerSettings` and `StaticClients`, in addition to the database, the vault
 * and the audit log.
 */
export const oidcServices = OAuthAuthority.layer.pipe(Layer.provideMerge(decisions), Layer.provideMerge(records))
