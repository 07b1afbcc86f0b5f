import { useQuery, useQueryClient } from "@tanstack/react-query"
import { useState } from "react"
import { isInService } from "../../../../schema/records/CapsuleLifecycle.ts"
import { call } from "../../api/Call.ts"
import { newIdempotencyKey } from "../../api/Client.ts"
import { capsulesReAdopt } from "../../api/Endpoints.ts"
import { capsuleQuery, installConfigQuery } from "../../api/Queries.ts"
import type { Capsule, InstallConfig } from "../../api/Types.ts"
import { useMay } from "../../app/Workspace.ts"
import { answersOf, type Draft, fieldsOf } from "../../forms/FormModel.ts"
import { VariableForm } from "../../forms/VariableForm.tsx"
import { formWords } from "../../forms/Words.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { FaultNotice, Loadable, Notice } from "../../ui/Feedback.tsx"
import { AreaField, CheckField, SelectField } from "../../ui/Field.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { toast } from "../../ui/Toast.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { reviewedModel, snapshotChoices } from "./ReAdoption.ts"
import { reAdoptionWords } from "./ReAdoptionWords.ts"
import { useDecision } from "../../ui/Decision.ts"

interface FormProps {
  readonly capsule: Capsule
  readonly config: InstallConfig
  readonly onClose: () => void
}

const Form = ({ capsule, config, onClose }: FormProps) => {
  const text = useWords(reAdoptionWords)
  const terms = useWords(vocabulary)
  const { problems } = useWords(formWords)
  const queryClient = useQueryClient()
  const choices = snapshotChoices(capsule, config)
  const model = reviewedModel(config)
  const fields = fieldsOf(model)
  const [reason, setReason] = useState("")
  const [chosen, setChosen] = useState<string>()
  const [reviewing, setReviewing] = useState(false)
  const [draft, setDraft] = useState<Draft>({})
  const [tried, setTried] = useState(false)
  const [key] = useState(newIdempotencyKey)
  const snapshotId = chosen ?? choices[0]?.id
  const answers = reviewing ? answersOf(fields, draft) : undefined
  const refresh = () => queryClient.invalidateQueries({ queryKey: capsuleQuery(capsule.id).queryKey })
  const reAdopt = useDecision({
    send: (signal, sourceSnapshotId: string) =>
      call(capsulesReAdopt, {
        signal,
        params: { capsuleId: capsule.id },
        body: {
          baseInstallConfigId: config.id,
          sourceSnapshotId,
          reason: reason.trim(),
          ...(answers === undefined ? {} : { reviewedUserVariables: answers.values }),
          expected: { authorityGuard: capsule.installConfigReAdoption.authorityGuard }
        },
        idempotencyKey: key
      }),
    onSuccess: async () => {
      await refresh()
      void queryClient.invalidateQueries({ queryKey: ["workspace"] })
      toast(text.done)
      onClose()
    },
    // After a conflict, reads the guard again, so that the form can be sent after another review.
    onError: () => void refresh()
  })
  if (snapshotId === undefined) return <Notice tone="info">{text.noSnapshot}</Notice>
  const isComplete = reason.trim() !== "" && (answers === undefined || answers.problems.size === 0)
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        setTried(true)
        if (isComplete && !reAdopt.isPending) reAdopt.mutate(snapshotId)
      }}
    >
      <p>{text.about}</p>
      <p>{text.voids}</p>
      {capsule.status === "error" ? <p>{text.afterCheck}</p> : null}
      <AreaField
        label={text.reason}
        helper={text.reasonHelp}
        required
        rows={2}
        maxLength={1000}
        value={reason}
        error={tried && reason.trim() === "" ? problems.required : undefined}
        onChange={(event) => setReason(event.target.value)}
      />
      {choices.length < 2 ? null : (
        <SelectField label={text.snapshot} value={snapshotId} onChange={(event) => setChosen(event.target.value)}>
          {choices.map(({ id, of }) => (
            <option key={id} value={id}>
              {text.snapshots[of](id)}
            </option>
          ))}
        </SelectField>
      )}
      {fields.length === 0 ? (
        <p className="muted">{text.noInputs}</p>
      ) : (
        <CheckField
          label={text.review}
          helper={text.reviewHelp}
          checked={reviewing}
          onChange={(event) => setReviewing(event.target.checked)}
        />
      )}
      {reviewing ? (
        <VariableForm
          model={{ ...model, filled: [] }}
          draft={draft}
          problems={tried && answers !== undefined ? answers.problems : new Map()}
          onChange={(name, value) => setDraft({ ...draft, [name]: value })}
        />
      ) : null}
      {reAdopt.error === null ? null : <FaultNotice error={reAdopt.error} />}
      <div className="form-actions">
        <Button tone="primary" type="submit" busy={reAdopt.isPending}>
          {text.submit}
        </Button>
        <Button onClick={onClose}>{terms.cancel}</Button>
      </div>
    </form>
  )
}

/** Button that opens the re-adoption form; shown only to people who may send it. */
export const ReAdoptButton = ({ capsule, small = false }: { readonly capsule: Capsule; readonly small?: boolean }) => {
  const text = useWords(reAdoptionWords)
  const terms = useWords(vocabulary)
  const may = useMay()
  const config = useQuery(installConfigQuery(capsule.installConfigId))
  const [open, setOpen] = useState(false)
  if (!may("admin")) return <span className="muted">{terms.needsAdmin}</span>
  return (
    <>
      <Button small={small} onClick={() => setOpen(true)}>
        {text.start}
      </Button>
      {open ? (
        <Dialog title={text.dialogTitle(capsule.name)} onClose={() => setOpen(false)}>
          <Loadable query={config}>
            {(found) => <Form capsule={capsule} config={found} onClose={() => setOpen(false)} />}
          </Loadable>
        </Dialog>
      ) : null}
    </>
  )
}

/** Re-adopts the Capsule with the operator's current settings, without a plan. */
export const ReAdoptPanel = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(reAdoptionWords)
  if (!isInService(capsule.status)) {
    return capsule.status === "disabled" ? (
      <Panel title={text.title}>
        <p className="muted">{text.disabled}</p>
      </Panel>
    ) : null
  }
  return (
    <Panel title={text.title}>
      <p>{text.about}</p>
      <ReAdoptButton capsule={capsule} />
    </Panel>
  )
}
