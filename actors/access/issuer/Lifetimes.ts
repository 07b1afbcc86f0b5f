import { retention } from "../../../schema/records/Retention.ts"

/** Lifetimes of codes, tokens and grants. */
export const lifetimes = {
  authorizationCode: retention.authorizationCode.after,
  accessToken: retention.accessToken.after,
  /** This lifetime is short, because tokens for other resource servers cannot be revoked. */
  resourceToken: retention.resourceToken.after,
  idToken: retention.idToken.after,
  /** The lifetime is measured from the last rotation. */
  refreshToken: retention.refreshToken.after,
  /** The lifetime is measured from the consent, regardless of how often the token has been rotated. */
  refreshFamily: retention.refreshFamily.after,
  deviceCode: retention.deviceCode.after
} as const

export const devicePollSeconds = 5
