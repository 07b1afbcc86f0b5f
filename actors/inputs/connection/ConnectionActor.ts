import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { GitPolicy } from "../../../runner/git/GitPolicy.ts"
import { OAuthClient } from "../../../runner/oauth/OAuthClient.ts"
import type { CreateConnection } from "../../../schema/api/ConnectionsApi.ts"
import { failedPrecondition, notFound } from "../../../schema/errors/ApiError.ts"
import { defaultConnectionUse } from "../../../schema/records/ConnectionUse.ts"
import { RunId, ConnectionId } from "../../../schema/records/Ids.ts"
import { ConnectionCommands } from "../../../schema/commands/ConnectionCommands.ts"
import type { CommandContext } from "../../../schema/commands/Command.ts"
import { actorLayer, handle } from "../../Actor.ts"
import { Audit, type AuditData } from "../../base/audit/Audit.ts"
import { CapsuleLedger } from "../../ledger/capsule/CapsuleLedger.ts"
import { transaction } from "../../base/database/Transaction.ts"
import { now } from "../../base/Identity.ts"
import { RunCancels } from "../../ledger/run/RunCancels.ts"
import { RunJournal } from "../../ledger/run/RunJournal.ts"
import { RunLedger } from "../../ledger/run/RunLedger.ts"
import { RunLifecycle } from "../../ledger/run/RunLifecycle.ts"
import { changedMeanwhile, removeConnection, revokeConnection, updateConnection } from "./ConnectionChanges.ts"
import { checkConfirmation } from "./ConnectionOrigins.ts"
import { checkConnection, checkExpiry, checkUse, defaultAuthMode } from "./ConnectionRules.ts"
import {
  ConnectionStore,
  effectiveStatus,
  proposedOriginsOf,
  isUsable,
  statusRemedy,
  toConnection
} from "./ConnectionStore.ts"
import { ConnectionAuthorizations } from "./ConnectionAuthorizations.ts"
import { ConnectionTokens } from "./ConnectionTokens.ts"
import { ConnectionUses } from "./ConnectionUses.ts"
import { genericRecipeId } from "./CredentialRecipes.ts"
import { CredentialTest } from "./CredentialTest.ts"
import { finishAuthorization } from "./FinishAuthorization.ts"
import { HeldValues } from "./HeldValues.ts"
import { isProvidedTo, notProvided, providedOf } from "./PoolCredentials.ts"
import { startAuthorization } from "./StartAuthorization.ts"
import { renewTokens } from "./TokenRenewal.ts"
import { revokeTokens } from "./TokenRevocation.ts"
import type { ConnectionRow } from "./ConnectionRow.ts"
import { captureServices, provideCaptured } from "../../CapturedServices.ts"

/** The Connection actor: creates, verifies and revokes one credential holder. */
export const layer = actorLayer(
  ConnectionCommands,
  ConnectionId,
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const store = yield* ConnectionStore
    const audit = yield* Audit
    const policy = yield* GitPolicy
    const credentialTest = yield* CredentialTest
    const capsules = yield* CapsuleLedger
    const services = yield* captureServices(
      Audit,
      CapsuleLedger,
      ConnectionAuthorizations,
      ConnectionStore,
      ConnectionTokens,
      ConnectionUses,
      CredentialTest,
      GitPolicy,
      HeldValues,
      OAuthClient,
      RunCancels,
      RunJournal,
      RunLedger,
      RunLifecycle,
      SqlClient.SqlClient
    )
    const serving = provideCaptured(services)

    const audited = (context: CommandContext, row: ConnectionRow, action: string, data: AuditData = {}) =>
      audit.append({
        workspaceId: row.workspace_id,
        actor: context.actor,
        action,
        target: { kind: "connection", id: row.id },
        data: { provider: row.provider, displayName: row.display_name, ...data },
        requestId: context.requestId
      })

    const checkProvided = Effect.fnUntraced(function* (
      workspaceId: ConnectionRow["workspace_id"],
      providedBy: CreateConnection["providedBy"]
    ) {
      if (providedBy === undefined || (yield* isProvidedTo(workspaceId, providedBy))) return
      return yield* failedPrecondition(notProvided(providedBy))
    })

    return (id: ConnectionId) => {
      const load = Effect.gen(function* () {
        const row = yield* store.find(id)
        return row === undefined ? yield* notFound("Connection") : row
      })

      const projected = Effect.gen(function* () {
        return toConnection(yield* load, yield* now)
      })

      return handle(ConnectionCommands, {
        Create: Effect.fnUntraced(function* ({ payload: { context, request } }) {
          yield* checkConnection(request, policy)
          yield* checkExpiry(request.expiresAt)
          yield* serving(checkUse(request.workspaceId, request.kind ?? "provider", request.use))
          yield* serving(checkProvided(request.workspaceId, request.providedBy))
          const row = yield* store.insert({
            id,
            workspaceId: request.workspaceId,
            provider: request.provider,
            kind: request.kind ?? "provider",
            recipeId: request.recipeId ?? genericRecipeId,
            authMode: request.authMode ?? defaultAuthMode(request.recipeId ?? genericRecipeId),
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
            ...(request.providedBy === undefined
              ? {}
              : { pool: request.providedBy.pool, provided: request.providedBy.name })
          })
          return toConnection(row, yield* now)
        }, transaction(sql)),

        Test: Effect.fnUntraced(function* ({ payload: { context } }) {
          const row = yield* load
          const status = effectiveStatus(row, yield* now)
          if (status !== "error" && !isUsable(status)) {
            return yield* failedPrecondition(`The Connection is ${status}. ${statusRemedy(status)}`)
          }
          if (row.oauth !== null) {
            const problem = yield* serving(renewTokens(id))
            if (problem !== undefined) return yield* failedPrecondition(problem)
          }
          // Not the Connection's fault: it works again once the operator restores the credentials.
          yield* serving(checkProvided(row.workspace_id, providedOf(row)))
          // Opening it proves that the vault still has the key and that the envelope is intact and in the right place.
          const fresh = yield* load
          const outcome = yield* Effect.result(credentialTest.test(fresh, yield* store.secrets(fresh)))
          yield* Effect.gen(function* () {
            yield* serving(checkProvided(row.workspace_id, providedOf(row)))
            if (!(yield* store.setStatus(fresh, Result.isSuccess(outcome) ? "verified" : "error"))) {
              return yield* changedMeanwhile()
            }
            if (Result.isSuccess(outcome)) yield* capsules.credentialRenewed(id)
            yield* audited(context, fresh, "connection.test")
          }).pipe(transaction(sql))
          if (Result.isFailure(outcome)) return yield* failedPrecondition(outcome.failure.message)
          return { connection: yield* projected, tested: outcome.success }
        }),

        Update: Effect.fnUntraced(function* ({ payload: { context, request } }) {
          const { row, ...outcome } = yield* updateConnection(id, context, request)
          return { connection: toConnection(row, yield* now), ...outcome }
        }, serving),

        Remove: ({ payload: { context } }) =>
          serving(Effect.andThen(removeConnection(id, context), revokeTokens(id, true))),

        StartAuthorization: ({ payload: { context, start } }) => serving(startAuthorization(id, context, start)),

        FinishAuthorization: Effect.fnUntraced(function* ({ payload: { context, finish } }) {
          yield* serving(finishAuthorization(context, finish))
          return yield* projected
        }),

        RenewTokens: Effect.fnUntraced(function* () {
          const problem = yield* serving(renewTokens(id))
          return problem === undefined ? {} : { problem }
        }),

        RevokeTokens: () => serving(revokeTokens(id, false)),

        ConfirmOrigins: Effect.fnUntraced(function* ({ payload: { context, origins } }) {
          const row = yield* load
          if (yield* checkConfirmation(row, origins, policy)) {
            yield* store.confirmOrigins(id, origins)
            const proposed = proposedOriginsOf(row).map((each) => each.origin)
            yield* audited(context, row, "connection.origins.confirm", { origins, proposed })
          }
          return yield* projected
        }, transaction(sql)),

        Revoke: Effect.fnUntraced(function* ({ payload: { context } }) {
          const ended = yield* revokeConnection(id, context)
          yield* revokeTokens(id, true)
          const idsOf = (ids: ReadonlyArray<string>) => ids.map((runId) => RunId.make(runId))
          return {
            connection: yield* projected,
            supersededRunIds: idsOf(ended.supersededRunIds),
            cancelledRunIds: idsOf(ended.cancelledRunIds),
            runningApplyIds: idsOf(ended.runningApplyIds)
          }
        }, serving)
      })
    }
  })
)
