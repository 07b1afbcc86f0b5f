import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Capsule } from "../records/Capsule.ts"
import { CapsuleId } from "../records/Ids.ts"
import { mostBackupFileBytes } from "../records/StateUploadLimits.ts"
import { repeatable } from "./AnswerStatus.ts"
import { idempotencyHeaders } from "./IdempotencyHeaders.ts"
import { RawBody } from "./RawBody.ts"
import { stateUploadAnswer } from "./StateUploadsApi.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

/** `confirm` is the exact name of the Capsule. */
export class ImportConfirmationRequest extends Schema.Opaque<ImportConfirmationRequest>()(
  Schema.Struct({
    confirm: Schema.String.check(Schema.isMaxLength(200))
  }).annotate({ identifier: "ImportConfirmationRequest" })
) {}

export class BackupImportsApi extends HttpApiGroup.make("backupImports")
  .add(
    HttpApiEndpoint.post("upload", "/api/v1/workspaces/:workspaceId/backup-uploads", {
      params: { workspaceId: Schema.String },
      query: { capsuleId: Schema.optionalKey(CapsuleId) },
      headers: idempotencyHeaders,
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      success: repeatable(stateUploadAnswer)
    }).annotate(RawBody, { maxBytes: mostBackupFileBytes })
  )
  .add(
    HttpApiEndpoint.post("confirm", "/api/v1/capsules/:capsuleId/import-confirmation", {
      params: { capsuleId: Schema.String },
      payload: ImportConfirmationRequest,
      success: Schema.Struct({ capsule: Capsule })
    })
  )
  .annotateEndpoints(ExtensionFamily, "backup-imports") {}
