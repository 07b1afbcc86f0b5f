import { ApiError, failedPrecondition } from "../../../schema/errors/ApiError.ts"
import type { BegunAuthorization, ConnectionDraft } from "./ConnectionAuthorizations.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { oauthOf } from "./ConnectionTokens.ts"
import type { StoredOAuth } from "./StoredOAuth.ts"
import type { DeclaredHelper } from "./OAuthHelpers.ts"

export const startAgain = "No Connection was made or changed. Start again from the Connections of the Workspace."

const refused = (why: string) => new ApiError({ code: "permission_denied", message: `${why} ${startAgain}` })

/**
 * Returns the reason why a caller may not complete an authorization. Only the person who started the authorization may
 * complete it, and only in the same session.
 */
export const answererProblem = (
  open: Pick<BegunAuthorization, "subject" | "sessionId">,
  by: { readonly subject: string | undefined; readonly sessionId: string }
): ApiError | undefined =>
  open.subject === by.subject && open.sessionId === by.sessionId
    ? undefined
    : new ApiError({
        code: "permission_denied",
        message:
          "The authorization was begun in another session. Finish it in the browser that began it, or start again from the Connections of the Workspace."
      })

/**
 * Returns the reason why the server that received the request cannot be the one responding at `helperId`, according to the
 * operator's current configuration.
 */
export const serverProblem = (
  open: Pick<BegunAuthorization, "helperId" | "issuer">,
  helperId: string,
  { server }: { readonly server: Pick<DeclaredHelper["server"], "issuer"> }
): ApiError | undefined => {
  // Every helper has a separate redirect URI, so a response at a different URI comes from a different server.
  if (open.helperId !== helperId) {
    return refused("The response arrived at the address of a different helper.")
  }
  return open.issuer === server.issuer
    ? undefined
    : refused(`The operator has changed the helper ${open.helperId} since.`)
}

/** Returns the reason why the person may no longer complete the authorization. */
export const authorityProblem = (facts: {
  readonly isSessionOpen: boolean
  readonly isManager: boolean
}): ApiError | undefined => {
  if (!facts.isSessionOpen) return refused("The session has ended since.")
  return facts.isManager ? undefined : refused("You are not an owner or admin of the Workspace any more.")
}

/**
 * Returns the Connection that will receive new tokens and its previous authorization, or an error if the Connection cannot
 * receive tokens.
 */
export const renewable = <Row extends Pick<ConnectionRow, "status" | "oauth">>(row: Row | undefined) => {
  const former = row === undefined ? undefined : oauthOf(row)
  return row === undefined || former === undefined || row.status === "revoked" || row.status === "unconfirmed"
    ? failedPrecondition(`The Connection has ended since. ${startAgain}`)
    : { row, former }
}

/** Returns the earliest of the times that are given. */
const earliest = (...times: ReadonlyArray<string | null | undefined>): string | undefined =>
  times.filter((time) => typeof time === "string").sort()[0]

/**
 * Returns the expiry that the token imposes on the Connection: a Connection expires with its token if the token cannot be
 * renewed.
 */
const endOf = (oauth: StoredOAuth) => (oauth.refreshable ? undefined : oauth.accessTokenExpiresAt)

/** Returns the expiry of a new Connection. */
export const firstExpiry = ({ expiresAt }: Pick<ConnectionDraft, "expiresAt">, oauth: StoredOAuth) =>
  earliest(expiresAt, endOf(oauth))

/**
 * Returns the expiry of a Connection after it receives new tokens. An expiry that was derived from the old token is
 * replaced.
 */
export const nextExpiry = (
  { expiresAt }: Pick<ConnectionDraft, "expiresAt">,
  row: Pick<ConnectionRow, "expires_at">,
  former: StoredOAuth,
  oauth: StoredOAuth
): string | null => {
  const kept = row.expires_at === former.accessTokenExpiresAt ? null : row.expires_at
  return earliest(expiresAt ?? kept, endOf(oauth)) ?? null
}
