import { Clock, Context, Duration, Effect, Layer, Redacted } from "effect"
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  ClientError,
  type Configuration,
  customFetch,
  discovery,
  fetchUserInfo
} from "openid-client"
import { errors } from "jose"
import type { UpstreamIdentity } from "../../../actors/access/account/UpstreamIdentities.ts"
import { refusedFor, type UpstreamRefused } from "../../../actors/access/account/UpstreamRefusal.ts"
import type { UpstreamProof } from "../../../actors/access/account/UpstreamSignIns.ts"
import type { UpstreamTrust } from "../../../actors/access/member/ProvisioningRules.ts"
import { secretAuthentication } from "../../../runner/oauth/SecretAuthentication.ts"
import { retention } from "../../../schema/records/Retention.ts"
import { providerFetch } from "./ProviderFetch.ts"
import { claimsFault, completedBy, type ProfileClaims, profileClaims } from "./UpstreamClaims.ts"
import { publishedKeys } from "./UpstreamKeys.ts"
import { outsideTransaction } from "../../../runner/thread/OutsideTransaction.ts"

/** The OpenID provider through which people may sign in, with this installation as its client. */
export interface UpstreamSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** The provider's display name. */
  readonly name: string
  /** The kind of trust in the provider, which determines how its identities are recognised. */
  readonly trust: UpstreamTrust
  /** Scopes to request, including `openid`. */
  readonly scopes: string
  /** The claim that lists a person's groups. */
  readonly groupsClaim: string
}

/** Maximum time for a response from the provider, including the body. */
const answersWithin = Duration.seconds(10)
// Lifetime of the cached metadata. A provider's endpoints hardly ever change.
const metadataGoodFor = Duration.hours(1)
// Algorithms to accept if the metadata does not list any. "none" and algorithms with a key shared with the client are never
// accepted.
const usualAlgorithms = ["RS256"]
const isAsymmetric = (algorithm: string): boolean => /^(?:RS|PS|ES)\d{3}$|^Ed(?:DSA|25519)$/.test(algorithm)

interface Known {
  readonly configuration: Configuration
  readonly verifySignature: ReturnType<typeof publishedKeys>
}

const logged = (about: string, cause: unknown) =>
  // The libraries' messages contain claim names and error codes, but never a token.
  Effect.logWarning(about, cause instanceof Error ? cause.message : "")

// Maximum age of an authentication, which is the same as for a confirmation.
const freshSeconds = Duration.toSeconds(retention.confirmation.after)

const outside = outsideTransaction("A sign-in provider is asked")

/** Returns true if the provider did not respond in time. Each library has a different error for a timeout. */
const isTooSlow = (cause: unknown): boolean =>
  (cause instanceof ClientError && cause.code === "OAUTH_TIMEOUT") || cause instanceof errors.JWKSTimeout

const configure = ({ clientId, clientSecret, issuer }: UpstreamSettings, within: Duration.Duration) =>
  Effect.gen(function* () {
    const configuration = yield* Effect.tryPromise(() =>
      discovery(new URL(issuer), clientId, undefined, secretAuthentication(clientSecret), {
        [customFetch]: providerFetch,
        timeout: Duration.toSeconds(within),
        // Allow plain HTTP here, because the settings accept it only on loopback.
        execute: issuer.startsWith("http:") ? [allowInsecureRequests] : []
      })
    ).pipe(outside)
    const { id_token_signing_alg_values_supported: supported = usualAlgorithms, jwks_uri } =
      configuration.serverMetadata()
    if (jwks_uri === undefined) {
      yield* Effect.logWarning("The metadata of the upstream sign-in provider contains no jwks_uri")
      return yield* refusedFor("unreachable")
    }
    const known: Known = {
      configuration,
      verifySignature: publishedKeys(jwks_uri, supported.filter(isAsymmetric), within)
    }
    return known
  }).pipe(
    Effect.catchTag("UnknownError", ({ cause }) =>
      Effect.andThen(logged("The upstream sign-in provider cannot be discovered", cause), refusedFor("unreachable"))
    )
  )

/** Reads UserInfo, because some providers return profiles only there. The library checks that the subject is the same. */
const userInfoOf = (configuration: Configuration, accessToken: string, subject: string) =>
  Effect.tryPromise(() => fetchUserInfo(configuration, accessToken, subject)).pipe(outside)

const exchange = Effect.fn("UpstreamProvider.exchange")(function* (
  { configuration, verifySignature }: Known,
  answer: URL,
  { codeVerifier, nonce, state }: UpstreamProof,
  clientId: string,
  fresh: boolean
) {
  const tokens = yield* Effect.tryPromise(() =>
    authorizationCodeGrant(configuration, answer, {
      pkceCodeVerifier: Redacted.value(codeVerifier),
      expectedNonce: nonce,
      expectedState: state,
      idTokenExpected: true,
      ...(fresh ? { maxAge: freshSeconds } : {})
    })
  ).pipe(
    outside,
    Effect.catch(({ cause }) =>
      cause instanceof AuthorizationResponseError
        ? refusedFor("denied")
        : Effect.andThen(
            logged("An upstream sign-in was refused", cause),
            refusedFor(isTooSlow(cause) ? "unreachable" : fresh ? "not_fresh" : "invalid_answer")
          )
    )
  )
  const claims = tokens.claims()
  if (claims === undefined || tokens.id_token === undefined) return yield* refusedFor("invalid_answer")
  const fault = claimsFault(claims, clientId, yield* Clock.currentTimeMillis)
  if (fault !== undefined) {
    yield* Effect.logWarning("An upstream sign-in was refused", fault)
    return yield* refusedFor("invalid_answer")
  }
  // Verify the signature, even though the token arrived over TLS.
  yield* verifySignature(tokens.id_token).pipe(
    Effect.catch(({ cause }) =>
      Effect.andThen(
        logged("The signature of an upstream ID token was refused", cause),
        refusedFor(isTooSlow(cause) ? "unreachable" : "invalid_answer")
      )
    )
  )
  return { claims, accessToken: tokens.access_token }
})

/** Returns the ID token's claims. If UserInfo claims are needed and available, adds them. */
const profileOf = Effect.fn("UpstreamProvider.profile")(function* (
  { configuration }: Known,
  settings: UpstreamSettings,
  { accessToken, claims }: Effect.Success<ReturnType<typeof exchange>>,
  needsGroups: boolean
): Effect.fn.Return<ProfileClaims, UpstreamRefused> {
  const token = profileClaims(claims, settings)
  const lacksGroups = needsGroups && token.groups === undefined
  const lacksAddress = settings.trust === "email_verified" && token.verifiedEmail === undefined
  const isPublished = configuration.serverMetadata().userinfo_endpoint !== undefined
  if (!isPublished || !(lacksGroups || lacksAddress)) return token
  return yield* userInfoOf(configuration, accessToken, claims.sub).pipe(
    Effect.map((found) => completedBy(token, profileClaims(found, settings))),
    Effect.catch(({ cause }) =>
      // Fail only if the groups are missing, because the person would lose their roles. If only the address is missing, the
      // only consequence is that svc cannot recognise the person by it.
      lacksGroups
        ? Effect.andThen(logged("The upstream provider's UserInfo cannot be read", cause), refusedFor("unreachable"))
        : Effect.succeed(token)
    )
  )
})

/**
 * Client of the upstream OpenID provider. Uses the code flow with PKCE, nonce, state and issuer check (RFC 9207), and verifies
 * the ID token's signature with the published keys. Every method fails with `not_configured` if no provider is configured.
 */
export class UpstreamProvider extends Context.Service<
  UpstreamProvider,
  {
    /** The issuer exactly as the operator wrote it; `undefined` if no provider is configured. */
    readonly issuer: string | undefined
    /** The provider's display name; `undefined` if no provider is configured. */
    readonly name: string | undefined
    readonly trust: UpstreamTrust
    /**
     * Returns the address at which the person signs in. If `fresh` is set, the provider must prompt the person, even if the
     * person still has a session there. Fails with `unreachable`.
     */
    readonly authorizationUrl: (
      proof: UpstreamProof,
      redirectUri: string,
      fresh: boolean
    ) => Effect.Effect<string, UpstreamRefused>
    /**
     * Returns the identity that the authorization response proves. Reads the person's groups only if something depends on
     * them. Fails with one of these reasons:
     * - `invalid_answer`
     * - `denied`: the provider refused
     * - `not_fresh`: the response does not prove a sign-in within the last five minutes, as required
     * - `unreachable`
     */
    readonly identity: (
      answer: URL,
      proof: UpstreamProof,
      needs: { readonly groups: boolean; readonly fresh: boolean }
    ) => Effect.Effect<UpstreamIdentity, UpstreamRefused>
  }
>()("svc/src/accounts/upstream/UpstreamProvider") {
  static readonly none = Layer.succeed(UpstreamProvider, {
    issuer: undefined,
    name: undefined,
    trust: "email_verified",
    authorizationUrl: () => Effect.fail(refusedFor("not_configured")),
    identity: () => Effect.fail(refusedFor("not_configured"))
  })

  static readonly layer = (settings: UpstreamSettings, within: Duration.Duration = answersWithin) =>
    Layer.effect(
      UpstreamProvider,
      Effect.gen(function* () {
        const [cached, forget] = yield* Effect.cachedInvalidateWithTTL(configure(settings, within), metadataGoodFor)
        // Forget the metadata after a failure, so that the next sign-in fetches it again.
        const provider = Effect.tapError(cached, () => forget)
        return UpstreamProvider.of({
          issuer: settings.issuer,
          name: settings.name,
          trust: settings.trust,
          authorizationUrl: Effect.fn("UpstreamProvider.authorizationUrl")(function* (proof, redirectUri, fresh) {
            const { configuration } = yield* provider
            const challenge = yield* Effect.promise(() =>
              calculatePKCECodeChallenge(Redacted.value(proof.codeVerifier))
            )
            return buildAuthorizationUrl(configuration, {
              redirect_uri: redirectUri,
              response_type: "code",
              scope: settings.scopes,
              state: proof.state,
              nonce: proof.nonce,
              code_challenge: challenge,
              code_challenge_method: "S256",
              ...(fresh ? { prompt: "login", max_age: String(freshSeconds) } : {})
            }).href
          }),
          identity: Effect.fn("UpstreamProvider.identity")(function* (answer, proof, needs) {
            const known = yield* provider
            const proven = yield* exchange(known, answer, proof, settings.clientId, needs.fresh)
            const profile = yield* profileOf(known, settings, proven, needs.groups)
            return { issuer: proven.claims.iss, subject: proven.claims.sub, ...profile }
          })
        })
      })
    )
}
