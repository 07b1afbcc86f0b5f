import type { BackupsApi } from "../../../schema/api/BackupsApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"

export const backupsProse: GroupProse<typeof BackupsApi> = {
  about: "Backups and restoring from them.",
  routes: {
    archive: route(
      "Download a backup, sealed",
      "The archive as it is stored, with the wrapped data keys that it needs and the ids of the master keys that open those: nothing of it can be read without them, and no master key is part of it. The download is in the operation history before the first byte."
    ),
    restorePlan: queuedRun(
      "Review the restore of a Capsule from a backup",
      "201 with a Run of type `restore`, which changes nothing and waits for approval. Its `restore` says what would change: the differences of the configuration by name, the pointers that move, and where the present and the restored state stand; no values. For a backup of the whole Workspace `capsuleId` is required. Refused (409) while another Run may change the Capsule.\n\nApproved like a plan, and carried out by `POST /api/v1/runs/{runId}/apply`: a second Run of type `restore` makes a new StateVersion with the state of the backup, the next generation and epoch and a serial higher than any before. Plans that are not applied become `superseded`, the Capsule is `stale` with `runtimeSafety` `unknown`, and auto-update is held until a person resumes it. No infrastructure changes: plan next, and review what that plan finds."
    )
  }
}
