import { Effect, Schema } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { CapsuleBackups } from "../../../actors/commands/capsule/CapsuleBackups.ts"
import { RestorePlanRequest } from "../../../schema/api/BackupsApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { BackupId } from "../../../schema/records/Ids.ts"
import { Run } from "../../../schema/records/Run.ts"
import { authorisedWorkspace, commandContext, maybeIdempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const normalised = Schema.encodeEffect(RestorePlanRequest)
const restoreAnswer = repeatableAnswer(SvcApi.groups.backups.endpoints.restorePlan, Schema.Struct({ run: Run }))

const backupOf = (params: { readonly backupId: string }) => pathId(BackupId, params.backupId, "Backup")

export const backupHandlers = HttpApiBuilder.group(
  SvcApi,
  "backups",
  Effect.fn(function* (handlers) {
    const backups = yield* CapsuleBackups
    return storedAnswers("backups", handlers).handleAll({
      archive: Effect.fnUntraced(function* ({ params }) {
        return yield* backups.archive(yield* commandContext, yield* authorisedWorkspace, yield* backupOf(params))
      }),
      restorePlan: Effect.fnUntraced(function* ({ headers, params, payload }) {
        const id = yield* backupOf(params)
        const request = yield* maybeIdempotent(headers, {
          backupId: id,
          body: yield* Effect.orDie(normalised(payload))
        })
        const workspaceId = yield* authorisedWorkspace
        const { replayed, value } = yield* backups.restorePlan(yield* commandContext, workspaceId, id, payload, request)
        return yield* restoreAnswer({ run: value }, replayed)
      })
    })
  })
)
