import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup } from "effect/http-api"
import { CapsuleId } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { repeatable } from "./AnswerStatus.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { SealedBackup } from "./SealedBackup.ts"
import { ExtensionFamily } from "./ExtensionFamily.ts"

const ofBackup = { backupId: Schema.String }

/** `capsuleId` selects a Capsule in a Workspace backup. A Workspace backup is restored one Capsule at a time. */
export class RestorePlanRequest extends Schema.Opaque<RestorePlanRequest>()(
  Schema.Struct({ capsuleId: Schema.optionalKey(CapsuleId) })
) {}

export class BackupsApi extends HttpApiGroup.make("backups")
  .add(
    HttpApiEndpoint.get("archive", "/api/v1/backups/:backupId/archive", {
      params: ofBackup,
      success: SealedBackup
    })
  )
  .add(
    HttpApiEndpoint.post("restorePlan", "/api/v1/backups/:backupId/restore-plan", {
      params: ofBackup,
      headers: optionalIdempotencyHeaders,
      payload: RestorePlanRequest,
      success: repeatable(Schema.Struct({ run: Run }))
    })
  )
  .annotateEndpoints(ExtensionFamily, "restores") {}
