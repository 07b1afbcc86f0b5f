import { Schema } from "effect"
import { HttpApiEndpoint } from "effect/http-api"
import { CapsuleId } from "../records/Ids.ts"
import { Run } from "../records/Run.ts"
import { described, describedGroup, describedRun, repeatable } from "./Endpoint.ts"
import { optionalIdempotencyHeaders } from "./IdempotencyHeaders.ts"
import { accessOf } from "./Roles.ts"
import { SealedBackup } from "./SealedBackup.ts"

const ofBackup = { backupId: Schema.String }

/** Of a backup of the whole Workspace, one Capsule at a time is restored. */
export class RestorePlanRequest extends Schema.Opaque<RestorePlanRequest>()(
  Schema.Struct({ capsuleId: Schema.optionalKey(CapsuleId) })
) {}

export class BackupsApi extends describedGroup("backups", "Backups and restoring from them.")
  .add(
    HttpApiEndpoint.get("archive", "/api/v1/backups/:backupId/archive", {
      params: ofBackup,
      success: SealedBackup
    }).annotateMerge(
      described(
        accessOf("GET /api/v1/backups/:backupId/archive"),
        "Download a backup, sealed",
        "The archive as it is stored, with the wrapped data keys that it needs and the ids of the master keys that open those: nothing of it can be read without them, and no master key is part of it. The download is in the operation history before the first byte."
      )
    )
  )
  .add(
    HttpApiEndpoint.post("restorePlan", "/api/v1/backups/:backupId/restore-plan", {
      params: ofBackup,
      headers: optionalIdempotencyHeaders,
      payload: RestorePlanRequest,
      success: repeatable(Schema.Struct({ run: Run }))
    }).annotateMerge(
      describedRun(
        accessOf("POST /api/v1/backups/:backupId/restore-plan"),
        "Review the restore of a Capsule from a backup",
        "201 with a Run of type `restore`, which changes nothing and waits for approval. Its `restore` says what would change: the differences of the configuration by name, the pointers that move, and where the present and the restored state stand; no values. For a backup of the whole Workspace `capsuleId` is required. Refused (409) while another Run may change the Capsule.\n\nApproved like a plan, and carried out by `POST /api/v1/runs/{runId}/apply`: a second Run of type `restore` makes a new StateVersion with the state of the backup, the next generation and epoch and a serial higher than any before. Plans that are not applied become `superseded`, the Capsule is `stale` with `runtimeSafety` `unknown`, and auto-update is held until a person resumes it. No infrastructure changes: plan next, and review what that plan finds."
      )
    )
  ) {}
