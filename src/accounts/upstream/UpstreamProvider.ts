import { Context, Duration, Effect, Layer, Redacted, Schema } from "effect"
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  AuthorizationResponseError,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  discovery,
  enableNonRepudiationChecks,
  fetchUserInfo
} from "openid-client"
import type { UpstreamIdentity } from "../../../actors/account/UpstreamIdentities.ts"
import type { UpstreamProof } from "../../../actors/account/UpstreamSignIns.ts"
import { secretAuthentication } from "../../../runner/oauth/ClientAuthentication.ts"
import { ApiError } from "../../../schema/errors/ApiError.ts"
import { retention } from "../../../schema/records/Retention.ts"

/** The provider that people may sign in with, with this installation as its client. */
export interface UpstreamSettings {
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: Redacted.Redacted
  /** Its name for people. */
  readonly name: string
}

const requestTimeoutSeconds = 10
// Unknown signing keys are fetched automatically; a provider's endpoints hardly ever move.
const metadataGoodFor = Duration.hours(1)

const unavailable = new ApiError({
  code: "verification_unavailable",
  message: "The sign-in provider does not answer as it should just now. Try again, or sign in another way."
})

const refused = new ApiError({
  code: "unauthenticated",
  message: "The sign-in provider's answer does not hold. Start the sign-in again."
})

const denied = new ApiError({
  code: "permission_denied",
  message: "The sign-in provider did not let you in, or the sign-in was cancelled there."
})

const notConfigured = new ApiError({
  code: "capability_not_available",
  message: "Sign-in with another provider is not set up on this server. `auth` in the discovery document says what is."
})

const notFresh = new ApiError({
  code: "permission_denied",
  message:
    "The sign-in provider did not say that you have just signed in there. Try again, or confirm that it is you in another way."
})

// What the provider reports may be as old as a confirmation may be.
const freshSeconds = Duration.toSeconds(retention.confirmation.after)

const configure = ({ clientId, clientSecret, issuer }: UpstreamSettings) =>
  Effect.tryPromise(() =>
    discovery(new URL(issuer), clientId, undefined, secretAuthentication(clientSecret), {
      timeout: requestTimeoutSeconds,
      // The ID token's signature is verified although it came over TLS. The settings allow plain http on loopback only.
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith("http:") ? [allowInsecureRequests] : [])]
    })
  ).pipe(
    Effect.catch(({ cause }) =>
      Effect.andThen(Effect.logWarning("The upstream sign-in provider cannot be discovered", cause), unavailable)
    )
  )

const VerifiedEmail = Schema.Struct({ email: Schema.String, email_verified: Schema.Literal(true) })
const verifiedEmailOf = (claims: unknown): string | undefined =>
  Schema.is(VerifiedEmail)(claims) ? claims.email : undefined

/** Some providers put the address into UserInfo only; the library compares its subject. */
const addressFromUserInfo = (configuration: Configuration, accessToken: string, subject: string) =>
  configuration.serverMetadata().userinfo_endpoint === undefined
    ? Effect.undefined
    : Effect.tryPromise(() => fetchUserInfo(configuration, accessToken, subject)).pipe(
        Effect.map(verifiedEmailOf),
        Effect.orElseSucceed(() => undefined)
      )

const exchange = Effect.fn("UpstreamProvider.exchange")(function* (
  configuration: Configuration,
  answer: URL,
  { codeVerifier, nonce, state }: UpstreamProof,
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
    Effect.catch(({ cause }) =>
      cause instanceof AuthorizationResponseError
        ? denied
        : // What the library says names claims and codes, never a token.
          Effect.andThen(
            Effect.logWarning("An upstream sign-in was refused", cause instanceof Error ? cause.message : ""),
            fresh ? notFresh : refused
          )
    )
  )
  const claims = tokens.claims()
  if (claims === undefined) return yield* refused
  const verifiedEmail =
    verifiedEmailOf(claims) ?? (yield* addressFromUserInfo(configuration, tokens.access_token, claims.sub))
  return { issuer: claims.iss, subject: claims.sub, verifiedEmail } satisfies UpstreamIdentity
})

/**
 * The upstream OpenID provider, as its relying party: code flow with PKCE, nonce, state and issuer check (RFC 9207), the
 * ID token's signature verified against the published keys. Every method fails with `capability_not_available` when none
 * is configured.
 */
export class UpstreamProvider extends Context.Service<
  UpstreamProvider,
  {
    /** As written by the operator; `undefined` when none is configured. */
    readonly issuer: string | undefined
    /** Its name for people; `undefined` when none is configured. */
    readonly name: string | undefined
    /**
     * Where the browser goes to sign in; with `fresh` the provider is to ask the person even if it remembers them. Fails with
     * `verification_unavailable` when the provider cannot be reached.
     */
    readonly authorizationUrl: (
      proof: UpstreamProof,
      redirectUri: string,
      fresh: boolean
    ) => Effect.Effect<string, ApiError>
    /**
     * The identity proved by the answer at the redirect URI. Fails with `unauthenticated` for an invalid answer,
     * `permission_denied` when the provider refused, or with `fresh` did not vouch for a sign-in of the last five minutes,
     * `verification_unavailable` when it cannot be reached.
     */
    readonly identity: (answer: URL, proof: UpstreamProof, fresh: boolean) => Effect.Effect<UpstreamIdentity, ApiError>
  }
>()("svc/accounts/upstream/UpstreamProvider") {
  static readonly none = Layer.succeed(UpstreamProvider, {
    issuer: undefined,
    name: undefined,
    authorizationUrl: () => Effect.fail(notConfigured),
    identity: () => Effect.fail(notConfigured)
  })

  static readonly layer = (settings: UpstreamSettings) =>
    Layer.effect(
      UpstreamProvider,
      Effect.gen(function* () {
        const [cached, forget] = yield* Effect.cachedInvalidateWithTTL(configure(settings), metadataGoodFor)
        // The next sign-in retries a provider that was away for a moment.
        const configuration = Effect.tapError(cached, () => forget)
        return UpstreamProvider.of({
          issuer: settings.issuer,
          name: settings.name,
          authorizationUrl: Effect.fn("UpstreamProvider.authorizationUrl")(function* (proof, redirectUri, fresh) {
            const known = yield* configuration
            const challenge = yield* Effect.promise(() =>
              calculatePKCECodeChallenge(Redacted.value(proof.codeVerifier))
            )
            return buildAuthorizationUrl(known, {
              redirect_uri: redirectUri,
              response_type: "code",
              scope: "openid email profile",
              state: proof.state,
              nonce: proof.nonce,
              code_challenge: challenge,
              code_challenge_method: "S256",
              ...(fresh ? { prompt: "login", max_age: String(freshSeconds) } : {})
            }).href
          }),
          identity: Effect.fn("UpstreamProvider.identity")(function* (answer, proof, fresh) {
            return yield* exchange(yield* configuration, answer, proof, fresh)
          })
        })
      })
    )
}
