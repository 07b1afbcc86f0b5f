import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import type { StartAppRegistration } from "../../../schema/commands/ConnectionCommands.ts"
import { invalidRequest } from "../../../schema/errors/ApiError.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { Audit } from "../../base/audit/Audit.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { ConnectionAuthorizations } from "./ConnectionAuthorizations.ts"
import { originsProblem } from "./ConnectionOrigins.ts"

/** Distinguishes registrations of GitHub Apps from the authorizations of OAuth helpers, whose ids contain no colon. */
export const appRegistration = "github:app"

/** Starts the registration of a GitHub App. The Connection is created only when the person returns from GitHub. */
export const startAppRegistration = Effect.fn("Connection.startAppRegistration")(function* (
  id: ConnectionId,
  context: CommandContext,
  { redirectUri, request, sessionId }: StartAppRegistration
) {
  const sql = yield* SqlClient.SqlClient
  const authorizations = yield* ConnectionAuthorizations
  const audit = yield* Audit
  const { displayName = "GitHub App", organization, origin, workspaceId } = request
  const problem = originsProblem("forge", [origin], yield* GitPolicy)
  if (problem !== undefined) return yield* invalidRequest(problem.replace("origins[0]", "origin"))
  const proof = yield* authorizations.proof
  const expiresAt = yield* Effect.gen(function* () {
    const until = yield* authorizations.begin({
      ...proof,
      workspaceId,
      connectionId: id,
      helperId: appRegistration,
      issuer: origin,
      redirectUri,
      subject: context.actor.subject ?? "",
      sessionId,
      draft: { renews: false, displayName, ...(organization === undefined ? {} : { organization }) }
    })
    yield* audit.append({
      workspaceId,
      actor: context.actor,
      action: "connection.authorize",
      target: { kind: "connection", id },
      data: { provider: "github", displayName, issuer: origin },
      requestId: context.requestId
    })
    return until
  }).pipe(transaction(sql))
  return { state: Redacted.value(proof.state), expiresAt }
})
