import { type ReactNode, useState } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Button } from "./Button.tsx"
import { Dialog } from "./Dialog.tsx"
import { FaultNotice } from "./Feedback.tsx"
import { TextField } from "./Field.tsx"

interface TypedConfirmDialogProps {
  readonly title: string
  /** What confirming does, and what has to be chosen for it. */
  readonly children: ReactNode
  /** The name that has to be typed. */
  readonly name: string
  /** The label of the field for it. */
  readonly label: string
  /** The label of the button, a verb. */
  readonly action: string
  readonly tone?: "primary" | "danger"
  readonly change: { readonly error: unknown; readonly isPending: boolean }
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for a name before something that there is no way back from, and shows why it was refused. Mount it to open it. */
export const TypedConfirmDialog = ({
  title,
  children,
  name,
  label,
  action,
  tone = "danger",
  change,
  onConfirm,
  onClose
}: TypedConfirmDialogProps) => {
  const terms = useWords(vocabulary)
  const [typed, setTyped] = useState("")
  const confirmed = typed.trim() === name
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (confirmed && !change.isPending) onConfirm()
        }}
      >
        {children}
        <TextField
          label={label}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
        />
        {change.error === null ? null : <FaultNotice error={change.error} />}
        <div className="form-actions">
          <Button tone={tone} type="submit" disabled={!confirmed} busy={change.isPending}>
            {action}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
