import { retention } from "../../../schema/records/Retention.ts"

/** Lifetimes of everything that the issuer issues. */
export const lifetimes = {
  authorizationCode: retention.authorizationCode.after,
  accessToken: retention.accessToken.after,
  /** Tokens for other resource servers cannot be revoked, so they are short-lived. */
  resourceToken: retention.resourceToken.after,
  idToken: retention.idToken.after,
  /** Counted from the last rotation. */
  refreshToken: retention.refreshToken.after,
  /** Counted from the consent, no matter how often the token has been rotated. */
  refreshFamily: retention.refreshFamily.after,
  deviceCode: retention.deviceCode.after
} as const

export const devicePollSeconds = 5
