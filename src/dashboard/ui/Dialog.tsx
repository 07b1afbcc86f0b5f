import { type ReactNode, useEffect, useId, useRef } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { IconButton } from "./Button.tsx"

interface DialogProps {
  readonly title: string
  readonly children: ReactNode
  readonly onClose: () => void
  readonly wide?: boolean
  /** With `side`, the dialog slides in from the left on a phone. The navigation uses this. */
  readonly kind?: "center" | "side"
}

/**
 * Returns the element that had the focus. For a menu entry, which no longer exists after the dialog closes, returns the
 * button of the menu.
 */
const openerOf = (focused: Element | null): Element | null => {
  const label = focused?.closest('[role="menu"]')?.getAttribute("aria-labelledby")
  return (typeof label === "string" ? document.getElementById(label) : null) ?? focused
}

/**
 * The browser's own modal dialog. It traps the focus, closes with Escape and restores the focus. The dialog opens when it is
 * mounted.
 */
export const Dialog = ({ title, children, onClose, wide = false, kind = "center" }: DialogProps) => {
  const words = useWords(vocabulary)
  const element = useRef<HTMLDialogElement>(null)
  const heading = useId()
  useEffect(() => {
    const opener = openerOf(document.activeElement)
    const dialog = element.current
    dialog?.showModal()
    return () => {
      dialog?.close()
      // Removing a modal dialog does not always restore the focus. A decision may have removed the button that opened the dialog.
      const place = opener?.isConnected === true ? opener : document.getElementById("content")
      if (place instanceof HTMLElement) place.focus({ preventScroll: place !== opener })
    }
  }, [])
  return (
    <dialog
      ref={element}
      className={`dialog dialog-${kind}${wide ? " dialog-wide" : ""}`}
      aria-labelledby={heading}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onPointerDown={(event) => {
        if (event.target === element.current) onClose()
      }}
    >
      <div className="dialog-body">
        <div className="dialog-head">
          <h2 id={heading}>{title}</h2>
          <IconButton icon="cross" label={words.close} onClick={onClose} />
        </div>
        {children}
      </div>
    </dialog>
  )
}
