import type { ReactNode } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Button } from "./Button.tsx"
import { type Decision, useWithdrawal } from "./Decision.ts"
import { Dialog } from "./Dialog.tsx"
import { FaultNotice } from "./Feedback.tsx"

interface FormDialogProps {
  readonly title: string
  /** The fields. */
  readonly children: ReactNode
  /** A verb, for the label of the button. */
  readonly action: string
  /** True while the person still has to make a choice that a field's `required` attribute cannot enforce. */
  readonly incomplete?: boolean
  /** `danger` for irreversible actions. */
  readonly tone?: "primary" | "danger"
  readonly change: Decision
  readonly onSubmit: () => void
  readonly onClose: () => void
}

/**
 * Asks for the input that a change needs, and shows any refusal in the dialog. The dialog opens when the component is
 * mounted.
 */
export const FormDialog = ({
  title,
  children,
  action,
  incomplete = false,
  tone = "primary",
  change,
  onSubmit,
  onClose
}: FormDialogProps) => {
  const terms = useWords(vocabulary)
  useWithdrawal(change)
  return (
    <Dialog title={title} onClose={onClose}>
      <form
        className="form"
        onSubmit={(event) => {
          event.preventDefault()
          if (!incomplete && !change.isPending) onSubmit()
        }}
      >
        {children}
        {change.error === null ? null : <FaultNotice error={change.error} />}
        <div className="form-actions">
          <Button tone={tone} type="submit" busy={change.isPending} disabled={incomplete}>
            {action}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </form>
    </Dialog>
  )
}
