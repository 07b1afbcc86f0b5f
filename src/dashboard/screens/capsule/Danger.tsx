import "../../app/Kit.ts"
import { isEnded } from "../../../../schema/records/CapsuleLifecycle.ts"
import { Ended } from "./Ended.tsx"
import { Export } from "./Export.tsx"
import { ImportConfirmation, isUnconfirmed } from "./ImportConfirmation.tsx"
import { Release } from "./Release.tsx"
import { SyncBoth } from "./SyncBoth.tsx"
import { useQueryClient } from "@tanstack/react-query"
import { useNavigate } from "@tanstack/react-router"
import { useState } from "react"
import { call } from "../../api/Call.ts"
import type { Body } from "../../api/Declarations.ts"
import { capsulesRemove, capsulesUpdate } from "../../api/Endpoints.ts"
import { capsuleQuery } from "../../api/Queries.ts"
import type { Capsule } from "../../api/Types.ts"
import { useMay, useWorkspace } from "../../app/Workspace.ts"
import { DriftCheckField } from "../../forms/DriftCheckField.tsx"
import { Button } from "../../ui/Button.tsx"
import { ConfirmDialog } from "../../ui/ConfirmDialog.tsx"
import { FaultNotice, Notice } from "../../ui/Feedback.tsx"
import { CheckField, TextField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { capsuleWords } from "./Words.ts"
import { useDecision } from "../../ui/Decision.ts"

const useChange = (capsule: Capsule) => {
  const terms = useWords(vocabulary)
  const queryClient = useQueryClient()
  return useDecision({
    send: (signal, body: Body<typeof capsulesUpdate>) =>
      call(capsulesUpdate, { signal, params: { capsuleId: capsule.id }, body }),
    onSuccess: () => toast(terms.saved),
    onSettled: () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  })
}

interface SettingProps {
  readonly capsule: Capsule
  /** True for admins. Members can only read the settings. */
  readonly editable: boolean
}

const Rename = ({ capsule, editable }: SettingProps) => {
  const words = useWords(capsuleWords)
  const terms = useWords(vocabulary)
  const change = useChange(capsule)
  const [name, setName] = useState(capsule.name)
  return (
    <Panel title={words.renameTitle}>
      <form
        className="form form-inline"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate({ name: name.trim() })
        }}
      >
        <TextField
          label={words.name}
          required
          maxLength={80}
          disabled={!editable}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {editable ? (
          <Button type="submit" busy={change.isPending} disabled={name.trim() === capsule.name || name.trim() === ""}>
            {terms.save}
          </Button>
        ) : null}
      </form>
      {change.error === null ? null : <FaultNotice error={change.error} />}
    </Panel>
  )
}

const AutoUpdate = ({ capsule, editable }: SettingProps) => {
  const words = useWords(capsuleWords)
  const change = useChange(capsule)
  const { enabled, apply } = capsule.autoUpdate
  return (
    <Panel title={words.autoTitle}>
      <div className="form">
        <CheckField
          label={words.autoEnable}
          checked={enabled}
          disabled={!editable}
          busy={change.isPending}
          onChange={(event) =>
            change.mutate({ autoUpdate: { enabled: event.target.checked, apply: event.target.checked && apply } })
          }
        />
        <CheckField
          label={words.autoApply}
          helper={words.autoApplyHelp}
          checked={apply}
          disabled={!editable || !enabled}
          busy={change.isPending}
          onChange={(event) => change.mutate({ autoUpdate: { enabled, apply: event.target.checked } })}
        />
        <CheckField
          label={words.pathFilter}
          helper={words.pathFilterHelp}
          checked={capsule.pathFilter}
          disabled={!editable}
          busy={change.isPending}
          onChange={(event) => change.mutate({ pathFilter: event.target.checked })}
        />
      </div>
      <SyncBoth capsule={capsule} />
      {change.error === null ? null : <FaultNotice error={change.error} />}
    </Panel>
  )
}

const DriftChecks = ({ capsule, editable }: SettingProps) => {
  const words = useWords(capsuleWords)
  const change = useChange(capsule)
  return (
    <Panel title={words.drift}>
      <DriftCheckField
        mayInherit
        choice={capsule.driftChecks}
        disabled={!editable}
        busy={change.isPending}
        onChoose={(driftChecks) => change.mutate({ driftChecks })}
      />
      {change.error === null ? null : <FaultNotice error={change.error} />}
    </Panel>
  )
}

const Destroy = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const workspace = useWorkspace()
  const navigate = useNavigate()
  const queryClient = useQueryClient()
  const [open, setOpen] = useState(false)
  const never = capsule.currentStateVersionId === undefined && capsule.status === "pending"
  const destroy = useDecision({
    send: (signal) => call(capsulesRemove, { signal, params: { capsuleId: capsule.id } }),
    onSuccess: (answer) => {
      const run = "run" in answer ? answer.run : undefined
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      void queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
      setOpen(false)
      void (run === undefined
        ? navigate({
            to: "/w/$workspace/capsules",
            params: { workspace: workspace.handle },
            search: { q: undefined, status: undefined, drift: undefined }
          })
        : navigate({ to: "/w/$workspace/runs/$runId", params: { workspace: workspace.handle, runId: run.id } }))
    }
  })
  return (
    <Panel title={words.destroyTitle} tone="danger">
      <p>{never ? words.destroyNever : words.destroyText}</p>
      <Button tone="danger" icon="trash" onClick={() => setOpen(true)}>
        {never ? words.removeNow : words.destroy}
      </Button>
      {open ? (
        <ConfirmDialog
          title={never ? words.confirmRemoveTitle(capsule.name) : words.confirmTitle(capsule.name)}
          action={never ? words.removeNow : words.destroy}
          change={destroy}
          onConfirm={() => destroy.mutate()}
          onClose={() => setOpen(false)}
        >
          {never ? words.destroyNever : words.destroyText}
        </ConfirmDialog>
      ) : null}
    </Panel>
  )
}

export const Danger = ({ capsule }: { readonly capsule: Capsule }) => {
  const words = useWords(capsuleWords)
  const terms = useWords(vocabulary)
  const may = useMay()
  const change = useChange(capsule)
  if (isEnded(capsule.status)) {
    return (
      <div className="stack">
        <Ended capsule={capsule} />
        {capsule.status === "released" ? <Export capsule={capsule} /> : null}
      </div>
    )
  }
  const settings = (editable: boolean) => (
    <>
      <Rename capsule={capsule} editable={editable} />
      <AutoUpdate capsule={capsule} editable={editable} />
      <DriftChecks capsule={capsule} editable={editable} />
    </>
  )
  if (!may("admin")) {
    return (
      <div className="stack">
        <Notice tone="info">{terms.needsAdmin}</Notice>
        {settings(false)}
      </div>
    )
  }
  return (
    <div className="stack">
      {settings(true)}
      <Panel title={words.disableTitle} tone="danger">
        <p>{words.disableText}</p>
        <ImportConfirmation capsule={capsule} />
        {change.error === null ? null : <FaultNotice error={change.error} />}
        {isUnconfirmed(capsule) ? null : (
          <Button
            busy={change.isPending}
            onClick={() => change.mutate({ status: capsule.status === "disabled" ? "active" : "disabled" })}
          >
            {capsule.status === "disabled" ? words.enable : words.disable}
          </Button>
        )}
      </Panel>
      <Export capsule={capsule} />
      <Release capsule={capsule} />
      <Destroy capsule={capsule} />
    </div>
  )
}
