import { useMutation, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { importsConfirm } from "../../api/Endpoints.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Time } from "../../ui/Time.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { importWords } from "./ImportWords.ts"

const ConfirmDialog = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const text = useWords(importWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const name = useTypedName(capsule.name)
  const confirming = useMutation({
    mutationFn: () => call(importsConfirm, { params: { capsuleId: capsule.id }, body: { confirm: capsule.name } }),
    onSuccess: async ({ run }) => {
      await queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      onClose()
      void navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } })
    }
  })
  return (
    <FormDialog
      title={text.dialogTitle(capsule.name)}
      action={text.confirm}
      tone="danger"
      incomplete={!name.isTyped}
      change={confirming}
      onSubmit={() => confirming.mutate()}
      onClose={onClose}
    >
      <p>{text.dialogText}</p>
      {name.field}
    </FormDialog>
  )
}

/** For a Capsule of another installation whose original may still manage the same infrastructure. */
export const Imported = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(importWords)
  const may = useMay()
  const [confirming, setConfirming] = useState(false)
  if (capsule.import === undefined || capsule.import.confirmedAt !== undefined || capsule.status !== "disabled")
    return null
  const { backupAt, name } = capsule.import.from
  return (
    <Notice tone="warn" title={text.title}>
      <p>{text.text(name)}</p>
      <p className="muted">
        {text.from} <Time at={backupAt} />
      </p>
      {may("owner") ? (
        <div className="form-actions">
          <Button onClick={() => setConfirming(true)}>{text.confirm}</Button>
        </div>
      ) : (
        <p>{text.ownerOnly}</p>
      )}
      {confirming ? <ConfirmDialog capsule={capsule} onClose={() => setConfirming(false)} /> : null}
    </Notice>
  )
}
