import { createHash } from "node:crypto"
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { BackupImport } from "../../../actors/adoption/BackupImport.ts"
import { Capsules } from "../../../actors/capsule/Capsules.ts"
import { stateUploadAnswer } from "../../../schema/api/StateUploadsApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"
import { authorisedWorkspace, commandContext, idempotent, pathId, repeatableAnswer } from "./Commands.ts"

const received = repeatableAnswer(SvcApi.groups.imports.endpoints.create, stateUploadAnswer)

export const importHandlers = HttpApiBuilder.group(
  SvcApi,
  "imports",
  Effect.fn(function* (handlers) {
    const imports = yield* BackupImport
    const capsules = yield* Capsules
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload, query: { capsuleId } }) {
        const sha256 = createHash("sha256").update(payload).digest("hex")
        const request = yield* idempotent(headers, { sha256, capsuleId: capsuleId ?? null })
        const context = yield* commandContext
        const workspaceId = yield* authorisedWorkspace
        const { replayed, value } = yield* imports.receive(context, workspaceId, payload, capsuleId, request)
        return yield* received({ stateUpload: value, replayed }, replayed)
      }),
      confirm: Effect.fnUntraced(function* ({ params, payload }) {
        const id = yield* pathId(CapsuleId, params.capsuleId, "Capsule")
        return yield* capsules.confirmImport(yield* commandContext, id, payload.confirm)
      })
    })
  })
)
