import { createHash } from "node:crypto"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { StateReceipt } from "../../../actors/commands/adoption/StateReceipt.ts"
import { stateUploadAnswer } from "../../../schema/api/StateUploadsApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, idempotent, pathId, repeatableAnswer } from "./Commands.ts"
import { CapsuleCommands } from "../../../schema/commands/CapsuleCommands.ts"

const received = repeatableAnswer(SvcApi.groups.backupImports.endpoints.upload, stateUploadAnswer)

export const backupImportHandlers = HttpApiBuilder.group(
  SvcApi,
  "backupImports",
  Effect.fn(function* (handlers) {
    const receipt = yield* StateReceipt
    const capsules = yield* CapsuleCommands
    return handlers.handleAll({
      upload: Effect.fnUntraced(function* ({ headers, payload, query: { capsuleId } }) {
        const sha256 = createHash("sha256").update(payload).digest("hex")
        const request = yield* idempotent(headers, { sha256, capsuleId: capsuleId ?? null })
        const { replayed, value } = yield* receipt.receiveBackup(
          yield* commandContext,
          yield* authorisedWorkspace,
          { file: payload, capsuleId },
          request
        )
        return yield* received({ stateUpload: value, replayed }, replayed)
      }),
      confirm: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        return { capsule: yield* capsules.ConfirmImport(id, { context: yield* commandContext, request: payload }) }
      })
    })
  })
)
