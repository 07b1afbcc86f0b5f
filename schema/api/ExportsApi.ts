import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { confirmationHeaders } from "../records/ActionConfirmation.ts"
import { CapsuleExport } from "../records/CapsuleExport.ts"
import { created } from "./AnswerStatus.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

/** `confirm` is the exact name of the Capsule. */
export class ExportRequest extends Schema.Opaque<ExportRequest>()(
  Schema.Struct({ confirm: Schema.String.check(Schema.isMaxLength(200)) }).annotate({
    identifier: "ExportRequest"
  })
) {}

export class ExportsApi extends HttpApiGroup.make("exports")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/capsules/:capsuleId/exports", {
      params: { capsuleId: Schema.String },
      headers: confirmationHeaders,
      payload: ExportRequest,
      success: Schema.Struct({ export: CapsuleExport }).pipe(created)
    })
  )
  .add(
    HttpApiEndpoint.get("download", "/api/v1/capsules/:capsuleId/exports/:exportLink", {
      params: { capsuleId: Schema.String, exportLink: Schema.String },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/gzip" }))
    })
  )
  .annotateEndpoints(ExtensionFamily, "exports") {}
