import type { ReactNode } from "react"
import { Button } from "./Button.tsx"
import { CopyText } from "./CopyText.tsx"
import { Dialog } from "./Dialog.tsx"

/** A secret that is shown only once. */
export const SecretOnce = ({
  children,
  done,
  onClose,
  onDone = onClose,
  secret,
  text,
  title
}: {
  readonly title: string
  readonly text: string
  readonly secret: string
  readonly done: string
  /** Other representations of the secret. */
  readonly children?: ReactNode
  readonly onClose: () => void
  /** Called instead of `onClose` when the person confirms that they have saved the secret. */
  readonly onDone?: () => void
}) => (
  <Dialog title={title} onClose={onClose}>
    <div className="form">
      <p>{text}</p>
      <div className="secret-once">
        <CopyText text={secret} />
      </div>
      {children}
      <div className="form-actions">
        <Button tone="primary" onClick={onDone}>
          {done}
        </Button>
      </div>
    </div>
  </Dialog>
)
