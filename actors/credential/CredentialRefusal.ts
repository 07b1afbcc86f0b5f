import { ApiError } from "../../schema/errors/ApiError.ts"

/** One answer for every token that is not good, so that it tells nothing about why. */
export const invalidToken = () =>
  new ApiError({ code: "invalid_token", message: "The token is unknown, revoked or expired. Create a new one." })

/** One answer for every session that is not good. */
export const unauthenticated = () =>
  new ApiError({ code: "unauthenticated", message: "The session is unknown or has ended. Sign in again." })
