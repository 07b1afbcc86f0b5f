import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { StateUpload } from "../records/StateUpload.ts"
import { mostStateBytes } from "../records/StateUploadLimits.ts"
import { repeatable } from "./AnswerStatus.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { RawBody } from "./RawBody.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

export const stateUploadAnswer = Schema.Struct({ stateUpload: StateUpload, replayed: Schema.Boolean })

export class StateUploadsApi extends HttpApiGroup.make("stateUploads")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/state-uploads", {
      params: { workspaceId: Schema.String },
      headers: idempotencyHeaders,
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      success: repeatable(stateUploadAnswer)
    }).annotate(RawBody, { maxBytes: mostStateBytes })
  )
  .annotateEndpoints(ExtensionFamily, "state-uploads") {}
