import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { backupsArchive, backupsRestorePlan } from "../../api/Endpoints.ts"
import { capsulesQuery } from "../../api/Queries.ts"
import type { Backup } from "../../api/Types.ts"
import { useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice } from "../../ui/Feedback.tsx"
import { SelectField } from "../../ui/Field.tsx"
import { exactTime } from "../../words/Format.ts"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useLanguage, useWords } from "../../words/Words.ts"
import { backupWords } from "./BackupWords.ts"
import { useDecision } from "../../ui/Decision.ts"

const saveFile = (content: unknown, name: string): void => {
  const url = URL.createObjectURL(new Blob([JSON.stringify(content)], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

/** Asks which Capsule to restore if the backup contains several, and links to the Run in which the restore is reviewed. */
const RestoreDialog = ({ backup, onClose }: { readonly backup: Backup; readonly onClose: () => void }) => {
  const words = useWords(backupWords)
  const terms = useWords(vocabulary)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [key] = useState(newIdempotencyKey)
  const capsules = (useQuery(capsulesQuery(workspace.id)).data ?? []).filter(({ status }) => isInService(status))
  const [chosen, setChosen] = useState("")
  const capsuleId = backup.capsuleId ?? (chosen === "" ? capsules[0]?.id : chosen)
  const restore = useDecision({
    send: (signal) =>
      call(backupsRestorePlan, {
        signal,
        params: { backupId: backup.id },
        body: capsuleId === undefined ? {} : { capsuleId },
        idempotencyKey: key
      }),
    onSuccess: ({ run }) => {
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      onClose()
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
  return (
    <Dialog title={words.restoreTitle} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (capsuleId !== undefined && !restore.isPending) restore.mutate()
        }}
      >
        <p>{words.restoreText}</p>
        {backup.capsuleId === undefined ? (
          <SelectField
            label={words.capsule}
            value={capsuleId ?? ""}
            onChange={(event) => setChosen(event.target.value)}
          >
            {capsules.map(({ environment, id, name }) => (
              <option key={id} value={id}>
                {name} · {environment}
              </option>
            ))}
          </SelectField>
        ) : null}
        {restore.error === null ? null : <FaultNotice error={restore.error} />}
        <div className="form-actions">
          <Button tone="primary" type="submit" disabled={capsuleId === undefined} busy={restore.isPending}>
            {words.review}
          </Button>
          <Button tone="quiet" onClick={onClose}>
            {terms.cancel}
          </Button>
        </div>
      </form>
    </Dialog>
  )
}

/** An owner's actions on a backup. */
export const BackupActions = ({ backup, name }: { readonly backup: Backup; readonly name: string }) => {
  const of = `${name} · ${exactTime(useLanguage(), backup.createdAt)}`
  const words = useWords(backupWords)
  const [restoring, setRestoring] = useState(false)
  const download = useDecision({
    send: (signal) => call(backupsArchive, { signal, params: { backupId: backup.id } }),
    onSuccess: (archive) => saveFile(archive, `${backup.id}.svc-backup.json`)
  })
  return (
    <>
      {download.error === null ? null : <FaultNotice error={download.error} />}
      <Button small of={of} icon="download" busy={download.isPending} onClick={() => download.mutate()}>
        {words.download}
      </Button>
      <Button small of={of} onClick={() => setRestoring(true)}>
        {words.restore}
      </Button>
      {restoring ? <RestoreDialog backup={backup} onClose={() => setRestoring(false)} /> : null}
    </>
  )
}
