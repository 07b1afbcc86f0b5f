import type { BackupsApi } from "../../../schema/api/BackupsApi.ts"
import { type GroupProse, queuedRun, route } from "./Prose.ts"
import type { BackupImportsApi } from "../../../schema/api/BackupImportsApi.ts"

export const backupImportsProse: GroupProse<typeof BackupImportsApi> = {
  about: "A Capsule from the backup of another installation.",
  routes: {
    upload: route(
      "Upload the backup of a Capsule of another installation",
      "Needs `Idempotency-Key`. The body is the file that `GET /api/v1/backups/{backupId}/archive` returned on the other installation, with `Content-Type: application/octet-stream` and at most 128 MiB. `capsuleId` selects a Capsule by its id in the backup if the backup contains several.\n\nThis installation opens the file with a master key of its own settings: add the other installation's key to them as a key for opening only. The state gets the next serial and is immediately sealed with this installation's key. The response is a state upload with `importedFrom`; send its `id` and `sha256` in `adopt` of an install plan. As with any state upload, one install can use the upload, and the server erases it after an hour.\n\nThe Capsule that the install creates is `disabled`, and no plan is made: see `POST /api/v1/capsules/{capsuleId}/import-confirmation`.\n\nThe server refuses a file that is damaged or not a sealed backup (400 `backup_unreadable`), a file of another format version (400 `backup_format_unknown`), a file whose master key is missing here (409 `backup_key_missing`, with the key's id), and every state that a state upload refuses."
    ),
    confirm: route(
      "Confirm that the original no longer manages an imported Capsule",
      "`confirm` is the Capsule's name. This installation cannot lock the other installation: while both manage the same infrastructure, each destroys the other's work. Release the Capsule there first.\n\nThe Capsule becomes `pending` with the next epoch, and can be planned. A plan must be reviewed and applied by a person before anything else: until then it has no drift check, destroy plan or restore. Refused (409) for a Capsule that was not imported or is already confirmed."
    )
  }
}

export const backupsProse: GroupProse<typeof BackupsApi> = {
  about: "Backups and restoring from them.",
  routes: {
    archive: route(
      "Download a backup, sealed",
      "The stored archive, with its wrapped data keys and the ids of the master keys that open them. The archive contains no master key, and nothing in it can be read without the master keys. The download is in the operation history before the first byte."
    ),
    restorePlan: queuedRun(
      "Review the restore of a Capsule from a backup",
      "201 with a Run of type `restore`, which changes nothing and waits for approval. Its `restore` lists the changes: the differences of the configuration by name, the references that change, and the positions of the current and the restored state; no values. For a backup of the whole Workspace `capsuleId` is required. Refused (409) while another Run may change the Capsule.\n\nIt is approved like a plan, and executed by `POST /api/v1/runs/{runId}/apply`: a second Run of type `restore` creates a StateVersion with the state of the backup, the next generation and epoch, and a serial higher than all earlier serials. Plans that are not applied become `superseded`, the Capsule is `stale` with `runtimeSafety` `unknown`, and auto-update is paused until a person resumes it. No infrastructure changes: plan next, and review that plan."
    )
  }
}
