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

/** The Capsule that owns a client: its authority is checked on every use of the client. */
export interface CapsuleOwner {
  readonly workspaceId: WorkspaceId
  readonly capsuleId: CapsuleId
  /** `undefined` until an apply has stored one; until then, treated as stale. */
  readonly activationDigest: string | undefined
}

/** A registered client, either from the configuration or from a Capsule's final apply. */
export interface Client {
  readonly id: string
  readonly name: string
  readonly applicationType: ApplicationType
  readonly redirectUris: ReadonlyArray<string>
  readonly postLogoutRedirectUris: ReadonlyArray<string>
  readonly grantTypes: ReadonlyArray<GrantType>
  /** All scopes it may ever request; other scopes in a request are ignored. */
  readonly scopes: ReadonlyArray<string>
  /** SHA-256 of the secret, hex. Public clients have none. */
  readonly secretHash: Redacted.Redacted | undefined
  /**
   * SHA-256, in hex, of the secret with which the resource server of a public client introspects its tokens; the secret is not
   * valid for anything else.
   */
  readonly introspectionHash: Redacted.Redacted | undefined
  /** May be false only for a confidential client. */
  readonly pkceRequired: boolean
  /** The operator's own clients do not need people's consent. */
  readonly consent: "ask" | "trusted"
  readonly idTokenAlgorithm: SigningAlgorithm
  /** Resource identifiers for which it may request tokens. */
  readonly resources: ReadonlyArray<string>
  /** True if it may request tokens for Interfaces in the grant's Workspace. */
  readonly interfaces: boolean
  /** Identifiers of the resources that it protects and whose tokens it may introspect. */
  readonly guards: ReadonlyArray<string>
  readonly owner: CapsuleOwner | undefined
}

/** The issuer's signing algorithms, with one key each. */
export const signingAlgorithms = ["RS256", "ES256"] as const satisfies ReadonlyArray<SigningAlgorithm>
