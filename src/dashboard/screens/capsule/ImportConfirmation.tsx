import { useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { backupImportsConfirm } from "../../api/Endpoints.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Time } from "../../ui/Time.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { importConfirmationWords } from "./ImportConfirmationWords.ts"
import { useDecision } from "../../ui/Decision.ts"

/** Returns true if the Capsule was imported and nobody has confirmed it yet. */
export const isUnconfirmed = (capsule: Capsule): boolean =>
  capsule.status === "disabled" && capsule.import !== undefined && capsule.import.confirmedAt === undefined

const ConfirmDialog = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const text = useWords(importConfirmationWords)
  const queryClient = useQueryClient()
  const name = useTypedName(capsule.name, text.stated)
  const confirming = useDecision({
    send: (signal) =>
      call(backupImportsConfirm, { signal, params: { capsuleId: capsule.id }, body: { confirm: capsule.name } }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(text.done)
      onClose()
    }
  })
  return (
    <FormDialog
      title={text.dialogTitle(capsule.name)}
      action={text.confirm}
      incomplete={!name.isTyped}
      change={confirming}
      onSubmit={() => confirming.mutate()}
      onClose={onClose}
    >
      <p>{text.effect}</p>
      {name.field}
    </FormDialog>
  )
}

/** Explains why an imported Capsule is disabled, and how to enable it. */
export const ImportConfirmation = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(importConfirmationWords)
  const may = useMay()
  const [open, setOpen] = useState(false)
  if (!isUnconfirmed(capsule) || capsule.import === undefined) return null
  const { from } = capsule.import
  return (
    <Notice tone="warn" title={text.title}>
      <p>{text.text(from.name)}</p>
      <p>
        {text.asOf} <Time at={from.stateCreatedAt} />
      </p>
      {may("owner") ? (
        <Button small onClick={() => setOpen(true)}>
          {text.confirm}
        </Button>
      ) : (
        <p>{text.ownerOnly}</p>
      )}
      {open ? <ConfirmDialog capsule={capsule} onClose={() => setOpen(false)} /> : null}
    </Notice>
  )
}
