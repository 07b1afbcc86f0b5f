import { createHash } from "node:crypto"
import type { Schema } from "effect"
import type { Grant } from "./Grants.ts"
import type { LiveAuthority, Person } from "./LiveAuthority.ts"
import type { PersonClaim } from "./RequestedClaims.ts"

type Claims = Record<string, Schema.Json>

/** The facts about a person that a token may contain. `groups` is read only if it is requested. */
export interface PersonFacts {
  readonly person: Person
  readonly groups: ReadonlyArray<string>
}

/** Returns the local part of the email address, because accounts have no user name. */
const userName = ({ email }: Person): string => email.slice(0, Math.max(email.lastIndexOf("@"), 0))

const valueOf = ({ groups, person }: PersonFacts, name: PersonClaim): Schema.Json => {
  switch (name) {
    case "name":
      return person.display_name ?? userName(person)
    case "preferred_username":
      return userName(person)
    case "updated_at":
      return Math.floor(Date.parse(person.updated_at) / 1000)
    case "email":
      return person.email
    case "email_verified":
      return person.email_verified === 1
    case "groups":
      return groups
  }
}

const personClaims = (facts: PersonFacts, names: ReadonlyArray<PersonClaim>): Claims =>
  Object.fromEntries(names.map((name) => [name, valueOf(facts, name)]))

/**
 * Returns claims that describe the token's Workspace, the person's current role in it, and the token's Capsule. Returns no
 * claims if the token has no Workspace.
 */
export const svcClaim = ({ capsuleId, workspace }: LiveAuthority): Claims =>
  workspace === undefined
    ? {}
    : {
        svc: {
          workspace_id: workspace.id,
          role: workspace.role,
          ...(capsuleId === undefined ? {} : { capsule_id: capsuleId })
        }
      }

/** Returns the UserInfo claims about the person. */
export const userInfoClaims = (
  authority: LiveAuthority,
  names: ReadonlyArray<PersonClaim>,
  groups: ReadonlyArray<string>,
  memberships: ReadonlyArray<string> | undefined
): Claims => ({
  sub: authority.person.subject,
  ...personClaims({ person: authority.person, groups }, names),
  ...svcClaim(authority),
  ...(memberships === undefined ? {} : { workspace_memberships: memberships })
})

/**
 * Returns the left half of the access token's SHA-256 (OpenID Connect Core 3.1.3.6). SHA-256 is the right hash for all
 * signing algorithms of the issuer.
 */
export const accessTokenHash = (accessToken: string): string =>
  createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url")

export interface IdTokenFacts {
  readonly issuer: string
  readonly grant: Grant
  readonly authority: LiveAuthority
  readonly names: ReadonlyArray<PersonClaim>
  readonly groups: ReadonlyArray<string>
  readonly accessToken: string
  readonly nonce: string | undefined
  /** Seconds since the Unix epoch. */
  readonly issuedAt: number
  readonly expiresAt: number
}

export const idTokenClaims = (facts: IdTokenFacts): Claims => ({
  iss: facts.issuer,
  sub: facts.grant.subject,
  aud: facts.grant.clientId,
  iat: facts.issuedAt,
  exp: facts.expiresAt,
  auth_time: facts.grant.authTime,
  at_hash: accessTokenHash(facts.accessToken),
  ...(facts.nonce === undefined ? {} : { nonce: facts.nonce }),
  ...(facts.grant.sessionId === undefined ? {} : { sid: facts.grant.sessionId }),
  ...personClaims({ person: facts.authority.person, groups: facts.groups }, facts.names),
  ...svcClaim(facts.authority)
})
