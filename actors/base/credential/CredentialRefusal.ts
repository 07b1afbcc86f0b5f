import { ApiError } from "../../../schema/errors/ApiError.ts"

/** Creates the error for every invalid token. It never reveals why the token is invalid. */
export const invalidToken = () =>
  new ApiError({ code: "invalid_token", message: "The token is unknown, revoked or expired. Create a new one." })

/** The error for every invalid session. */
export const unauthenticated = () =>
  new ApiError({ code: "unauthenticated", message: "The session is unknown or has ended. Sign in again." })
