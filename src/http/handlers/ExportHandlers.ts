import { Effect, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { CapsuleExports } from "../../../actors/commands/capsule-export/CapsuleExports.ts"
import { holderOf } from "../../../actors/base/credential/Principal.ts"
import { Caller } from "../../../schema/api/Middleware.ts"
import { SvcApi } from "../../../schema/api/SvcApi.ts"
import { CapsuleExport } from "../../../schema/records/CapsuleExport.ts"
import { CapsuleId } from "../../../schema/records/Ids.ts"
import { answer, authorisedWorkspace, commandContext, pathId } from "./Commands.ts"
import { storedAnswers } from "./StoredAnswers.ts"

const granted = answer(SvcApi.groups.exports.endpoints.create, Schema.Struct({ export: CapsuleExport }), 201)

const exporting = Effect.fnUntraced(function* (capsuleId: string) {
  return {
    context: yield* commandContext,
    holder: holderOf(yield* Caller),
    workspaceId: yield* authorisedWorkspace,
    capsuleId: yield* pathId(CapsuleId, capsuleId, "Capsule")
  }
})

export const exportHandlers = HttpApiBuilder.group(
  SvcApi,
  "exports",
  Effect.fn(function* (handlers) {
    const exports = yield* CapsuleExports
    return storedAnswers("exports", handlers).handleAll({
      create: Effect.fnUntraced(function* ({ params, payload }) {
        return yield* granted({ export: yield* exports.grant(yield* exporting(params.capsuleId), payload) }, 201)
      }),
      download: Effect.fnUntraced(function* ({ params }) {
        const { bytes, fileName } = yield* exports.download(yield* exporting(params.capsuleId), params.exportLink)
        return HttpServerResponse.stream(bytes, {
          contentType: "application/gzip",
          headers: { "content-disposition": `attachment; filename="${fileName}"` }
        })
      })
    })
  })
)
