import { createHash } from "node:crypto"
import { Effect, Redacted } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { StateReceipt } from "../../../actors/commands/adoption/StateReceipt.ts"
import { stateUploadAnswer } from "../../../schema/api/StateUploadsApi.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { authorisedWorkspace, commandContext, idempotent, repeatableAnswer } from "./Commands.ts"

const received = repeatableAnswer(SvcApi.groups.stateUploads.endpoints.create, stateUploadAnswer)

export const stateUploadHandlers = HttpApiBuilder.group(
  SvcApi,
  "stateUploads",
  Effect.fn(function* (handlers) {
    const receipt = yield* StateReceipt
    return handlers.handleAll({
      create: Effect.fnUntraced(function* ({ headers, payload }) {
        const sha256 = createHash("sha256").update(payload).digest("hex")
        const request = yield* idempotent(headers, { sha256 })
        const { replayed, value } = yield* receipt.receive(
          yield* commandContext,
          yield* authorisedWorkspace,
          Redacted.make(payload),
          request
        )
        return yield* received({ stateUpload: value, replayed }, replayed)
      })
    })
  })
)
