import { Schema } from "effect"

/** The reason why a sign-in through the upstream provider failed. The sign-in page explains it to the person. */
export const UpstreamReason = Schema.Literals([
  "not_configured",
  "unreachable",
  "invalid_answer",
  "denied",
  "not_begun",
  "not_fresh",
  "not_yours",
  "not_set_up",
  "unknown_identity",
  "unverified_address",
  "unproven_account",
  "locked",
  "other_account",
  "other_identity",
  "no_address",
  "address_taken",
  "invitation_ended",
  "invitation_for_another",
  "invitation_lapsed"
])
export type UpstreamReason = typeof UpstreamReason.Type

/** An expected refusal of an upstream sign-in. Contains no personal data, so it may be logged. */
export class UpstreamRefused extends Schema.TaggedError<UpstreamRefused>()("UpstreamRefused", {
  reason: UpstreamReason
}) {}

export const refusedFor = (reason: UpstreamReason) => new UpstreamRefused({ reason })
