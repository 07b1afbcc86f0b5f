import { Schema } from "effect"

/** The standard scopes of the issuer. Capsules and resource servers declare all others. */
export const standardScopes = [
  "openid",
  "profile",
  "email",
  "groups",
  "offline_access",
  "workspaces",
  "read",
  "write"
] as const

const scopePattern = /^[\x21\x23-\x5b\x5d-\x7e]{1,128}$/

/** Returns the distinct scopes of a space-separated list, or `undefined` if a scope contains an invalid character. */
export const parseScopes = (text: string): ReadonlyArray<string> | undefined => {
  const scopes = [...new Set(text.split(" ").filter((scope) => scope !== ""))]
  return scopes.every((scope) => scopePattern.test(scope)) ? scopes : undefined
}

export const ScopeList = Schema.fromJsonString(Schema.Array(Schema.String))
export const decodeScopes = Schema.decodeUnknownSync(ScopeList)
export const encodeScopes = Schema.encodeSync(ScopeList)

export const isSubset = (part: ReadonlyArray<string>, whole: ReadonlyArray<string>): boolean =>
  part.every((scope) => whole.includes(scope))
