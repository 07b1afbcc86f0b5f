import type { Mutant } from "./MutantIssuer.ts"

const issuerFile = (file: string) => `src/accounts/oidc/${file}.ts`

/** One-line faults in endpoints, each with the check that must detect the fault. */
export const endpointMutants: ReadonlyArray<Mutant> = [
  {
    name: "the response does not name the issuer",
    file: issuerFile("AuthorizationResponse"),
    find: ", iss: issuer })",
    replace: " })",
    noticedBy: "oidcc-server"
  },
  {
    name: "the state is dropped",
    file: issuerFile("AuthorizationResponse"),
    find: "...(state === undefined ? {} : { state }), ",
    replace: "",
    noticedBy: "oidcc-server"
  },
  {
    name: "a public client may go without PKCE",
    file: issuerFile("AuthorizationRequest"),
    find: 'return pkceRequired ? fail("This client has to use PKCE: send a code_challenge.") : Result.succeed(undefined)',
    replace: "return Result.succeed(undefined)",
    noticedBy: "a public client without PKCE"
  },
  {
    name: "prompt=login is ignored",
    file: issuerFile("AuthorizeEndpoints"),
    find: '(stale || request.prompts.has("login"))',
    replace: "stale",
    noticedBy: "oidcc-prompt-login"
  },
  {
    name: "a stale Capsule's resource server introspects on",
    file: issuerFile("ClientAuthentication"),
    find: "return denial === undefined ? client",
    replace: "return denial !== null ? client",
    noticedBy: "the secret of a resource server is that of the last apply, and ends with the Capsule"
  },
  {
    name: "the introspection secret authenticates the client",
    file: issuerFile("ClientAuthentication"),
    find: "if (client.secretHash === undefined) return secret === undefined ? client : yield* unknownClient",
    replace: "if (client.secretHash === undefined) return client",
    noticedBy: "the secret of a resource server is good for introspection alone"
  },
  {
    name: "an unsigned sign-in note is trusted",
    file: issuerFile("FreshSignIn"),
    find: "if (!(yield* vault.verifyMac(purpose, signedText(millis, parameters), digest))) return undefined",
    replace: "void digest",
    noticedBy: "oidcc-prompt-login"
  },
  {
    name: "max_age is ignored",
    file: issuerFile("AuthorizeEndpoints"),
    find: "age > request.maxAge",
    replace: "age < 0",
    noticedBy: "oidcc-max-age-1"
  },
  {
    name: "the hinted person is ignored",
    file: issuerFile("AuthorizeEndpoints"),
    find: "request.subject !== undefined && request.subject !== visiting.subject",
    replace: "request.subject === null",
    noticedBy: "oidcc-id-token-hint"
  },
  {
    name: "a request object is ignored",
    file: issuerFile("AuthorizationRequest"),
    find: 'if (parameters.get("request") !== undefined) {',
    replace: "if (false) {",
    noticedBy: "oidcc-unsigned-request-object-supported-correctly-or-rejected-as-unsupported"
  },
  {
    name: "a wrong client secret is accepted",
    file: issuerFile("ClientAuthentication"),
    find: "!secretMatches(secret, client.secretHash)",
    replace: "secretMatches(secret, client.secretHash) === undefined",
    noticedBy: "a client authenticates in exactly one way, with valid credentials"
  },
  {
    name: "a selector may be given twice",
    file: issuerFile("AuthorizationRequest"),
    find: "if (twice !== undefined)",
    replace: "if (twice === null)",
    noticedBy: "a selector that is malformed, doubled or foreign is refused"
  },
  {
    name: "forms need no token",
    file: issuerFile("Visitor"),
    find: 'vault.verifyMac("oidc-form", formText(visiting, form, content), token)',
    replace: "Effect.succeed(true)",
    noticedBy: "a decision counts only from its own page, session and request"
  },
  {
    name: "decisions may come from another site",
    file: issuerFile("AuthorizeEndpoints"),
    find: "yield* requireSameOrigin",
    replace: "",
    noticedBy: "a decision counts only from its own page, session and request"
  },
  {
    name: "no consent is requested",
    file: issuerFile("AuthorizeEndpoints"),
    find: "return !isSubset(permissionsOf(request), given)",
    replace: "return given.length < 0",
    noticedBy: "a person is prompted once, and again for more scopes"
  },
  {
    name: "a logout redirects to any address",
    file: issuerFile("LogoutEndpoints"),
    find: "!isRegisteredRedirect(uri, postLogoutRedirectUris, applicationType)",
    replace: "uri === undefined",
    noticedBy: "oidcc-rp-initiated-logout-bad-post-logout-redirect-uri"
  },
  {
    name: "any person's ID token signs out without a prompt",
    file: issuerFile("LogoutEndpoints"),
    find: "const proven = hint?.sub === visiting?.subject && hint?.sid === visiting?.sessionId",
    replace: "const proven = hint !== undefined",
    noticedBy: "another session's ID token, or a client_id without one, prompts the person"
  },
  {
    name: "a refusal on the consent page is a redirect",
    file: issuerFile("AuthorizeEndpoints"),
    find: "onPages((address, chosen) => leavingPage(chosen, address))",
    replace: "onPages(seeOther)",
    noticedBy: "a decision counts only from its own page, session and request"
  },
  {
    name: "a confirmed sign-out leaves by a redirect",
    file: issuerFile("LogoutEndpoints"),
    find: "leavingPage(yield* language(parameters), returnTo)",
    replace: "seeOther(returnTo)",
    noticedBy: "another session's ID token, or a client_id without one, prompts the person"
  }
]
