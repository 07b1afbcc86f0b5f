import { Duration, Option, Schema } from "effect"
import type { UpstreamIdentity } from "../../../actors/access/account/UpstreamIdentities.ts"
import type { UpstreamTrust } from "../../../actors/access/member/ProvisioningRules.ts"
import { EmailAddress } from "../../../schema/records/EmailAddress.ts"
import { displayText } from "../../../schema/records/Primitives.ts"

const Named = Schema.Struct({ name: displayText(80) })
const Addressed = Schema.Struct({ email: EmailAddress })
const Verified = Schema.Struct({ email: EmailAddress, email_verified: Schema.Literal(true) })
const GroupNames = Schema.Array(Schema.String.check(Schema.isMaxLength(256))).check(Schema.isMaxLength(2000))

const decode = <A, I>(schema: Schema.Codec<A, I>, value: unknown) =>
  Option.getOrUndefined(Schema.decodeUnknownOption(schema)(value))

/** Claims about a person in an ID token or a UserInfo response. A claim with an unexpected shape is treated as absent. */
export type ProfileClaims = Pick<UpstreamIdentity, "claimedEmail" | "displayName" | "groups" | "verifiedEmail">

// Maximum length of a subject. Subjects are compared exactly (OpenID Connect Core, 2), so an empty subject is refused as
// well: a provider that sends the same subject for everybody identifies nobody.
const longestSubject = 255
const clockTolerance = Duration.toSeconds(Duration.minutes(5))

/**
 * Returns a log message about the first claim that must not be trusted although the token is signed, or `undefined` if there is
 * none.
 */
export const claimsFault = (
  { auth_time, azp, iat, sub }: Readonly<Record<string, unknown>> & { readonly iat: number; readonly sub: string },
  clientId: string,
  millis: number
): string | undefined => {
  const latest = Math.floor(millis / 1000) + clockTolerance
  if (sub === "" || sub.length > longestSubject)
    return `The subject is empty or longer than ${longestSubject} characters.`
  // Check the authorised party, which the library checks only if there are several audiences.
  if (azp !== undefined && azp !== clientId) return "The token was issued to another party (azp)."
  if (iat > latest) return "The token was issued in the future (iat)."
  return typeof auth_time === "number" && auth_time > latest ? "The sign-in is in the future (auth_time)." : undefined
}

/** Extracts the claims. If the provider does not verify addresses, an address never counts as verified. */
export const profileClaims = (
  claims: Readonly<Record<string, unknown>>,
  { groupsClaim, trust }: { readonly groupsClaim: string; readonly trust: UpstreamTrust }
): ProfileClaims => ({
  verifiedEmail: trust === "single_tenant" ? undefined : decode(Verified, claims)?.email,
  claimedEmail: decode(Addressed, claims)?.email,
  displayName: decode(Named, claims)?.name,
  groups: decode(GroupNames, Object.hasOwn(claims, groupsClaim) ? claims[groupsClaim] : undefined)
})

/** Adds the claims from UserInfo to the ID token's claims. The ID token takes precedence. */
export const completedBy = (token: ProfileClaims, userInfo: ProfileClaims): ProfileClaims => ({
  verifiedEmail: token.verifiedEmail ?? userInfo.verifiedEmail,
  claimedEmail: token.claimedEmail ?? userInfo.claimedEmail,
  displayName: token.displayName ?? userInfo.displayName,
  groups: token.groups ?? userInfo.groups
})
