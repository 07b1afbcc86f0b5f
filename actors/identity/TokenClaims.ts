import { createHash } from "node:crypto"
import type { Schema } from "effect"
import type { Grant } from "./Grants.ts"
import type { LiveAuthority, Person } from "./LiveAuthority.ts"
import { claimScopes, type PersonClaim } from "./RequestedClaims.ts"

type Claims = Record<string, Schema.Json>

const valueOf = (person: Person, name: PersonClaim): Schema.Json | undefined => {
  switch (name) {
    case "name":
      return person.display_name ?? undefined
    case "updated_at":
      return Math.floor(Date.parse(person.updated_at) / 1000)
    case "email":
      return person.email
    case "email_verified":
      // Nobody has verified that the address reaches this person.
      return false
  }
}

const personClaims = (person: Person, names: ReadonlyArray<PersonClaim>): Claims =>
  Object.fromEntries(
    names.flatMap((name) => {
      const value = valueOf(person, name)
      return value === undefined ? [] : [[name, value]]
    })
  )

const allNames: ReadonlyArray<PersonClaim> = ["name", "updated_at", "email", "email_verified"]

/** The Workspace of a token, with the present role, and its Capsule. Absent without a Workspace. */
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

/** What UserInfo says about the person. */
export const userInfoClaims = (
  grant: Grant,
  scopes: ReadonlyArray<string>,
  authority: LiveAuthority,
  memberships: ReadonlyArray<string> | undefined
): Claims => ({
  sub: grant.subject,
  ...personClaims(
    authority.person,
    allNames.filter((name) => scopes.includes(claimScopes[name]) || grant.claims.userinfo.includes(name))
  ),
  ...svcClaim(authority),
  ...(memberships === undefined ? {} : { workspace_memberships: memberships })
})

/** Left half of the SHA-256 of the access token (OpenID Connect Core 3.1.3.6); all our algorithms hash with SHA-256. */
export const accessTokenHash = (accessToken: string): string =>
  createHash("sha256").update(accessToken).digest().subarray(0, 16).toString("base64url")

export interface IdTokenFacts {
  readonly issuer: string
  readonly grant: Grant
  readonly authority: LiveAuthority
  readonly accessToken: string
  readonly nonce: string | undefined
  /** Seconds since 1970. */
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
  ...personClaims(facts.authority.person, facts.grant.claims.idToken),
  ...svcClaim(facts.authority)
})
