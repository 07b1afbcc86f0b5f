import { useState } from "react"
import { call } from "../../api/Call.ts"
import { exportsCreate } from "../../api/Endpoints.ts"
import type { Answer } from "../../api/Declarations.ts"
import type { Capsule } from "../../api/Types.ts"
import { useOffers } from "../../app/Families.ts"
import { useMay } from "../../app/Workspace.ts"
import { Button } from "../../ui/Button.tsx"
import { Dialog } from "../../ui/Dialog.tsx"
import { Notice } from "../../ui/Feedback.tsx"
import { FormDialog } from "../../ui/FormDialog.tsx"
import { Icon } from "../../ui/Icon.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { Time } from "../../ui/Time.tsx"
import { useTypedName } from "../../ui/TypedName.tsx"
import { vocabulary } from "../../words/Vocabulary.ts"
import { useWords } from "../../words/Words.ts"
import { exportWords } from "./ExportWords.ts"
import { useDecision } from "../../ui/Decision.ts"

type Granted = Answer<typeof exportsCreate>["export"]

interface Shown {
  readonly capsule: Capsule
  readonly onClose: () => void
}

const Ready = ({ capsule, granted, onClose }: Shown & { readonly granted: Granted }) => {
  const text = useWords(exportWords)
  const terms = useWords(vocabulary)
  const { expiresAt, fileName, inputsToSupply, link } = granted
  return (
    <Dialog title={text.readyTitle(capsule.name)} onClose={onClose}>
      <p>
        {text.until} <Time at={expiresAt} />
      </p>
      {inputsToSupply.length === 0 ? null : (
        <>
          <p>{text.supply}</p>
          <ul>
            {inputsToSupply.map((name) => (
              <li key={name}>
                <code>{name}</code>
              </li>
            ))}
          </ul>
        </>
      )}
      {capsule.status === "released" ? null : <p>{text.release}</p>}
      <div className="form-actions">
        <a className="button button-primary" href={link} download={fileName}>
          <Icon name="download" />
          {text.download}
        </a>
        <Button onClick={onClose}>{terms.close}</Button>
      </div>
    </Dialog>
  )
}

const ExportDialog = ({ capsule, onClose }: Shown) => {
  const text = useWords(exportWords)
  const name = useTypedName(capsule.name)
  const granting = useDecision({
    send: (signal) =>
      call(exportsCreate, { signal, params: { capsuleId: capsule.id }, body: { confirm: capsule.name } })
  })
  if (granting.data !== undefined) return <Ready capsule={capsule} granted={granting.data.export} onClose={onClose} />
  return (
    <FormDialog
      title={text.dialogTitle(capsule.name)}
      action={text.export}
      incomplete={!name.isTyped}
      change={granting}
      onSubmit={() => granting.mutate()}
      onClose={onClose}
    >
      <Notice tone="warn">{text.secrets}</Notice>
      <p>{text.recorded}</p>
      {name.field}
    </FormDialog>
  )
}

/** Exports a Capsule's contents for use with the tool, without svc. */
export const Export = ({ capsule }: { readonly capsule: Capsule }) => {
  const text = useWords(exportWords)
  const may = useMay()
  const isOffered = useOffers("exports")
  const [open, setOpen] = useState(false)
  if (!isOffered) return null
  const never = capsule.adoptedSourceRevision === undefined || capsule.currentStateVersionId === undefined
  return (
    <Panel title={text.title}>
      <p>{never ? text.never : text.about}</p>
      {never ? null : may("owner") ? (
        <Button icon="download" onClick={() => setOpen(true)}>
          {text.export}
        </Button>
      ) : (
        <p className="muted">{text.ownerOnly}</p>
      )}
      {open ? <ExportDialog capsule={capsule} onClose={() => setOpen(false)} /> : null}
    </Panel>
  )
}
