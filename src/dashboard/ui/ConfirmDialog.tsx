import type { ReactNode } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Button } from "./Button.tsx"
import { type Decision, useWithdrawal } from "./Decision.ts"
import { Dialog } from "./Dialog.tsx"
import { FaultNotice } from "./Feedback.tsx"

interface ConfirmDialogProps {
  readonly title: string
  /** Describes the effect of confirming. */
  readonly children: ReactNode
  /** The consequences, if they do not fit into a sentence. */
  readonly details?: ReactNode
  /** A verb, for the label of the button. */
  readonly action: string
  readonly change: Decision
  readonly onConfirm: () => void
  readonly onClose: () => void
}

/** Asks for confirmation of an irreversible action, and shows a refusal in the dialog. The dialog opens when it is mounted. */
export const ConfirmDialog = ({ title, children, details, action, change, onConfirm, onClose }: ConfirmDialogProps) => {
  const terms = useWords(vocabulary)
  useWithdrawal(change)
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="form">
        <p>{children}</p>
        {details}
        {change.error === null ? null : <FaultNotice error={change.error} />}
        <div className="form-actions">
          <Button tone="danger" busy={change.isPending} onClick={onConfirm}>
            {action}
          </Button>
          <Button onClick={onClose}>{terms.cancel}</Button>
        </div>
      </div>
    </Dialog>
  )
}
