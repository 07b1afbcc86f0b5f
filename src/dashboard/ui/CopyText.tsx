import { useEffect, useState } from "react"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Icon } from "./Icon.tsx"

interface CopyTextProps {
  readonly text: string
  /** What is shown, when shorter than what is copied. */
  readonly shown?: string
}

/** A machine's word (commit, id, digest) that one press copies. */
export const CopyText = ({ text, shown = text }: CopyTextProps) => {
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
      aria-label={`${words.copy}: ${shown}`}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}
    >
      <code>{shown}</code>
      <Icon name={copied ? "check" : "copy"} />
      <span className="visually-hidden" aria-live="polite">
        {copied ? words.copied : ""}
      </span>
    </button>
  )
}
