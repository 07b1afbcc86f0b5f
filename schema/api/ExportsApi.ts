import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema } from "effect/http-api"
import { CapsuleExport } from "../records/CapsuleExport.ts"
import { created, described, describedGroup } from "./Endpoint.ts"
import { accessOf } from "./Roles.ts"

/** `confirm`: the name of the Capsule, as it is written. */
export class ExportRequest extends Schema.Opaque<ExportRequest>()(
  Schema.Struct({ confirm: Schema.String.check(Schema.isMaxLength(200)) }).annotate({
    identifier: "ExportRequest"
  })
) {}

export class ExportsApi extends describedGroup("exports", "A Capsule as files with which the bare tool goes on.")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/capsules/:capsuleId/exports", {
      params: { capsuleId: Schema.String },
      payload: ExportRequest,
      success: Schema.Struct({ export: CapsuleExport }).pipe(created)
    }).annotateMerge(
      described(
        accessOf("POST /api/v1/capsules/:capsuleId/exports"),
        "Export a Capsule",
        "201 with a `link` to an archive with which the bare tool goes on: the state in the clear, the module as the Capsule has adopted it, the dependency lock, the inputs that are not secret, and a README with the commands. **The state holds the secrets of the infrastructure.** `confirm` is the name of the Capsule. `inputsToSupply` names the inputs that the archive leaves out.\n\nThe link works in this session only, once within ten minutes, and only while the Capsule stays as it is. The export is in the operation history before it is answered. The service keeps managing the Capsule: release it once the copy is in charge.\n\nRefused (409) are a Capsule of which nothing was applied or that was destroyed, one with a Run under way (`run_conflict`), and one whose commit is neither stored nor to be had from its repository."
      )
    )
  )
  .add(
    HttpApiEndpoint.get("download", "/api/v1/capsules/:capsuleId/exports/:exportLink", {
      params: { capsuleId: Schema.String, exportLink: Schema.String },
      success: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array({ contentType: "application/gzip" }))
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/capsules/:capsuleId/exports/:exportLink"),
        "Download an export",
        "A `.tar.gz`, streamed. Take the address from `link`; it survives a restart of the server. Every download is in the operation history before its first byte. 404 for a link that is not of this session and Capsule, 409 `failed_precondition` after ten minutes, when the link was used or when the state has moved, 409 `run_conflict` while a Run is under way: export again."
      )
    )
  ) {}
