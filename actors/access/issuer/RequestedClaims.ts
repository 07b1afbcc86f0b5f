import { Result, Schema } from "effect"

/** The claims that a client may request by name, and the scope that each of them requires. */
export const claimScopes = {
  name: "profile",
  preferred_username: "profile",
  updated_at: "profile",
  email: "email",
  email_verified: "email",
  groups: "groups"
} as const
export type PersonClaim = keyof typeof claimScopes

export const personClaims = [
  "name",
  "preferred_username",
  "updated_at",
  "email",
  "email_verified",
  "groups"
] as const satisfies ReadonlyArray<PersonClaim>

/** The supported part of a `claims` parameter. */
export const RequestedClaims = Schema.Struct({
  userinfo: Schema.Array(Schema.Literals(personClaims)),
  idToken: Schema.Array(Schema.Literals(personClaims)),
  /** The only subject that the client accepts, if it requests a specific one. */
  subject: Schema.optionalKey(Schema.String)
})
export type RequestedClaims = typeof RequestedClaims.Type

export const noClaims: RequestedClaims = { userinfo: [], idToken: [] }

const ClaimRequest = Schema.NullOr(
  Schema.Struct({
    essential: Schema.optionalKey(Schema.Boolean),
    value: Schema.optionalKey(Schema.Json),
    values: Schema.optionalKey(Schema.Array(Schema.Json))
  })
)
const Section = Schema.Record(Schema.String, ClaimRequest)
const decodeParameter = Schema.decodeUnknownResult(
  Schema.fromJsonString(Schema.Struct({ userinfo: Schema.optionalKey(Section), id_token: Schema.optionalKey(Section) }))
)

const named = (section: typeof Section.Type | undefined): ReadonlyArray<PersonClaim> =>
  section === undefined ? [] : personClaims.filter((name) => Object.hasOwn(section, name))

/** Parses the `claims` parameter. Fails if it is malformed. */
export const parseClaims = (text: string): Result.Result<RequestedClaims, void> =>
  Result.mapBoth(decodeParameter(text), {
    onFailure: () => undefined,
    onSuccess: ({ id_token, userinfo }): RequestedClaims => {
      const wanted = id_token?.["sub"]?.value ?? userinfo?.["sub"]?.value
      return {
        userinfo: named(userinfo),
        idToken: named(id_token),
        ...(typeof wanted === "string" ? { subject: wanted } : {})
      }
    }
  })

/** Returns the scopes that a person must consent to for these claims. */
export const scopesOfClaims = (claims: RequestedClaims): ReadonlyArray<string> => [
  ...new Set([...claims.userinfo, ...claims.idToken].map((name) => claimScopes[name]))
]

/** Returns the claims of a token: the claims of its scopes and the claims requested by name. */
export const namedClaims = (
  scopes: ReadonlyArray<string>,
  requested: ReadonlyArray<PersonClaim>
): ReadonlyArray<PersonClaim> =>
  personClaims.filter((name) => scopes.includes(claimScopes[name]) || requested.includes(name))

/** Drops claims whose scope is not allowed. */
export const withinScopes = (claims: RequestedClaims, scopes: ReadonlyArray<string>): RequestedClaims => ({
  ...claims,
  userinfo: claims.userinfo.filter((name) => scopes.includes(claimScopes[name])),
  idToken: claims.idToken.filter((name) => scopes.includes(claimScopes[name]))
})

export const StoredClaims = Schema.fromJsonString(RequestedClaims)
export const decodeClaims = Schema.decodeUnknownSync(StoredClaims)
export const encodeClaims = Schema.encodeSync(StoredClaims)
