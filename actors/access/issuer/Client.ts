import type { Redacted } from "effect"
import type { CapsuleId, WorkspaceId } from "../../../schema/records/Ids.ts"
import type { ApplicationType } from "./RedirectUris.ts"

export const grantTypes = [
  "authorization_code",
  "refresh_token",
  "urn:ietf:params:oauth:grant-type:device_code"
] as const
export type GrantType = (typeof grantTypes)[number]

export type SigningAlgorithm = "RS256" | "ES256"

/** The Capsule that owns a client. Every use of the client checks the Capsule's authority. */
export interface CapsuleOwner {
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
  /** `undefined` until an apply stores a digest. Until then, the client is treated as outdated. */
  readonly activationDigest: string | undefined
}

/** A registered client, from the operator's configuration or a Capsule's apply. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly applicationType: ApplicationType
  readonly redirectUris: ReadonlyArray<string>
  readonly postLogoutRedirectUris: ReadonlyArray<string>
  readonly grantTypes: ReadonlyArray<GrantType>
  /** All scopes that the client may be granted. Other requested scopes are ignored. */
  readonly scopes: ReadonlyArray<string>
  /** SHA-256 of the client secret in hexadecimal; absent for public clients. */
  readonly secretHash: Redacted.Redacted | undefined
  /**
   * SHA-256, in hexadecimal, of the secret with which the resource server of a public client introspects tokens. The secret
   * permits nothing else.
   */
  readonly introspectionHash: Redacted.Redacted | undefined
  /** Can be false only for a confidential client. */
  readonly pkceRequired: boolean
  /** Clients that the operator marks as `trusted` need no consent. */
  readonly consent: "ask" | "trusted"
  readonly idTokenAlgorithm: SigningAlgorithm
  /** Identifiers of resources that the client may request tokens for. */
  readonly resources: ReadonlyArray<string>
  /** True if the client may request tokens for Interfaces in the grant's Workspace. */
  readonly interfaces: boolean
  /** Identifiers of the resources that the client protects. The client may introspect tokens issued for these resources. */
  readonly guards: ReadonlyArray<string>
  readonly owner: CapsuleOwner | undefined
}

/** The issuer's signing algorithms. The issuer has one key for each algorithm. */
export const signingAlgorithms = ["RS256", "ES256"] as const satisfies ReadonlyArray<SigningAlgorithm>
