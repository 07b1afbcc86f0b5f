import type { OAuthFailure } from "../../../runner/oauth/AuthorizationServer.ts"
import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"

/** The authorization server's refusal, in words for the person who is waiting for a Connection. */
export const oauthRefusal = ({ error, message, reason }: OAuthFailure, next: string): ApiError => {
  const said = `${message} ${next}`
  switch (reason) {
    case "denied":
      return error === "access_denied"
        ? new ApiError({ code: "permission_denied", message: said })
        : failedPrecondition(said)
    case "unreachable":
    case "unanswered":
      return new ApiError({ code: "verification_unavailable", message: said })
    case "unusable":
      return failedPrecondition(`${said} The operator of this server can look at the helper's declaration.`)
    case "refused":
    case "invalid":
      return failedPrecondition(said)
  }
}
