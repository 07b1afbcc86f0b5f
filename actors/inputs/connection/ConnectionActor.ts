import { Effect, Result } from "effect"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import type { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import type { ConnectionId } from "../../../schema/records/Ids.ts"
import { RunId } from "../../../schema/records/Ids.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { serve } from "../../Actor.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transacted } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { ExclusiveWork } from "../../base/node/ExclusiveWork.ts"
import { changedMeanwhile, removeConnection, revokeConnection, updateConnection } from "./ConnectionChanges.ts"
import { checkConfirmation } from "./ConnectionOrigins.ts"
import { checkConnection, checkExpiry, checkUse, defaultAuthMode, defaultRecipeId } from "./ConnectionRules.ts"
import {
  ConnectionStore,
  effectiveStatus,
  proposedOriginsOf,
  isUsable,
  statusRemedy,
  toConnection
} from "./ConnectionStore.ts"
import { CredentialTest } from "./CredentialTest.ts"
import { finishAppRegistration } from "./FinishAppRegistration.ts"
import { finishAuthorization } from "./FinishAuthorization.ts"
import { isProvidedTo, notProvided, providedOf } from "./PoolCredentials.ts"
import { startAppRegistration } from "./StartAppRegistration.ts"
import { startAuthorization } from "./StartAuthorization.ts"
import { renewTokens } from "./TokenRenewal.ts"
import { revokeTokens } from "./TokenRevocation.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"

const load = Effect.fnUntraced(function* (id: ConnectionId) {
  const row = yield* (yield* ConnectionStore).find(id)
  return row === undefined ? yield* notFound("Connection") : row
})

const projected = Effect.fnUntraced(function* (id: ConnectionId) {
  return toConnection(yield* load(id), yield* now)
})

const audited = Effect.fnUntraced(function* (
  context: CommandContext,
  row: ConnectionRow,
  action: string,
  data: AuditData = {}
) {
  yield* (yield* Audit).append({
    workspaceId: row.workspace_id,
    actor: context.actor,
    action,
    target: { kind: "connection", id: row.id },
    data: { provider: row.provider, displayName: row.display_name, ...data },
    requestId: context.requestId
  })
})

const checkProvided = Effect.fnUntraced(function* (
  workspaceId: ConnectionRow["workspace_id"],
  providedBy: CreateConnection["providedBy"]
) {
  if (providedBy === undefined || (yield* isProvidedTo(workspaceId, providedBy))) return
  return yield* failedPrecondition(notProvided(providedBy))
})

/**
 * Runs a command that spans several transactions, and ensures that no other server runs such a command for the same
 * Connection. Otherwise two servers could send the same refresh token, and the authorization server would revoke the grant.
 */
const oneAtATime = (id: ConnectionId) =>
  Effect.fnUntraced(function* <A, E, R>(command: Effect.Effect<A, E, R>) {
    return yield* (yield* ExclusiveWork).locked(`connection ${id}`)(command)
  })

/** The Connection actors. Each creates, verifies, changes and revokes one Connection. */
export const layer = serve(ConnectionCommands, {
  Create: Effect.fnUntraced(function* (id, { context, request }) {
    yield* checkConnection(request, yield* GitPolicy)
    yield* checkExpiry(request.expiresAt)
    yield* checkUse(request.workspaceId, request.kind ?? "provider", request.use)
    yield* checkProvided(request.workspaceId, request.providedBy)
    const recipeId = request.recipeId ?? defaultRecipeId(request)
    const row = yield* (yield* ConnectionStore).insert({
      id,
      workspaceId: request.workspaceId,
      provider: request.provider,
      kind: request.kind ?? "provider",
      recipeId,
      authMode: request.authMode ?? defaultAuthMode(recipeId),
      displayName: request.displayName,
      secrets: { values: request.values ?? {}, files: request.files ?? [] },
      providedBy: request.providedBy,
      origins: request.origins,
      providerConfig: request.providerConfig ?? {},
      moduleInputDefaults: request.moduleInputDefaults ?? {},
      use: request.use ?? defaultConnectionUse,
      expiresAt: request.expiresAt
    })
    yield* audited(context, row, "connection.create", {
      ...(request.origins === undefined ? {} : { origins: request.origins }),
      ...(request.providedBy === undefined ? {} : { pool: request.providedBy.pool, provided: request.providedBy.name })
    })
    return toConnection(row, yield* now)
  }, transacted),

  Test: Effect.fnUntraced(
    function* (id, { context }) {
      const row = yield* load(id)
      const status = effectiveStatus(row, yield* now)
      if (status !== "error" && !isUsable(status)) {
        return yield* failedPrecondition(`The Connection is ${status}. ${statusRemedy(status)}`)
      }
      if (row.oauth !== null) {
        const problem = yield* renewTokens(id)
        if (problem !== undefined) return yield* failedPrecondition(problem)
      }
      // Leaves the status alone if the credentials are unavailable: the Connection works again once the operator makes them
      // available.
      yield* checkProvided(row.workspace_id, providedOf(row))
      // Decrypting the values proves that the vault still has their key and that the values have not been changed or moved.
      const fresh = yield* load(id)
      const outcome = yield* Effect.result(
        (yield* CredentialTest).test(fresh, yield* (yield* ConnectionStore).secrets(fresh))
      )
      yield* Effect.gen(function* () {
        yield* checkProvided(row.workspace_id, providedOf(row))
        if (!(yield* (yield* ConnectionStore).setStatus(fresh, Result.isSuccess(outcome) ? "verified" : "error"))) {
          return yield* changedMeanwhile()
        }
        if (Result.isSuccess(outcome)) yield* (yield* CapsuleLedger).credentialRenewed(id)
        yield* audited(context, fresh, "connection.test")
      }).pipe(transacted)
      if (Result.isFailure(outcome)) return yield* failedPrecondition(outcome.failure.message)
      return { connection: yield* projected(id), tested: outcome.success }
    },
    (command, id) => oneAtATime(id)(command)
  ),

  Update: Effect.fnUntraced(function* (id, { context, request }) {
    const { row, ...outcome } = yield* updateConnection(id, context, request)
    return { connection: toConnection(row, yield* now), ...outcome }
  }),

  Remove: (id, { context }) => oneAtATime(id)(Effect.andThen(removeConnection(id, context), revokeTokens(id, true))),

  StartAuthorization: (id, { context, start }) => startAuthorization(id, context, start),

  FinishAuthorization: Effect.fnUntraced(
    function* (id, { context, finish }) {
      yield* finishAuthorization(context, finish)
      return yield* projected(id)
    },
    (command, id) => oneAtATime(id)(command)
  ),

  StartAppRegistration: (id, { context, start }) => startAppRegistration(id, context, start),

  FinishAppRegistration: Effect.fnUntraced(
    function* (id, { context, finish }) {
      yield* finishAppRegistration(context, finish)
      return yield* projected(id)
    },
    (command, id) => oneAtATime(id)(command)
  ),

  RenewTokens: Effect.fnUntraced(
    function* (id) {
      const problem = yield* renewTokens(id)
      return problem === undefined ? {} : { problem }
    },
    (command, id) => oneAtATime(id)(command)
  ),

  RevokeTokens: (id) => oneAtATime(id)(revokeTokens(id, false)),

  ConfirmOrigins: Effect.fnUntraced(function* (id, { context, origins }) {
    const row = yield* load(id)
    if (yield* checkConfirmation(row, origins, yield* GitPolicy)) {
      yield* (yield* ConnectionStore).confirmOrigins(id, origins)
      const proposed = proposedOriginsOf(row).map((each) => each.origin)
      yield* audited(context, row, "connection.origins.confirm", { origins, proposed })
    }
    return yield* projected(id)
  }, transacted),

  Revoke: Effect.fnUntraced(
    function* (id, { context }) {
      const ended = yield* revokeConnection(id, context)
      yield* revokeTokens(id, true)
      const idsOf = (ids: ReadonlyArray<string>) => ids.map((runId) => RunId.make(runId))
      return {
        connection: yield* projected(id),
        supersededRunIds: idsOf(ended.supersededRunIds),
        cancelledRunIds: idsOf(ended.cancelledRunIds),
        runningApplyIds: idsOf(ended.runningApplyIds)
      }
    },
    (command, id) => oneAtATime(id)(command)
  )
})
