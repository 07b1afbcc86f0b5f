import { ApiError } from "../../../schema/errors/ApiError.ts"

/** The same response for every invalid token, so that it does not reveal why. */
export const invalidToken = () =>
  new ApiError({ code: "invalid_token", message: "The token is unknown, revoked or expired. Create a new one." })

/** The same response for every invalid session. */
export const unauthenticated = () =>
  new ApiError({ code: "unauthenticated", message: "The session is unknown or has ended. Sign in again." })
