import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import { capsulesRelease } from "../../api/Endpoints.ts"
import { capsuleQuery, capsulesQuery, dependenciesQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { AreaField, SelectField } from "../../ui/Field.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { useWords } from "../../words/Words.ts"
import { releaseWords } from "./ReleaseWords.ts"
import { useDecision } from "../../ui/Decision.ts"

type Reason = NonNullable<Capsule["release"]>["reason"]

/** The names of the Capsules that consume the Capsule's Outputs. */
const useConsumers = (capsule: Capsule): ReadonlyArray<string> => {
  const workspace = useWorkspace()
  const capsules = useQuery(capsulesQuery(workspace.id)).data ?? []
  const dependencies = useQuery(dependenciesQuery(capsule.id)).data ?? []
  const ids = new Set(
    dependencies.flatMap((each) => (each.producerCapsuleId === capsule.id ? [each.consumerCapsuleId] : []))
  )
  return [...ids].map((id) => capsules.find((each) => each.id === id)?.name ?? id)
}

const ReleaseDialog = ({ capsule, onClose }: { readonly capsule: Capsule; readonly onClose: () => void }) => {
  const text = useWords(releaseWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const consumers = useConsumers(capsule)
  const [reason, setReason] = useState<Reason>("infrastructure_gone")
  const [comment, setComment] = useState("")
  const name = useTypedName(capsule.name)
  const release = useDecision({
    send: (signal) =>
      call(capsulesRelease, {
        signal,
        params: { capsuleId: capsule.id },
        body: { confirm: capsule.name, reason, ...(comment.trim() === "" ? {} : { comment: comment.trim() }) }
      }),
    onSuccess: async () => {
      await queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(text.done)
      onClose()
      void navigate({
        to: "/w/$workspace/capsules/$capsuleId",
        params: { workspace: workspace.handle, capsuleId: capsule.id }
      })
    }
  })
  return (
    <FormDialog
      title={text.dialogTitle(capsule.name)}
      action={text.release}
      tone="danger"
      incomplete={!name.isTyped}
      change={release}
      onSubmit={() => release.mutate()}
      onClose={onClose}
    >
      <p>{text.ends}</p>
      <p>{text.keeps}</p>
      {consumers.length === 0 ? null : <Notice tone="warn">{text.consumers(consumers.join(", "))}</Notice>}
      <SelectField
        label={text.why}
        value={reason}
        onChange={(event) =>
          setReason(event.target.value === "moved_elsewhere" ? "moved_elsewhere" : "infrastructure_gone")
        }
      >
        <option value="infrastructure_gone">{text.reasons.infrastructure_gone}</option>
        <option value="moved_elsewhere">{text.reasons.moved_elsewhere}</option>
      </SelectField>
      <AreaField
        label={text.comment}
        helper={text.commentHelp}
        optional
        rows={2}
        maxLength={1000}
        value={comment}
        onChange={(event) => setComment(event.target.value)}
      />
      {name.field}
    </FormDialog>
  )
}

/** Releases a Capsule whose infrastructure svc must no longer change. */
export const Release = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(releaseWords)
  const may = useMay()
  const [open, setOpen] = useState(false)
  const never = capsule.currentStateVersionId === undefined && capsule.runtimeSafety === "safe"
  return (
    <Panel title={text.title} tone="danger">
      <p>{never ? text.never : text.about}</p>
      {never ? null : may("owner") ? (
        <Button tone="danger" onClick={() => setOpen(true)}>
          {text.release}
        </Button>
      ) : (
        <p className="muted">{text.ownerOnly}</p>
      )}
      {open ? <ReleaseDialog capsule={capsule} onClose={() => setOpen(false)} /> : null}
    </Panel>
  )
}
