import { Duration } from "effect"

/** How long what the issuer gives out is good. */
export const lifetimes = {
  authorizationCode: Duration.seconds(60),
  accessToken: Duration.minutes(15),
  /** Tokens of other resource servers cannot be taken back, so they are short. */
  resourceToken: Duration.minutes(5),
  idToken: Duration.minutes(10),
  /** Since the last rotation. */
  refreshToken: Duration.days(30),
  /** Since the consent, however often it was rotated. */
  refreshFamily: Duration.days(365),
  deviceCode: Duration.minutes(10)
} as const

export const devicePollSeconds = 5
