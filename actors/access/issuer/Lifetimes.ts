import { retention } from "../../../schema/records/Retention.ts"

/** Lifetimes of codes, tokens and grants. */
export const lifetimes = {
  authorizationCode: retention.authorizationCode.after,
  accessToken: retention.accessToken.after,
  /** Short, because tokens for other resource servers cannot be revoked. */
  resourceToken: retention.resourceToken.after,
  idToken: retention.idToken.after,
  /** Since the last rotation. */
  refreshToken: retention.refreshToken.after,
  /** Measured from the consent, however often the token has been rotated. */
  refreshFamily: retention.refreshFamily.after,
  deviceCode: retention.deviceCode.after
} as const

export const devicePollSeconds = 5
