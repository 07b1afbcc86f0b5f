import type { Mutant } from "./MutantIssuer.ts"

const identity = (file: string) => `actors/access/issuer/${file}.ts`

/**
 * One-line faults in decision logic, each with the check that must detect the fault. Real clients alone miss several of
 * these faults.
 */
export const decisionMutants: ReadonlyArray<Mutant> = [
  {
    name: "the nonce is dropped",
    file: identity("TokenClaims"),
    find: "...(facts.nonce === undefined ? {} : { nonce: facts.nonce }),",
    replace: "",
    noticedBy: "oidcc-server"
  },
  {
    name: "at_hash is the wrong half",
    file: identity("TokenClaims"),
    find: ".subarray(0, 16)",
    replace: ".subarray(16, 32)",
    noticedBy: "oidcc-server"
  },
  {
    name: "the ID token is for another audience",
    file: identity("TokenClaims"),
    find: "aud: facts.grant.clientId",
    replace: "aud: facts.issuer",
    noticedBy: "oidcc-server"
  },
  {
    name: "the ID token has expired when it is issued",
    file: identity("TokenClaims"),
    find: "exp: facts.expiresAt",
    replace: "exp: facts.issuedAt - 600",
    noticedBy: "oidcc-server"
  },
  {
    name: "auth_time is left out",
    file: identity("TokenClaims"),
    find: "auth_time: facts.grant.authTime,",
    replace: "",
    noticedBy: "oidcc-server"
  },
  {
    name: "the sub changes with a refresh",
    file: identity("TokenClaims"),
    find: "sub: facts.grant.subject,",
    replace: 'sub: facts.nonce === undefined ? "usr_other" : facts.grant.subject,',
    noticedBy: "oidcc-refresh-token"
  },
  {
    name: "the signing key is not published",
    file: identity("SigningKeys"),
    find: "WHERE status IN ('active', 'next')",
    replace: "WHERE status IN ('next')",
    noticedBy: "oidcc-idtoken-signature"
  },
  {
    name: "PKCE is not checked",
    file: identity("AuthorizationCodes"),
    find: "return made.length === challenge.length && timingSafeEqual(Buffer.from(made), Buffer.from(challenge))",
    replace: "return true",
    noticedBy: "oidcc-ensure-request-with-valid-pkce-succeeds"
  },
  {
    name: "PKCE can be left out in the exchange",
    file: identity("AuthorizationCodes"),
    find: 'if (verifier === undefined) return "The code_verifier is missing."',
    replace: "if (verifier === undefined) return undefined",
    noticedBy: "oidcc-ensure-request-with-valid-pkce-succeeds"
  },
  {
    name: "PKCE can be downgraded",
    file: identity("AuthorizationCodes"),
    find: 'return verifier === undefined ? undefined : "The code was requested without PKCE, but a code_verifier was sent."',
    replace: "return undefined",
    noticedBy: "PKCE is optional where it is configured so, and then stays out"
  },
  {
    name: "a code can be used twice",
    file: identity("AuthorizationCodes"),
    find: 'if (row.used_at !== null) return { kind: "reused", grantId: row.grant_id }',
    replace: "",
    noticedBy: "oidcc-codereuse"
  },
  {
    name: "tokens remain valid after their code was reused",
    file: identity("TokenService"),
    find: 'yield* endGrant(redemption.grantId, "code_reused")',
    replace: "",
    noticedBy: "oidcc-codereuse-30seconds"
  },
  {
    name: "a code is not bound to its client",
    file: identity("AuthorizationCodes"),
    find: "row === undefined || row.client_id !== clientId",
    replace: "row === undefined",
    noticedBy: "a code is bound to client and redirect address"
  },
  {
    name: "a code is not bound to its redirect address",
    file: identity("AuthorizationCodes"),
    find: "if (row.redirect_uri !== redirectUri)",
    replace: "if (false)",
    noticedBy: "a code is bound to client and redirect address"
  },
  {
    name: "a code does not expire",
    file: identity("AuthorizationCodes"),
    find: "if (row.expires_at <= at)",
    replace: "if (false)",
    noticedBy: "codes, access tokens and refresh tokens expire"
  },
  {
    name: "an access token does not expire",
    file: identity("TokenInspection"),
    find: " || row.expiresMillis <= (yield* Clock.currentTimeMillis)",
    replace: "",
    noticedBy: "codes, access tokens and refresh tokens expire"
  },
  {
    name: "redirect addresses match by their beginning",
    file: identity("RedirectUris"),
    find: "if (registered.includes(given)) return true",
    replace: "if (registered.some((known) => given.startsWith(known))) return true",
    noticedBy: "oidcc-ensure-registered-redirect-uri"
  },
  {
    name: "a used refresh token remains valid",
    file: identity("TokenService"),
    find: "spend: refreshTokens.rotate(grant, request.token)",
    replace: "spend: Effect.succeed(request.token)",
    noticedBy: "a refresh token rotates, and its second use ends the family"
  },
  {
    name: "a family survives the reuse of a token",
    file: identity("TokenService"),
    find: 'yield* endGrant(found.grantId, "refresh_reused")',
    replace: "",
    noticedBy: "a refresh token rotates, and its second use ends the family"
  },
  {
    name: "scopes grow with a refresh",
    file: identity("TokenService"),
    find: "if (!isSubset(scopes, grant.scopes))",
    replace: "if (false)",
    noticedBy: "a refresh narrows scopes and never widens them"
  },
  {
    name: "every client may revoke",
    file: identity("TokenInspection"),
    find: " AND client_id = ${by.id} AND revoked_at IS NULL",
    replace: " AND revoked_at IS NULL",
    noticedBy: "revocation ends only the client's own tokens"
  },
  {
    name: "introspection shows every client's tokens",
    file: identity("TokenInspection"),
    find: "if (good.client.id !== by.id && !by.guards.includes(good.audience))",
    replace: "if (false)",
    noticedBy: "introspection shows a client only its own tokens"
  },
  {
    name: "a resource token lacks its type",
    file: identity("TokenIssuance"),
    find: 'keys.sign("RS256", "at+jwt", {',
    replace: 'keys.sign("RS256", undefined, {',
    noticedBy: "resource tokens are for one audience and five minutes"
  },
  {
    name: "resource tokens live as long as ID tokens",
    file: identity("Lifetimes"),
    find: "resourceToken: retention.resourceToken.after",
    replace: "resourceToken: retention.idToken.after",
    noticedBy: "resource tokens are for one audience and five minutes"
  },
  {
    name: "an Interface needs no binding of the application",
    file: identity("InterfacePermissions"),
    find: "bindings.filter(isFor(client.owner, row))",
    replace: "bindings.filter(() => isFor !== undefined)",
    noticedBy: "an application opens only the Interfaces meant for it"
  },
  {
    name: "the operator's permission policy is ignored",
    file: identity("InterfacePermissions"),
    find: "pair.delivery === delivery && bound.has(pair.permission)",
    replace: "bound.size > 0 && pair.delivery !== undefined",
    noticedBy: "an application opens only the Interfaces meant for it"
  },
  {
    name: "an Interface token is issued on the state at consent",
    file: identity("TokenIssuance"),
    find: "asked.filter((scope) => permissions.includes(scope))",
    replace: 'asked.filter((scope) => permissions.includes(scope) || scope === "mcp.invoke")',
    noticedBy: "the authority of an Interface token is checked again at each use"
  },
  {
    name: "introspection trusts an Interface token without a check",
    file: identity("TokenInspection"),
    find: "return left.length === 0 ? undefined : left",
    replace: "return left.length === 0 ? scopes : left",
    noticedBy: "the authority of an Interface token is checked again at each use"
  },
  {
    name: "suspended members keep their tokens",
    file: identity("LiveAuthority"),
    find: "WHERE workspace_id = ${workspaceId} AND subject = ${subject} AND status = 'active'",
    replace: "WHERE workspace_id = ${workspaceId} AND subject = ${subject}",
    noticedBy: "a suspended member loses codes, tokens and refresh"
  },
  {
    name: "the role is not the current one",
    file: identity("TokenClaims"),
    find: "role: workspace.role,",
    replace: 'role: "owner",',
    noticedBy: "a selected Workspace is in every token, with the current role"
  },
  {
    name: "an outage counts as a refusal",
    file: identity("OAuthError"),
    find: "temporarily_unavailable: 503",
    replace: "temporarily_unavailable: 400",
    noticedBy: "an unverifiable authority is 503, and nothing is consumed"
  },
  {
    name: "the activation of a Capsule is not compared",
    file: identity("LiveAuthority"),
    find: "owner.activationDigest === activationDigest(authority)",
    replace: "owner.activationDigest !== undefined",
    noticedBy: "a Capsule that moved on is stale until it is applied"
  },
  {
    name: "the epoch is not part of the activation",
    file: identity("CapsuleActivation"),
    find: "executionAuthorityEpoch: authority.execution_authority_epoch,",
    replace: "",
    noticedBy: "a Capsule that moved on is stale until it is applied"
  },
  {
    name: "an apply registers what its plan did not pin",
    file: identity("CapsuleClients"),
    find: "derived.authorityDigest !== row?.authority_digest",
    replace: "derived.authorityDigest === undefined",
    noticedBy: "only a final apply registers, and only what its plan pinned"
  },
  {
    name: "a destroyed Capsule keeps its client",
    file: identity("Clients"),
    find: " AND o.status = 'active'",
    replace: "",
    noticedBy: "a destroyed Capsule's client is gone"
  },
  {
    name: "an apply registers other return paths than its plan pinned",
    file: identity("CapsuleClients"),
    find: "const returning = postLogoutPaths.length === 0 ? {} : { postLogoutPaths }",
    replace: 'const returning = { postLogoutPaths: ["/elsewhere"] }',
    noticedBy: "an apply registers the return paths that its own plan pinned"
  },
  {
    name: "a secret survives the apply that replaced it",
    file: identity("CapsuleClients"),
    find: " introspection_hash = excluded.introspection_hash,",
    replace: "",
    noticedBy: "the secret of a resource server is that of the last apply, and ends with the Capsule"
  },
  {
    name: "a device gets its tokens repeatedly",
    file: identity("DeviceCodes"),
    find: "SET status = 'used'",
    replace: "SET status = 'approved'",
    noticedBy: "a device is connected by the person who started it"
  },
  {
    name: "any address counts as verified upstream",
    file: identity("LiveAuthority"),
    find: " AND i.verified_email = u.email",
    replace: "",
    noticedBy: "an address is verified only while an upstream provider vouches for it"
  },
  {
    name: "the ID token says less than UserInfo",
    file: identity("TokenIssuance"),
    find: "namedClaims(request.scopes, grant.claims.idToken)",
    replace: "namedClaims([], grant.claims.idToken)",
    noticedBy: "the ID token and UserInfo say the same, of the scopes that were asked for"
  },
  {
    name: "a suspended member keeps the group",
    file: identity("TokenIssuance"),
    find: " AND m.status = 'active'",
    replace: "",
    noticedBy: "groups are the roles of the moment, within the Workspace of the grant"
  },
  {
    name: "a bound grant lists the groups of other Workspaces",
    file: identity("TokenIssuance"),
    find: "workspaceId === undefined ?",
    replace: "workspaceId !== null ?",
    noticedBy: "groups are the roles of the moment, within the Workspace of the grant"
  },
  {
    name: "a refresh family outlives its redirect address",
    file: identity("TokenService"),
    find: "if (!isAtRegisteredAddress(client, grant)) {",
    replace: "if (false) {",
    noticedBy: "a redirect address that is gone takes what was granted there"
  },
  {
    name: "an access token outlives its redirect address",
    file: identity("TokenInspection"),
    find: "if (!isAtRegisteredAddress(client.value, grant)) return undefined",
    replace: "",
    noticedBy: "a redirect address that is gone takes what was granted there"
  }
]
