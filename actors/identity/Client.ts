import type { Redacted } from "effect"
import type { ApplicationType } from "./RedirectUris.ts"

export const grantTypes = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code"
] as const
export type GrantType = (typeof grantTypes)[number]

export type SigningAlgorithm = "RS256" | "ES256"

/** A Capsule that a client belongs to: its authority is checked again whenever the client is used. */
export interface CapsuleOwner {
  readonly workspaceId: string
  readonly capsuleId: string
  /** `undefined` when no apply has stored one: stale. */
  readonly activationDigest: string | undefined
}

/** A registered client, from the configuration or from a Capsule's final apply. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly applicationType: ApplicationType
  readonly redirectUris: ReadonlyArray<string>
  readonly postLogoutRedirectUris: ReadonlyArray<string>
  readonly grantTypes: ReadonlyArray<GrantType>
  /** Everything it may ever ask for; anything else in a request is ignored. */
  readonly scopes: ReadonlyArray<string>
  /** SHA-256 of the secret, hex. Public clients have none. */
  readonly secretHash: Redacted.Redacted | undefined
  /** Only a confidential client may be configured without. */
  readonly pkceRequired: boolean
  /** Clients of the operator's own are not asked for; everybody else is. */
  readonly consent: "ask" | "trusted"
  readonly idTokenAlgorithm: SigningAlgorithm
  /** Resource identifiers that it may ask tokens for. */
  readonly resources: ReadonlyArray<string>
  /** Whether it may ask tokens for the Interfaces of the Workspace that a grant is bound to. */
  readonly interfaces: boolean
  /** Resource identifiers that it guards, and whose tokens it may therefore introspect. */
  readonly guards: ReadonlyArray<string>
  readonly owner: CapsuleOwner | undefined
}
