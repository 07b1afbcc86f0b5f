import { Effect, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { ReadSql } from "../../../actors/base/database/ReadSql.ts"
import { SessionRow, Sessions } from "../../../actors/access/account/Sessions.ts"
import type { Decider } from "../../../actors/access/issuer/Authorizations.ts"
import { failClosed } from "../../../actors/access/issuer/OAuthError.ts"
import { Vault } from "../../../actors/base/vault/Vault.ts"
import { followRenewal } from "../../http-kit/Exchange.ts"
import { presentedSession } from "../SessionCookie.ts"
import { StoredUser } from "../../../actors/access/account/UserRow.ts"
import { rowShape } from "../../../actors/base/database/Table.ts"

/** The person who is signed in to the browser. */
export interface Visitor extends Decider {
  readonly signedInAtMillis: number
  readonly email: string
  /** Set if the session is confined to one Workspace. */
  readonly boundWorkspaceId: string | undefined
}

/** The session of the person at this browser. */
const OpenSession = rowShape({ created_at: SessionRow.columns.created_at, email: StoredUser.columns.email })

/** Returns the person to whom the session in the request's cookie belongs, if any. */
export const visitor = Effect.gen(function* () {
  const presented = yield* presentedSession
  if (presented === undefined || !presented.ambient) return undefined
  const sessions = yield* Sessions
  const read = yield* ReadSql
  const principal = yield* Effect.option(sessions.authenticate(presented.secret))
  if (Option.isNone(principal)) return undefined
  yield* followRenewal(presented, principal.value)
  const { boundWorkspaceId, credentialId, subject } = principal.value
  const [row] = yield* failClosed(
    OpenSession.rows(read)`SELECT s.created_at, u.email FROM account_sessions s JOIN users u ON u.subject = s.subject
      WHERE s.id = ${credentialId}`
  )
  if (row === undefined) return undefined
  const signedInAtMillis = Date.parse(row.created_at)
  const found: Visitor = {
    subject,
    sessionId: credentialId,
    email: row.email,
    boundWorkspaceId,
    signedInAtMillis,
    authTime: Math.floor(signedInAtMillis / 1000)
  }
  return found
})

const formText = (visiting: Visitor, form: string, content: string) =>
  JSON.stringify([visiting.sessionId, form, content])

/** Creates a token for a form. The token is valid only in this session, for this form and this content. */
export const formToken = (visiting: Visitor, form: string, content: string) =>
  Effect.flatMap(Vault, (vault) => vault.mac("oidc-form", formText(visiting, form, content)))

export const formTokenHolds = (visiting: Visitor, form: string, content: string, token: string | undefined) =>
  Effect.flatMap(Vault, (vault) =>
    token === undefined ? Effect.succeed(false) : vault.verifyMac("oidc-form", formText(visiting, form, content), token)
  )

export const remoteAddress = Effect.map(HttpServerRequest.HttpServerRequest, (request) =>
  Option.getOrUndefined(request.remoteAddress)
)
