import { Effect, Option, Result, Schema } from "effect"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { noMembership } from "../../../actors/access/issuer/Authorizations.ts"
import type { Client } from "../../../actors/access/issuer/Client.ts"
import { Clients } from "../../../actors/access/issuer/Clients.ts"
import type { IssuerSettings } from "../../../actors/access/issuer/IssuerSettings.ts"
import { failClosed, OAuthError, refuse } from "../../../actors/access/issuer/OAuthError.ts"
import { isChallenge } from "../../../actors/access/issuer/AuthorizationCodes.ts"
import { isRegisteredRedirect } from "../../../actors/access/issuer/RedirectUris.ts"
import {
  noClaims,
  parseClaims,
  type RequestedClaims,
  scopesOfClaims,
  withinScopes
} from "../../../actors/access/issuer/RequestedClaims.ts"
import { parseScopes } from "../../../actors/access/issuer/Scopes.ts"
import { StaticClients } from "../../../actors/access/issuer/StaticClients.ts"
import type { SigningKeys } from "../../../actors/access/issuer/SigningKeys.ts"
import { WorkspaceId } from "../../../schema/records/Ids.ts"
import { readIdTokenHint } from "./IdTokenHint.ts"
import type { Parameters } from "./Parameters.ts"

export const prompts = ["none", "login", "consent", "select_account"] as const
export type Prompt = (typeof prompts)[number]

const maxState = 4096
const maxWorkspaceId = 128
const decodeWorkspaceId = Schema.decodeResult(WorkspaceId)

/** The address to which the response is sent, once the address has been verified as safe. */
export interface ResponseTarget {
  readonly client: Client
  readonly redirectUri: string
  readonly state: string | undefined
}

/** A complete request, before the person who makes it is known. */
export interface AuthorizationRequest extends ResponseTarget {
  readonly scopes: ReadonlyArray<string>
  readonly claims: RequestedClaims
  readonly resource: string | undefined
  readonly workspaceId: WorkspaceId | undefined
  readonly nonce: string | undefined
  readonly codeChallenge: string | undefined
  readonly prompts: ReadonlySet<Prompt>
  /** Seconds. */
  readonly maxAge: number | undefined
  /** The only person who may grant the request, if a hint or a claim identifies one. */
  readonly subject: string | undefined
}

/**
 * A refusal and its recipient. If the client must not receive the refusal, svc only shows it to the person, on one of its
 * own pages.
 */
export class AuthorizationRefused extends Schema.TaggedError<AuthorizationRefused>()("AuthorizationRefused", {
  error: OAuthError,
  target: Schema.optionalKey(Schema.Struct({ redirectUri: Schema.String, state: Schema.optionalKey(Schema.String) }))
}) {}

const onPage = (error: OAuthError) => new AuthorizationRefused({ error })

/** Reports the refusal to the client. */
export const toClient = ({ redirectUri, state }: ResponseTarget, error: OAuthError) =>
  new AuthorizationRefused({ error, target: { redirectUri, ...(state === undefined ? {} : { state }) } })

/** Verifies the client and the redirect address. Until both are verified, svc does not redirect anywhere. */
const responseTarget = Effect.fnUntraced(function* (parameters: Parameters) {
  const sql = yield* ReadSql
  const clients = yield* Clients
  const invalid = (description: string) => onPage(refuse("invalid_request", description))
  for (const name of ["client_id", "redirect_uri"]) {
    if (parameters.repeated.includes(name)) return yield* invalid(`The parameter ${name} was sent more than once.`)
  }
  const clientId = parameters.get("client_id")
  if (clientId === undefined) return yield* invalid("The parameter client_id is missing.")
  const client = yield* failClosed(clients.find(sql, clientId)).pipe(Effect.mapError(onPage))
  if (Option.isNone(client)) {
    return yield* onPage(refuse("invalid_client", "There is no client with this client_id."))
  }
  const redirectUri = parameters.get("redirect_uri")
  if (redirectUri === undefined) return yield* invalid("The parameter redirect_uri is missing.")
  if (!isRegisteredRedirect(redirectUri, client.value.redirectUris, client.value.applicationType)) {
    return yield* invalid("The redirect_uri is not registered for this client, character for character.")
  }
  const state = parameters.repeated.includes("state") ? undefined : parameters.get("state")
  return {
    client: client.value,
    redirectUri,
    state: state !== undefined && state.length > maxState ? undefined : state
  }
})

const unsupported = (parameters: Parameters): OAuthError | undefined => {
  const [twice] = parameters.repeated
  if (twice !== undefined)
    return refuse("invalid_request", `The parameter ${twice.slice(0, 64)} was sent more than once.`)
  if ((parameters.get("state")?.length ?? 0) > maxState) return refuse("invalid_request", "The state is too long.")
  if (parameters.get("request") !== undefined) {
    return refuse("request_not_supported", "Request objects are not supported. Send plain parameters.")
  }
  if (parameters.get("request_uri") !== undefined) {
    return refuse("request_uri_not_supported", "Nothing is fetched from a request_uri. Send plain parameters.")
  }
  if (parameters.get("registration") !== undefined) {
    return refuse("registration_not_supported", "Clients cannot register themselves.")
  }
  const responseType = parameters.get("response_type")
  if (responseType === undefined) return refuse("invalid_request", "The parameter response_type is missing.")
  if (responseType !== "code") return refuse("unsupported_response_type", "Only response_type=code is supported.")
  if ((parameters.get("response_mode") ?? "query") !== "query") {
    return refuse("invalid_request", "Only response_mode=query is supported.")
  }
  return undefined
}

const challengeOf = (
  parameters: Parameters,
  { pkceRequired }: Client
): Result.Result<string | undefined, OAuthError> => {
  const challenge = parameters.get("code_challenge")
  const method = parameters.get("code_challenge_method")
  const fail = (description: string) => Result.fail(refuse("invalid_request", description))
  if (challenge === undefined) {
    if (method !== undefined) return fail("A code_challenge_method came without a code_challenge.")
    return pkceRequired ? fail("This client has to use PKCE: send a code_challenge.") : Result.succeed(undefined)
  }
  if (method !== "S256") return fail("Only code_challenge_method=S256 is supported.")
  return isChallenge(challenge)
    ? Result.succeed(challenge)
    : fail("The code_challenge is not the base64url of a SHA-256.")
}

const promptsOf = (text: string | undefined): Result.Result<ReadonlySet<Prompt>, OAuthError> => {
  const words = text?.split(" ").filter((word) => word !== "") ?? []
  const known = prompts.filter((prompt) => words.includes(prompt))
  if (known.length !== new Set(words).size) {
    return Result.fail(refuse("invalid_request", `A prompt is one of ${prompts.join(", ")}.`))
  }
  return known.includes("none") && known.length > 1
    ? Result.fail(refuse("invalid_request", "The prompt none goes with no other."))
    : Result.succeed(new Set(known))
}

const maxAgeOf = (text: string | undefined): Result.Result<number | undefined, OAuthError> => {
  if (text === undefined) return Result.succeed(undefined)
  return /^[0-9]{1,9}$/.test(text)
    ? Result.succeed(Number(text))
    : Result.fail(refuse("invalid_request", "The max_age is no number of seconds."))
}

/** Parses the Workspace selector. The transaction that grants the code also checks the membership. */
export const workspaceSelector = (parameters: Parameters): Result.Result<WorkspaceId | undefined, OAuthError> => {
  const [given] = parameters.all("workspace_id")
  if (given === undefined) return Result.succeed(undefined)
  return given === "" || given.length > maxWorkspaceId || /[\s\p{Cc}]/u.test(given)
    ? Result.fail(
        refuse("invalid_request", `The workspace_id is empty, longer than ${maxWorkspaceId} characters or malformed.`)
      )
    : // Nobody is a member of what cannot be a Workspace.
      Result.mapError(decodeWorkspaceId(given), noMembership)
}

/** Returns the Workspace to which a grant to the client is bound. A Capsule's client belongs to exactly one Workspace. */
export const boundWorkspace = (
  client: Client,
  selected: WorkspaceId | undefined
): Result.Result<WorkspaceId | undefined, OAuthError> => {
  const { owner } = client
  if (owner === undefined) return Result.succeed(selected)
  return selected === undefined || selected === owner.workspaceId
    ? Result.succeed(owner.workspaceId)
    : Result.fail(refuse("access_denied", "The application belongs to another Workspace."))
}

/** Audience of the tokens: the issuer's own API, or another server (RFC 8707). */
export interface Target {
  readonly resource: string | undefined
  /**
   * True if the address is not one of the operator's resource servers. In that case, whether the address may be used depends
   * only on who the person is.
   */
  readonly interfaces: boolean
}

/** Returns the resource for which the client requests tokens. Fails with `invalid_target` if the client may not request it. */
export const requestedTarget = Effect.fnUntraced(function* (parameters: Parameters, client: Client) {
  const resource = parameters.get("resource")
  if (resource === undefined) return { resource, interfaces: false } satisfies Target
  const { resourceServers } = yield* StaticClients
  const configured = resourceServers.has(resource)
  const may = configured ? client.resources.includes(resource) : client.interfaces && URL.canParse(resource)
  if (!may) return yield* refuse("invalid_target", "The client may not ask for tokens of this resource.")
  return { resource, interfaces: !configured } satisfies Target
})

/**
 * Returns the requested scopes that the client may have, and ignores all others, as OpenID Connect requires. For an
 * Interface, the scopes include the person's permissions, so all requested scopes are kept until the person is known.
 */
export const requestedScopes = (
  parameters: Parameters,
  client: Client,
  { interfaces }: Target
): Result.Result<ReadonlyArray<string>, OAuthError> => {
  const asked = parseScopes(parameters.get("scope") ?? "")
  const scopes = interfaces ? asked : asked?.filter((scope) => client.scopes.includes(scope))
  return scopes === undefined || scopes.length === 0
    ? Result.fail(refuse("invalid_scope", "The scope names nothing that this client may ask for."))
    : Result.succeed(scopes)
}

const claimsOf = (parameters: Parameters, { scopes }: Client): Result.Result<RequestedClaims, OAuthError> => {
  const text = parameters.get("claims")
  if (text === undefined) return Result.succeed(noClaims)
  return Result.mapBoth(parseClaims(text), {
    onFailure: () => refuse("invalid_request", "The claims parameter is malformed."),
    onSuccess: (claims) => withinScopes(claims, scopes)
  })
}

/** Lists the permissions to which the person must consent. */
export const permissionsOf = ({ claims, scopes }: Pick<AuthorizationRequest, "claims" | "scopes">) => [
  ...new Set([...scopes, ...scopesOfClaims(claims)])
]

/** Parses an authorization request. Fails with `AuthorizationRefused`, which specifies where to report the refusal. */
export const parseAuthorizationRequest = Effect.fn("parseAuthorizationRequest")(function* (
  parameters: Parameters
): Effect.fn.Return<
  AuthorizationRequest,
  AuthorizationRefused,
  ReadSql | Clients | StaticClients | SigningKeys | IssuerSettings
> {
  const target = yield* responseTarget(parameters)
  const { client } = target
  return yield* Effect.gen(function* () {
    const refusal = unsupported(parameters)
    if (refusal !== undefined) return yield* refusal
    if (!client.grantTypes.includes("authorization_code")) {
      return yield* refuse("unauthorized_client", "The client is not registered for authorization codes.")
    }
    const codeChallenge = yield* Effect.fromResult(challengeOf(parameters, client))
    const asked = yield* Effect.fromResult(promptsOf(parameters.get("prompt")))
    const maxAge = yield* Effect.fromResult(maxAgeOf(parameters.get("max_age")))
    const claims = yield* Effect.fromResult(claimsOf(parameters, client))
    const selected = yield* Effect.fromResult(workspaceSelector(parameters))
    const hint = parameters.get("id_token_hint")
    const hinted = hint === undefined ? undefined : yield* failClosed(readIdTokenHint(hint))
    if (hint !== undefined && hinted?.aud !== client.id) {
      return yield* refuse("invalid_request", "The id_token_hint is no ID token of this issuer for this client.")
    }
    const asksFor = yield* requestedTarget(parameters, client)
    return {
      ...target,
      scopes: yield* Effect.fromResult(requestedScopes(parameters, client, asksFor)),
      claims,
      resource: asksFor.resource,
      workspaceId: yield* Effect.fromResult(boundWorkspace(client, selected)),
      nonce: parameters.get("nonce"),
      codeChallenge,
      prompts: asked,
      maxAge,
      subject: hinted?.sub ?? claims.subject
    }
  }).pipe(Effect.mapError((error) => toClient(target, error)))
})
