import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema } from "effect/http-api"
import { Capsule } from "../records/Capsule.ts"
import { CapsuleId } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { mostBackupBytes } from "../records/StateUploadLimits.ts"
import { created, described, describedRun, repeatable } from "./Endpoint.ts"
import { idempotencyHeaders } from "./Paging.ts"
import { RawBody } from "./RawBody.ts"
import { accessOf } from "./Roles.ts"
import { stateUploadAnswer } from "./StateUploadsApi.ts"

export const ImportConfirmation = Schema.Struct({ confirm: Schema.String.check(Schema.isMaxLength(200)) }).annotate({
  identifier: "ImportConfirmation"
})
export type ImportConfirmation = typeof ImportConfirmation.Type

export const importConfirmed = Schema.Struct({ capsule: Capsule, run: Run })

/** Moves a Capsule here from another installation, by a backup of it. */
export class ImportsApi extends HttpApiGroup.make("imports")
  .add(
    HttpApiEndpoint.post("create", "/api/v1/workspaces/:workspaceId/backup-imports", {
      params: { workspaceId: Schema.String },
      query: { capsuleId: Schema.optionalKey(CapsuleId) },
      headers: idempotencyHeaders,
      payload: Schema.Uint8Array.pipe(HttpApiSchema.asUint8Array()),
      success: repeatable(stateUploadAnswer)
    })
      .annotate(RawBody, { maxBytes: mostBackupBytes })
      .annotateMerge(
        described(
          accessOf("POST /api/v1/workspaces/:workspaceId/backup-imports"),
          "Upload a backup of another installation",
          "Needs `Idempotency-Key`. The body is the file that `GET /api/v1/backups/{backupId}/archive` of the other installation answered, with `Content-Type: application/octet-stream` and at most 64 MiB; a larger one is answered 413 before it is read. Of a backup of a whole Workspace `capsuleId` says which Capsule of it is meant.\n\nThe other installation's master key has to be among the keys of this server, where it opens and seals nothing anew; without it the answer is 409 `backup_key_missing`, with the ids of the keys. What is no such file, was changed, or was written by a newer release is 400 `backup_unreadable`. The state is sealed at once with this installation's key, under a serial higher than the archived one, and goes on as an upload like any other (`POST state-uploads`): the same checks and codes, one hour, one install, named in `adopt` of an install plan. `importedFrom` says where it comes from. No inputs and no credentials travel: the install chooses them anew.\n\nThe Capsule of such an install is `disabled`, with `import` on its record and without a plan, until an owner confirms that the original no longer manages it (`POST capsules/{capsuleId}/import-confirmation`)."
        )
      )
  )
  .add(
    HttpApiEndpoint.post("confirm", "/api/v1/capsules/:capsuleId/import-confirmation", {
      params: { capsuleId: Schema.String },
      payload: ImportConfirmation,
      success: importConfirmed.pipe(created)
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/capsules/:capsuleId/import-confirmation"),
        "Confirm that the original no longer manages an imported Capsule",
        "`confirm` is the name of the Capsule, typed by an owner: from then on this installation manages its infrastructure, and nobody else does. The Capsule becomes `pending`, and 201 has its first plan, which waits for approval like any; nothing is applied before. Refused (409) for a Capsule that was not imported or is confirmed already. Only this enables an imported Capsule: `PATCH {status: active}` is refused until then. Release the original there, or remove its state, before you confirm: this installation cannot lock it."
      )
    )
  ) {}
