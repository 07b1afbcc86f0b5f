import { useEffect, useState } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Icon } from "./Icon.tsx"

interface CopyTextProps {
  readonly text: string
  /** The visible text, if it is shorter than the copied text. */
  readonly shown?: string
  /** The name of the text, for the accessible name. */
  readonly of?: string | undefined
}

/** A machine-readable text (a commit, id or digest) that a click copies. */
export const CopyText = ({ text, shown = text, of }: CopyTextProps) => {
  const words = useWords(vocabulary)
  const [copied, setCopied] = useState(false)
  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 1500)
    return () => clearTimeout(timer)
  }, [copied])
  return (
    <button
      type="button"
      className="copy-text"
      title={text}
      // If the visible text is "Copy", only the copied text distinguishes this button from others.
      aria-label={`${words.copy}: ${shown === words.copy ? (of ?? text) : of === undefined ? shown : `${of} ${shown}`}`}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      {shown === words.copy ? <span>{shown}</span> : <code>{shown}</code>}
      <Icon name={copied ? "check" : "copy"} />
      <span className="visually-hidden" aria-live="polite">
        {copied ? words.copied : ""}
      </span>
    </button>
  )
}
